"""Alternatives that others contain: redundant under set semantics, and only there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.unfolded import UnfoldedBranch, shape_of
from obda_bm.order.containment import contained
from obda_bm.unfolding.chase import chase
from obda_bm.unfolding.entry import Entry

Alternative = TypeVar("Alternative")


def drop_contained_entries(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries that no other one of the same shape contains."""
    return _drop(entries, lambda e: (e.shape, e.time is None), Entry.projecting)


def drop_contained_branches(branches: Sequence[UnfoldedBranch]) -> tuple[UnfoldedBranch, ...]:
    """The branches that no other one building the same terms contains."""
    return _drop(branches, lambda b: tuple(map(shape_of, b.terms)), lambda b: b.query)


def _drop(
    alternatives: Sequence[Alternative],
    shape: Callable[[Alternative], Hashable],
    query: Callable[[Alternative], SpjQuery],
) -> tuple[Alternative, ...]:
    groups: dict[Hashable, list[int]] = {}
    for i, alternative in enumerate(alternatives):
        groups.setdefault(shape(alternative), []).append(i)
    kept = set(range(len(alternatives)))
    queries = [query(alternative) for alternative in alternatives]
    referenced = {o.relation.name: o.relation for q in queries for o in q.occurrences}
    chased = [chase(q, referenced) for q in queries]
    relations = [{o.relation.name for o in q.occurrences} for q in chased]
    own = [{o.relation.name for o in q.occurrences} for q in queries]
    for group in groups.values():
        for i in reversed(group):
            others = [j for j in group if j != i and j in kept]
            # A homomorphism needs every relation of the bigger query in the smaller one.
            candidates = [j for j in others if own[j] <= relations[i]]
            if any(contained(chased[i], queries[j]) for j in candidates):
                kept.discard(i)
    return tuple(a for i, a in enumerate(alternatives) if i in kept)
