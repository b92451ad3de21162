"""Streams of which tuples are kept with their time, for as long as an interval says."""

from __future__ import annotations

from itertools import permutations

from obda_bm.analysis.timeline import Windows
from obda_bm.ir.terms import Comparison, columns_of
from obda_bm.order.closure import Closure
from obda_bm.order.streams import Stream, Timeline


def expiring_streams(timeline: Timeline, windows: Windows) -> frozenset[Stream]:
    """Streams whose tuples wait for another only as long as a window says."""
    if windows is Windows.IGNORE:
        return frozenset()
    return frozenset(
        x
        for x, y in permutations(timeline.streams, 2)
        if timeline.can_precede(x, y) and timeline.window(x, y) is not None
    )


def delayed_streams(timeline: Timeline) -> frozenset[Stream]:
    """Streams that an interval compares with a later one: for so long, tuples keep their time."""
    found: set[Stream] = set()
    for p in timeline.closure.query.predicates:
        streams = [s for c in columns_of(p) if (s := timeline.stream_of(c)) is not None]
        if isinstance(p, Comparison) and p.offset and len(streams) == 2:
            found |= {x for x, y in permutations(streams) if timeline.can_precede(x, y)}
    return frozenset(found)


def duration(closure: Closure, alias: str, ticks: int) -> str:
    """`ticks` of the time of `alias`, in the largest unit that divides them."""
    time = closure.query.occurrence(alias).time
    assert time is not None
    return closure.query.column(time).type.duration(ticks)
