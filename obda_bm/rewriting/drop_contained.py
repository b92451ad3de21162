"""Containment of queries, and what it removes from a union."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.ucq import ConjunctiveQuery, TermComparison
from obda_bm.rewriting.embedding import Binding, Goal, embed
from obda_bm.rewriting.facts import Facts, Key, facts_of, images, key_of, keys_above
from obda_bm.rewriting.steps import Derived, Knowledge


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query with what containment tests ask of it again and again."""

    derived: Derived
    facts: Facts
    keys: frozenset[Key]
    above: frozenset[Key]

    @property
    def query(self) -> ConjunctiveQuery:
        return self.derived.query


def prepare(derived: Derived, knowledge: Knowledge) -> Prepared:
    body, hierarchy = derived.query.body, knowledge.hierarchy
    keys = (key_of(atom) for atom in body)
    above = (key for atom in body for key in keys_above(atom, hierarchy))
    return Prepared(
        derived,
        facts_of(body, knowledge.data_properties),
        frozenset(key for key in keys if key is not None),
        frozenset(above),
    )


def contains(
    general: Prepared,
    special: Prepared,
    knowledge: Knowledge,
    once: frozenset[RdfTerm] = frozenset(),
) -> bool:
    """Whether `general` maps into `special`; no two variables to one term of `once`."""
    if not general.keys <= special.above:
        return False
    binding = _bind_heads(general.query.head, special.query.head)
    if binding is None:
        return False
    goals = [
        Goal(atom, tuple(images(atom, special.facts, knowledge.hierarchy)))
        for atom in general.query.body
    ]
    comparisons = frozenset(map(_one_way, special.query.comparisons))

    def comparisons_hold(mapped: Binding) -> bool:
        wanted = (_mapped(c, mapped) for c in general.query.comparisons)
        return all(_one_way(c) in comparisons for c in wanted)

    return embed(goals, binding, comparisons_hold, once) is not None


def drop_contained(queries: Iterable[Derived], knowledge: Knowledge) -> list[Derived]:
    """The queries that no other contains; the first of equivalent ones."""
    ordered = sorted(queries, key=lambda d: (len(d.query.body), str(d.query)))
    prepared = [prepare(derived, knowledge) for derived in ordered]
    index = Index()
    for each in prepared:
        index.add(each)
    for each in reversed(prepared):
        if any(contains(o, each, knowledge) for o in index.candidates(each) if o is not each):
            index.remove(each)
    return [each.derived for each in index]


class Index:
    """Prepared queries, filed under one of the predicates that a special case must have."""

    def __init__(self) -> None:
        self._filed: dict[Key | None, dict[int, Prepared]] = defaultdict(dict)
        self._place: dict[int, Key | None] = {}
        self._all: dict[int, Prepared] = {}

    def add(self, query: Prepared) -> None:
        # The shortest list of all that would do keeps the lists short.
        place = min(query.keys, key=lambda k: (len(self._filed[k]), str(k)), default=None)
        self._filed[place][id(query)] = query
        self._place[id(query)] = place
        self._all[id(query)] = query

    def remove(self, query: Prepared) -> None:
        del self._all[id(query)]
        del self._filed[self._place.pop(id(query))][id(query)]

    def candidates(self, special: Prepared) -> Iterator[Prepared]:
        """The queries that may contain `special`."""
        for key in (None, *special.above):
            if key in self._filed:
                yield from self._filed[key].values()

    def __iter__(self) -> Iterator[Prepared]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)


def _bind_heads(general: Sequence[RdfTerm], special: Sequence[RdfTerm]) -> Binding | None:
    binding: Binding = {}
    for term, value in zip(general, special, strict=True):
        if isinstance(term, Variable):
            if binding.setdefault(term, value) != value:
                return None
        elif term != value:
            return None
    return binding


def _mapped(comparison: TermComparison, binding: Binding) -> TermComparison:
    def new(term: RdfTerm) -> RdfTerm:
        return binding.get(term, term) if isinstance(term, Variable) else term

    return replace(comparison, left=new(comparison.left), right=new(comparison.right))


def _one_way(comparison: TermComparison) -> TermComparison:
    """The comparison, mirrored if its sides are the wrong way round."""
    if comparison.offset or str(comparison.left) <= str(comparison.right):
        return comparison
    return replace(
        comparison, left=comparison.right, op=comparison.op.mirrored, right=comparison.left
    )
