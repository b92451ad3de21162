"""From a union as written to the branches that the criterion is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from obda_bm.analysis.closure import Closure, close_query
from obda_bm.analysis.containment import drop_contained, merge_by_key, minimize
from obda_bm.analysis.split_disequalities import split_disequalities
from obda_bm.ir.spj import Semantics, SpjQuery, SpjUnion


@dataclass(frozen=True, slots=True)
class Branch:
    """A satisfiable branch as its states are laid out, and the parts that are decided.

    The parts differ from the whole only where `<>` between columns was split.
    """

    whole: Closure
    parts: tuple[Closure, ...]


def prepare(query: SpjUnion) -> tuple[Branch, ...]:
    """The satisfiable branches that count, simplified as the semantics allows."""
    simplified = [merge_by_key(branch) for branch in query.branches]
    if query.semantics is Semantics.SET:
        simplified = [minimize(branch) for branch in simplified]
    possible = [branch for branch in simplified if close_query(branch) is not None]
    if query.semantics is Semantics.SET:
        possible = list(drop_contained(possible))
    branches = [(close_query(b), _parts(b, query.semantics)) for b in possible]
    return tuple(Branch(whole, parts) for whole, parts in branches if whole is not None)


def _parts(branch: SpjQuery, semantics: Semantics) -> tuple[Closure, ...]:
    parts: Sequence[SpjQuery] = split_disequalities(branch)
    if semantics is Semantics.SET and len(parts) > 1:
        parts = drop_contained([minimize(part) for part in parts])
    return tuple(closure for part in parts if (closure := close_query(part)) is not None)
