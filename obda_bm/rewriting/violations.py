"""Queries whose answers show that a database contradicts the ontology.

Disjointness never adds answers; it says which data cannot be. Each negative axiom is the boolean
query for its violation, and rewriting that query makes it find violations that positive axioms
bring about, also those among invented individuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.tbox import (
    Axiom,
    Concept,
    DisjointConcepts,
    DisjointRoles,
    Exists,
    Irreflexive,
    Named,
    Role,
    TBox,
)
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom, UnionOfCQs
from obda_bm.rewriting.limits import Limits
from obda_bm.rewriting.rewrite import DEFAULT_LIMITS, Form, Rewriting, rewrite_ucq

_X, _Y = Variable("x"), Variable("y")


@dataclass(frozen=True)
class Violation:
    """The data contradict `axiom` iff `rewriting` holds in them."""

    axiom: Axiom
    rewriting: Rewriting


def violations(
    tbox: TBox, form: Form = Form.FLAT, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Violation]:
    """One boolean query per negative axiom, rewritten; the data are consistent iff none holds."""
    for axiom in tbox.axioms:
        body = _violated(axiom)
        if body:
            boolean = UnionOfCQs((), (ConjunctiveQuery((), body),))
            yield Violation(axiom, rewrite_ucq(boolean, tbox, form, limits))


def _violated(axiom: Axiom) -> tuple[Atom, ...]:
    match axiom:
        case DisjointConcepts(left, right):
            return _concept_atom(left, "y"), _concept_atom(right, "z")
        case DisjointRoles(left, right):
            return _role_atom(left, _X, _Y), _role_atom(right, _X, _Y)
        case Irreflexive(role):
            return (_role_atom(role, _X, _X),)
        case _:
            return ()


def _concept_atom(concept: Concept, other: str) -> Atom:
    match concept:
        case Named(iri):
            return ClassAtom(iri, _X)
        case Exists(role):
            return _role_atom(role, _X, Variable(other))


def _role_atom(role: Role, subject: RdfTerm, object_: RdfTerm) -> Atom:
    ends = (object_, subject) if role.inverse else (subject, object_)
    return PropertyAtom(role.iri, *ends)
