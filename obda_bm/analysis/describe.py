"""The way to a verdict, for people: each branch, its columns, its order, each condition."""

from __future__ import annotations

from itertools import permutations

from obda_bm.analysis.reasons import reason_for
from obda_bm.analysis.timeline import (
    B1,
    B2,
    S0,
    S1,
    S2,
    S3,
    Situation,
    Windows,
    situation,
    violations,
)
from obda_bm.analysis.windows import duration
from obda_bm.ir.explanation import BranchExplanation, ColumnExplanation, ConditionExplanation
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.terms import ColumnRef
from obda_bm.order.closure import Closure
from obda_bm.order.prepare import is_satisfiable, prepare
from obda_bm.order.streams import Stream, Timeline, merge_equal_times


def describe(query: SpjUnion) -> tuple[BranchExplanation, ...]:
    """Every branch that was decided, and those that are never satisfied."""
    never = [b for b in query.branches if not is_satisfiable(b)]
    parts = [part for branch in prepare(query) for part in branch.parts]
    return (
        *(BranchExplanation(str(b), satisfiable=False) for b in never),
        *(_branch(merge_equal_times(part), query.semantics) for part in parts),
    )


def _branch(timeline: Timeline, semantics: Semantics) -> BranchExplanation:
    case = situation(timeline, Windows.USE)
    return BranchExplanation(
        str(timeline.closure.query),
        True,
        tuple(map(str, timeline.streams)),
        _order(timeline),
        tuple(_column(timeline.closure, c) for c in timeline.closure.values.nodes),
        tuple(map(str, case.joins)),
        _conditions(case, semantics),
    )


def _order(timeline: Timeline) -> tuple[str, ...]:
    """The covering pairs of the order in time, and the windows."""
    pairs = list(permutations(timeline.streams, 2))
    before = [(x, y) for x, y in pairs if timeline.precedes(x, y)]
    covering = [(x, y) for x, y in before if not _between(timeline, x, y)]
    windows = [
        f"{y} within {duration(timeline.closure, x.aliases[0], age)} of {x}"
        for x, y in pairs
        if (age := timeline.window(x, y))
    ]
    return (*(f"{x} before {y}" for x, y in covering), *windows)


def _between(timeline: Timeline, x: Stream, y: Stream) -> bool:
    return any(timeline.precedes(x, z) and timeline.precedes(z, y) for z in timeline.streams)


def _column(closure: Closure, column: ColumnRef) -> ColumnExplanation:
    bounded = closure.bounded(column)
    return ColumnExplanation(
        str(column),
        str(closure.query.column(column).type),
        _domain(closure, column, bounded),
        bounded,
    )


def _domain(closure: Closure, column: ColumnRef, bounded: bool) -> str:
    if not closure.infinite(column.occurrence):
        return "bounded: static or finite"
    type_ = closure.query.column(column).type
    ends = [closure.values.lower(column), closure.values.upper(column)]
    low, high = ("" if e is None else type_.literal(closure.scale.value(e)) for e in ends)
    interval = f"{low or '-∞'}..{high or '∞'}" if low or high else "any value"
    if column in closure.allowed:
        interval = f"{len(closure.allowed[column])} listed values"
    return f"{'bounded' if bounded else 'unbounded'}: {interval}"


def _conditions(case: Situation, semantics: Semantics) -> tuple[ConditionExplanation, ...]:
    found = list(violations(case, semantics))
    return tuple(
        ConditionExplanation(
            condition.name,
            condition.source,
            condition.statement,
            tuple(reason_for(case.timeline, v).message for v in found if v.condition is condition),
        )
        for condition in ((B1, B2) if semantics is Semantics.BAG else (S0, S1, S2, S3))
    )
