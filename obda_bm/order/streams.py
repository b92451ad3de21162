"""The infinite streams of a query on the timeline: who can still arrive after whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from obda_bm.ir.terms import ColumnRef
from obda_bm.order.closure import Closure


@dataclass(frozen=True, slots=True, order=True)
class Stream:
    """Infinite streams whose timestamps are equal in P+, joined per timestamp into one."""

    aliases: tuple[str, ...]

    def __str__(self) -> str:
        return "⋈".join(self.aliases)

    def owns(self, column: ColumnRef) -> bool:
        return column.occurrence in self.aliases


@dataclass(frozen=True, slots=True)
class Timeline:
    """The order of timestamps in P+ between the infinite streams of a query."""

    closure: Closure
    streams: tuple[Stream, ...]

    def stream_of(self, column: ColumnRef) -> Stream | None:
        """The infinite stream that `column` belongs to; None for static and finite ones."""
        return next((s for s in self.streams if s.owns(column)), None)

    def can_precede(self, x: Stream, y: Stream) -> bool:
        """Whether a tuple of `x` may join with a tuple of `y` that arrives later (THEORY 7)."""
        return x != y and not self.closure.times.at_most(self.time(y), self.time(x))

    def precedes(self, x: Stream, y: Stream) -> bool:
        """X ≺ Y: P+ forces x.time < y.time."""
        return self.closure.times.less(self.time(x), self.time(y))

    def down(self, *of: Stream) -> frozenset[Stream]:
        """↓X: the smallest closed set with X, that is, what cannot arrive after X.

        With strict orders only, this is {Y : Y ≺ X} ∪ {X}; `y.time <= x.time` closes in the same
        way, for such a Y cannot come later, either.
        """
        return frozenset(
            y for y in self.streams if any(y == x or not self.can_precede(x, y) for x in of)
        )

    def related(self, x: Stream, y: Stream) -> bool:
        """Whether some constraint ties the timestamps of `x` and `y` together."""
        bounds = self.closure.times.bound
        times = self.time(x), self.time(y)
        return bounds(*times) is not None or bounds(*reversed(times)) is not None

    def window(self, x: Stream, y: Stream) -> int | None:
        """Ticks after a tuple of `x` until which one of `y` must have come; None if no limit."""
        return self.closure.times.bound(self.time(y), self.time(x))

    def closed_sets(self) -> list[frozenset[Stream]]:
        """The closed sets but the empty one and that of all streams, smaller ones first."""
        subsets = (
            frozenset(chosen)
            for size in range(1, len(self.streams))
            for chosen in combinations(self.streams, size)
        )
        return [subset for subset in subsets if self.down(*subset) == subset]

    def expiry(self, stored: frozenset[Stream]) -> int | None:
        """Ticks after which a partial match over `stored` can no longer be completed.

        Some stream that is still missing must come within a window of one that is there.
        """
        limits = [self.window(x, y) for x in stored for y in self.streams if y not in stored]
        return min((limit for limit in limits if limit is not None), default=None)

    def time(self, stream: Stream) -> ColumnRef:
        time = self.closure.query.occurrence(stream.aliases[0]).time
        assert time is not None
        return time


def merge_equal_times(closure: Closure) -> Timeline:
    """The infinite streams, those with equal timestamps in P+ merged ([S] preprocessing 2)."""
    return _merged(
        closure, [o.alias for o in closure.query.occurrences if closure.infinite(o.alias)]
    )


def every_stream(closure: Closure) -> Timeline:
    """The streams with those that end: what arrives, whether or not it arrives forever."""
    return _merged(closure, [o.alias for o in closure.query.occurrences if o.time is not None])


def _merged(closure: Closure, aliases: Sequence[str]) -> Timeline:
    blocks: list[list[str]] = []
    for alias in aliases:
        block = next((b for b in blocks if _same_time(closure, b[0], alias)), None)
        if block is None:
            blocks.append([alias])
        else:
            block.append(alias)
    return Timeline(closure, tuple(Stream(tuple(block)) for block in blocks))


def _same_time(closure: Closure, left: str, right: str) -> bool:
    times = closure.query.occurrence(left).time, closure.query.occurrence(right).time
    return closure.times.equal(*times)


def enumerable(timeline: Timeline, stream: Stream) -> bool:
    """Whether keys admit only finitely many tuples of `stream` that can take part in an answer."""
    closure = timeline.closure
    return all(
        any(
            all(closure.bounded(ColumnRef(alias, c)) for c in key)
            for key in closure.query.occurrence(alias).relation.keys
            if key
        )
        for alias in stream.aliases
    )


def names(streams: Iterable[Stream]) -> str:
    return ", ".join(str(s) for s in sorted(streams))
