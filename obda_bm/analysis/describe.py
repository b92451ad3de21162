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
from obda_bm.ir.explanation import (
    BranchExplanation,
    ColumnExplanation,
    ConditionExplanation,
    TimeEdge,
    TimeRelation,
)
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.terms import ColumnRef
from obda_bm.order.closure import Closure
from obda_bm.order.prepare import is_satisfiable, prepare
from obda_bm.order.streams import Stream, Timeline, every_stream, merge_equal_times

BEFORE, NOT_AFTER, WITHIN = TimeRelation.BEFORE, TimeRelation.NOT_AFTER, TimeRelation.WITHIN


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
    arrivals = every_stream(timeline.closure)
    return BranchExplanation(
        str(timeline.closure.query),
        True,
        tuple(map(str, timeline.streams)),
        tuple(map(str, arrivals.streams)),
        _order(arrivals),
        tuple(_column(timeline.closure, c) for c in timeline.closure.values.nodes),
        tuple(map(str, case.joins)),
        _conditions(case, semantics),
    )


def _order(timeline: Timeline) -> tuple[TimeEdge, ...]:
    """The covering pairs of the order in time ([S]'s dependency graph), and the windows."""
    pairs = list(permutations(timeline.streams, 2))
    order = [
        TimeEdge(str(x), str(y), BEFORE if timeline.precedes(x, y) else NOT_AFTER)
        for x, y in pairs
        if _ordered(timeline, x, y) and not _between(timeline, x, y)
    ]
    windows = [
        TimeEdge(str(x), str(y), WITHIN, duration(timeline.closure, x.aliases[0], age))
        for x, y in pairs
        if (age := timeline.window(x, y)) is not None and age > 0 and _goes_on(timeline, y)
    ]
    return (*order, *windows)


def _goes_on(timeline: Timeline, stream: Stream) -> bool:
    """Whether it never ends; else all of it lies within its end of everything."""
    return timeline.closure.infinite(stream.aliases[0])


def _ordered(timeline: Timeline, x: Stream, y: Stream) -> bool:
    return not timeline.can_precede(y, x)


def _between(timeline: Timeline, x: Stream, y: Stream) -> bool:
    """Whether a third stream makes the pair follow from two others."""
    return any(
        _ordered(timeline, x, z) and _ordered(timeline, z, y)
        for z in timeline.streams
        if z not in (x, y)
    )


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
