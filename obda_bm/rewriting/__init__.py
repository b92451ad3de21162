"""Rewrite unions of conjunctive queries with the axioms of an OWL 2 QL ontology."""

from obda_bm.rewriting.limits import Limits
from obda_bm.rewriting.rewrite import Form, Rewriting, rewrite_ucq
from obda_bm.rewriting.violations import Violation, violations

__all__ = ["Form", "Limits", "Rewriting", "Violation", "rewrite_ucq", "violations"]
