"""Satisfy an atom by a reflexive role: its two terms are one."""

from __future__ import annotations

from collections.abc import Iterator

from obda_bm.ir.rdf import Literal
from obda_bm.ir.tbox import THING, Role
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom
from obda_bm.rewriting.steps import Derived, Knowledge, ReflexiveBelow
from obda_bm.rewriting.unify import representative, unifier, unite


def collapse(derived: Derived, knowledge: Knowledge) -> Iterator[Derived]:
    """The queries in which one atom holds because everything is related to itself."""
    for atom in derived.query.body:
        if isinstance(atom, PropertyAtom) and atom.subject != atom.object:
            reflexive = knowledge.hierarchy.reflexive_below(Role(atom.iri))
            if reflexive is not None:
                united = _unite(derived.query, atom)
                if united is not None:
                    yield derived.by(united, ReflexiveBelow(reflexive, Role(atom.iri)))


def _unite(query: ConjunctiveQuery, atom: PropertyAtom) -> ConjunctiveQuery | None:
    chosen = representative(atom.terms, query)
    if chosen is None or isinstance(chosen, Literal):
        return None
    thing: Atom = ClassAtom(THING, chosen, atom.state, atom.span)
    body = tuple(thing if other is atom else other for other in query.body)
    return unite(query, body, unifier(atom.terms, chosen))
