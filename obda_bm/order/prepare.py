"""From a union as written to the branches that the criterion is asked about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from obda_bm.ir.spj import Semantics, SpjQuery, SpjUnion
from obda_bm.ir.terms import Comparison, Op, columns_of
from obda_bm.order.closure import Closure, close_query
from obda_bm.order.containment import drop_contained, merge_by_key, minimize
from obda_bm.order.split_disequalities import split_disequalities


@dataclass(frozen=True, slots=True)
class Branch:
    """A satisfiable branch as its states are laid out, and the parts that are decided.

    The parts differ from the whole only where `<>` between columns was split.
    """

    whole: Closure
    parts: tuple[Closure, ...]

    def runs(self, semantics: Semantics) -> tuple[Closure, ...]:
        """What is executed: a bag needs the parts only where timestamps must differ."""
        query = self.whole.query
        split = any(
            isinstance(p, Comparison)
            and p.op is Op.NE
            and (semantics is Semantics.SET or any(map(query.is_time, columns_of(p))))
            for p in query.predicates
        )
        return self.parts if split else (self.whole,)


def prepare(query: SpjUnion) -> tuple[Branch, ...]:
    """The satisfiable branches that count, simplified as the semantics allows."""
    branches = _satisfiable(_simplified(merge_by_key(b), query.semantics) for b in query.branches)
    if query.semantics is Semantics.SET and len(branches) > 1:
        different = {branch.query: branch for branch in branches}
        branches = [different[query] for query in drop_contained(list(different))]
    prepared = [Branch(whole, _parts(whole, query.semantics)) for whole in branches]
    return tuple(branch for branch in prepared if branch.parts)


def is_satisfiable(branch: SpjQuery) -> bool:
    """Whether some input has an answer; `<>` and keys are taken into account."""
    return any(_satisfiable(split_disequalities(merge_by_key(branch))))


def _parts(whole: Closure, semantics: Semantics) -> tuple[Closure, ...]:
    split = split_disequalities(whole.query)
    if len(split) == 1:
        return (whole,)
    parts = _satisfiable(_simplified(part, semantics) for part in split)
    if semantics is Semantics.BAG:
        return tuple(parts)
    different = {part.query: part for part in parts}
    return tuple(different[query] for query in drop_contained(list(different)))


def _simplified(branch: SpjQuery, semantics: Semantics) -> SpjQuery:
    return minimize(branch) if semantics is Semantics.SET else branch


def _satisfiable(branches: Iterable[SpjQuery]) -> list[Closure]:
    closures = [close_query(branch) for branch in branches]
    return [closure for closure in closures if closure is not None]
