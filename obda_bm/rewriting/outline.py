"""What a query is apart from the order of its atoms and the names of unbound variables."""

from __future__ import annotations

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.ucq import Atom, ConjunctiveQuery, TermComparison
from obda_bm.rewriting.places import unbound

Outline = tuple[tuple[RdfTerm, ...], frozenset[object], frozenset[TermComparison]]


def outline_of(query: ConjunctiveQuery) -> Outline:
    """A key that only equivalent queries share: a cheap way to see that one has been met before."""
    loose = unbound(query)
    atoms = frozenset(_atom(atom, loose) for atom in query.body)
    return query.head, atoms, frozenset(query.comparisons)


def _atom(atom: Atom, loose: frozenset[Variable]) -> object:
    terms = tuple(None if term in loose else term for term in atom.terms)
    return atom.iri, terms, atom.state
