"""How new matches arise: tuples of one timestamp with older partial matches (THEORY 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from obda_bm.ir.plan import Step
from obda_bm.ir.terms import Comparison, columns_of
from obda_bm.order.differences import Difference
from obda_bm.synopses.inputs import Arrivals
from obda_bm.synopses.synopsis import Piece, components


def steps(arrivals: Arrivals, kept: Sequence[Piece]) -> Iterator[Step]:
    """For every synopsis, smaller ones first, and at last for the output."""
    everything = frozenset(range(len(arrivals.inputs)))
    for target in (*kept, everything):
        for new in _subsets(target):
            old = target - new
            if _possible(arrivals, new, old):
                parts = components(arrivals, old)
                yield Step(
                    tuple(sorted(new)),
                    tuple(map(kept.index, parts)),
                    _joins(arrivals, new, parts),
                    None if target == everything else kept.index(target),
                )


def _subsets(target: Piece) -> Iterator[Piece]:
    for size in range(1, len(target) + 1):
        yield from map(frozenset, combinations(sorted(target), size))


def _possible(arrivals: Arrivals, new: Piece, old: Piece) -> bool:
    """Whether P allows `new` at one timestamp and `old` before it; then `old` is closed."""
    timeline = arrivals.timeline
    times = [timeline.time(stream) for stream in timeline.streams]
    together = [Difference(times[a], times[b], 0) for a in new for b in new if a != b]
    before = [Difference(times[a], times[b], -1) for a in old for b in new]
    if timeline.closure.times.refine([*together, *before]) is None:
        return False
    streams = frozenset(timeline.streams[i] for i in old)
    return not streams or timeline.down(*streams) == streams


def _joins(arrivals: Arrivals, new: Piece, old: list[Piece]) -> tuple[Comparison, ...]:
    """What is to be compared: everything that is not inside one input or one older match."""
    groups = [frozenset([i]) for i in new] + old
    return tuple(
        join
        for join in arrivals.joins
        if all(any(arrivals.owner(c) in g for g in groups) for c in columns_of(join))
        and not any(all(arrivals.owner(c) in g for c in columns_of(join)) for g in groups)
    )
