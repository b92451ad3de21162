"""Containment of conjunctive queries, by trying every mapping."""

from __future__ import annotations

from obda_bm.ir.rdf import XSD, RdfTerm, Variable
from obda_bm.ir.tbox import THING
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, substitute

Mapping = dict[Variable, RdfTerm]


def is_contained(special: ConjunctiveQuery, general: ConjunctiveQuery) -> bool:
    """Whether `general` maps into `special`, so that it has all answers of `special`."""
    start: Mapping = {}
    for term, image in zip(general.head, special.head, strict=True):
        if isinstance(term, Variable):
            if start.setdefault(term, image) != image:
                return False
        elif term != image:
            return False
    return _extends(general, special, list(general.body), start)


def _extends(
    general: ConjunctiveQuery, special: ConjunctiveQuery, left: list[Atom], mapping: Mapping
) -> bool:
    if not left:
        image = substitute(general, mapping)
        return set(image.comparisons) <= set(special.comparisons)
    atom, *rest = left
    return any(
        _extends(general, special, rest, extended)
        for image in _possible(atom, special)
        if (extended := _agree(atom.terms, image, mapping)) is not None
    )


def _possible(atom: Atom, special: ConjunctiveQuery) -> list[tuple[RdfTerm, ...]]:
    here = [other for other in special.body if other.state == atom.state]
    if isinstance(atom, ClassAtom) and atom.iri == THING:
        return [(term,) for other in here for term in _individuals(other)]
    return [o.terms for o in here if type(o) is type(atom) and o.iri == atom.iri]


def _individuals(atom: Atom) -> tuple[RdfTerm, ...]:
    """The terms of `atom` that are no literals, going by the names of the random cases."""
    if atom.iri.startswith(XSD):
        return ()
    return atom.terms[:1] if atom.iri == "D" else atom.terms


def _agree(
    terms: tuple[RdfTerm, ...], image: tuple[RdfTerm, ...], mapping: Mapping
) -> Mapping | None:
    extended = dict(mapping)
    for term, value in zip(terms, image, strict=True):
        if isinstance(term, Variable):
            if extended.setdefault(term, value) != value:
                return None
        elif term != value:
            return None
    return extended


def has_superfluous_atom(query: ConjunctiveQuery) -> bool:
    """Whether a part of the atoms of `query` says the same."""
    for position in range(len(query.body)):
        rest = query.body[:position] + query.body[position + 1 :]
        bound = {t for atom in rest for t in atom.terms}
        if all(t in bound for t in query.head if isinstance(t, Variable)):
            smaller = ConjunctiveQuery(query.head, rest, query.comparisons)
            if is_contained(smaller, query):
                return True
    return False
