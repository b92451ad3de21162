"""Mapping assertions by predicate, saturated with the hierarchies of the ontology.

T-mappings: an assertion for a class or property counts for all that include it, and an assertion
of a property for its domain and range [RKZ13]. Under set semantics, assertions that others contain
are dropped, so that the union stays small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from obda_bm.ir.hierarchy import Hierarchy
from obda_bm.ir.mapping import TermKind
from obda_bm.ir.rdf import RDF, Iri
from obda_bm.ir.spj import Semantics, SpjQuery
from obda_bm.ir.tbox import THING, Concept, Exists, Named, Role
from obda_bm.ir.terms import ColumnRef, NotNull, Predicate, columns_of
from obda_bm.ir.ucq import Atom, ClassAtom, PropertyAtom
from obda_bm.ir.unfolded import FixedTerm, TermBuilder
from obda_bm.unfolding.assertions import Assertion, required
from obda_bm.unfolding.drop_contained import drop_contained_entries
from obda_bm.unfolding.entry import Entry
from obda_bm.unfolding.unify import kind_of, unify

_TYPE = RDF + "type"


@dataclass(frozen=True, slots=True)
class TMappings:
    """Assertions, found by what they assert; entries are made when first asked for."""

    assertions: tuple[Assertion, ...]
    hierarchy: Hierarchy
    semantics: Semantics
    base: str
    by_class: dict[str, list[Assertion]] = field(default_factory=dict, repr=False)
    by_property: dict[str, list[Assertion]] = field(default_factory=dict, repr=False)
    open: list[Assertion] = field(default_factory=list, repr=False)
    known: dict[tuple[str, int], tuple[Entry, ...]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for assertion in self.assertions:
            match assertion.predicate, assertion.object:
                case FixedTerm(Iri(iri)), FixedTerm(Iri(cls)) if iri == _TYPE:
                    self.by_class.setdefault(cls, []).append(assertion)
                case FixedTerm(Iri(iri)), _ if iri != _TYPE:
                    self.by_property.setdefault(iri, []).append(assertion)
                case _:  # what it asserts depends on the row
                    self.open.append(assertion)

    def over(self, streams: frozenset[str]) -> TMappings:
        """Without what reads other streams."""
        kept = [
            assertion
            for assertion in self.assertions
            if all(
                o.time is None or o.relation.name in streams for o in assertion.source.occurrences
            )
        ]
        return TMappings(tuple(kept), self.hierarchy, self.semantics, self.base)

    @property
    def vocabulary(self) -> frozenset[str]:
        """The classes and properties that some mapping names."""
        return frozenset(self.by_class) | frozenset(self.by_property)

    def entries(self, atom: Atom) -> tuple[Entry, ...]:
        """The ways to get rows for `atom`, with one builder per term of it."""
        key = (atom.iri, len(atom.terms))
        if key not in self.known:
            found = tuple(self._saturated(atom))
            if self.semantics is Semantics.SET:
                found = drop_contained_entries(tuple(dict.fromkeys(found)))
            self.known[key] = found
        return self.known[key]

    def _saturated(self, atom: Atom) -> Iterator[Entry]:
        match atom:
            case ClassAtom(iri) if iri == THING:
                yield from self._individuals()
            case ClassAtom(iri):
                for concept in self.hierarchy.concepts_below(Named(iri)):
                    yield from self._of_concept(concept)
            case PropertyAtom(iri):
                for role in self.hierarchy.roles_below(Role(iri)):
                    for entry in self._of_property(role.iri):
                        yield entry.inverted() if role.inverse else entry

    def _of_concept(self, concept: Concept) -> Iterator[Entry]:
        match concept:
            case Named(iri) if iri == THING:
                yield from self._individuals()
            case Named(iri):
                yield from self._of_class(iri)
            case Exists(Role(iri, inverse)):
                for entry in self._of_property(iri):
                    yield replace(entry, terms=entry.terms[1:] if inverse else entry.terms[:1])

    def _of_class(self, iri: str) -> Iterator[Entry]:
        for assertion in (*self.by_class.get(iri, ()), *self.open):
            yield from self._matching(assertion, _TYPE, (assertion.object, iri), 1)

    def _of_property(self, iri: str) -> Iterator[Entry]:
        for assertion in (*self.by_property.get(iri, ()), *self.open):
            yield from self._matching(assertion, iri, None, 2)

    def _matching(
        self, assertion: Assertion, iri: str, cls: tuple[TermBuilder, str] | None, arity: int
    ) -> Iterator[Entry]:
        """The assertion as an entry, if its predicate can be `iri` and its object the class."""
        conditions = unify(assertion.predicate, FixedTerm(Iri(iri)), self.base)
        if conditions is not None and cls is not None:
            same = unify(cls[0], FixedTerm(Iri(cls[1])), self.base)
            conditions = None if same is None else conditions + same
        if conditions is not None:
            terms = (assertion.subject, assertion.object)[:arity]
            yield _entry(assertion, terms, conditions)

    def _individuals(self) -> Iterator[Entry]:
        for assertion in self.assertions:
            for term in (assertion.subject, assertion.object):
                is_class = assertion.predicate == FixedTerm(Iri(_TYPE)) and term is assertion.object
                if kind_of(term) is not TermKind.LITERAL and not is_class:
                    yield _entry(assertion, (term,), ())


def _entry(
    assertion: Assertion, terms: tuple[TermBuilder, ...], conditions: Iterable[Predicate]
) -> Entry:
    predicates = (*assertion.source.predicates, *conditions)
    known = {c for p in predicates for c in columns_of(p)}
    missing = [c for c in required(assertion) if c not in known and _nullable(c, assertion.source)]
    source = replace(
        assertion.source, predicates=(*predicates, *(NotNull(c, c.span) for c in missing))
    )
    return Entry(source, terms, assertion.triples_map, assertion.span)


def _read_by(source: SpjQuery) -> frozenset[str]:
    """The streams that `source` reads."""
    return frozenset(o.relation.name for o in source.occurrences if o.time is not None)


def _nullable(column: ColumnRef, source: SpjQuery) -> bool:
    return source.column(column).nullable
