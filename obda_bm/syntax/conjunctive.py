"""SPARQL or datalog-like text -> UnionOfCQs, whichever it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from obda_bm.diagnostics import SourceText
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.syntax.datalog import parse_datalog
from obda_bm.syntax.sparql import parse_sparql

_RULE = re.compile(r"(?:\s|#[^\n]*(?:\n|\Z))*+[^\W\d]\w*\s*\([^{}]*(?::-|<-)")


def parse_conjunctive(source: SourceText, iris: Iterable[str] = ()) -> UnionOfCQs:
    """The query in `source`; `iris` are what the local names of datalog may stand for.

    Raises:
        SparqlError: if it is neither, or not of the supported kind.
    """
    is_rule = not source.name.endswith(".rq") and _RULE.match(source.text)
    return parse_datalog(source, iris) if is_rule else parse_sparql(source)
