"""Triples maps that select-project-join queries cannot use, and queries that would need them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from obda_bm.diagnostics import Diagnostic, UnfoldingError
from obda_bm.ir.hierarchy import Hierarchy
from obda_bm.ir.mapping import MappingSet, ParentSubject, TermMap, TriplePattern
from obda_bm.ir.rdf import RDF, Iri
from obda_bm.ir.tbox import THING, Exists, Named, Role
from obda_bm.ir.ucq import Atom, ClassAtom, PropertyAtom, UnionOfCQs

ANYTHING = ""
"""Stands for the class or property of a pattern where the row decides which it is."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a triples map would assert, and why it cannot be used."""

    terms: frozenset[str]
    reasons: tuple[Diagnostic, ...]


def left_out(
    mappings: MappingSet, reasons: dict[str, tuple[Diagnostic, ...]]
) -> tuple[LeftOut, ...]:
    """By triples map that has `reasons`, its own terms and those of maps that refer to it."""
    return tuple(
        LeftOut(frozenset(map(_term, _patterns(mappings, id_))), why)
        for id_, why in reasons.items()
    )


def _patterns(mappings: MappingSet, id_: str) -> Iterator[TriplePattern]:
    for each in mappings.triples_maps:
        for pattern in each.triples:
            match pattern.object:
                case ParentSubject(parent) if parent == id_:
                    yield pattern
                case _ if each.id == id_:
                    yield pattern


def _term(pattern: TriplePattern) -> str:
    match pattern.predicate.value, pattern.object:
        case Iri(iri), TermMap(Iri(cls)) if iri == RDF + "type":
            return cls
        case Iri(iri), _ if iri != RDF + "type":
            return iri
    return ANYTHING


def require_none(query: UnionOfCQs, missing: Iterable[LeftOut], hierarchy: Hierarchy) -> None:
    """Refuse a query to which a map that was left out might contribute answers.

    Raises:
        UnfoldingError: with the reasons why it was left out.
    """
    needed = {name for q in query.disjuncts for atom in q.body for name in _below(atom, hierarchy)}
    for each in missing:
        if ANYTHING in each.terms or THING in needed or each.terms & needed:
            raise UnfoldingError(*each.reasons)


def _below(atom: Atom, hierarchy: Hierarchy) -> Iterator[str]:
    """The classes and properties whose assertions count for the atom."""
    match atom:
        case PropertyAtom(iri):
            yield from (role.iri for role in hierarchy.roles_below(Role(iri)))
        case ClassAtom(iri):
            for concept in hierarchy.concepts_below(Named(iri)):
                match concept:
                    case Named(name):
                        yield name
                    case Exists(role):
                        yield role.iri
