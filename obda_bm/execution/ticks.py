"""When a windowed query is evaluated, and which tuples it still needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from obda_bm.execution.markers import Ticks, ticks_of
from obda_bm.ir.window_plan import Clock, WindowedStream


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The closed tuples of one stream that a window may still see, in order of time."""

    stream: WindowedStream
    rows: pa.Table
    times: Ticks

    def joined(self, rows: pa.Table) -> Kept:
        if not len(rows):
            return self
        times = np.concatenate([self.times, ticks_of(self.stream.relation, rows)])
        return replace(self, rows=pa.concat_tables([self.rows, rows]), times=times)

    def window(self, tick: int) -> pa.Table:
        """The tuples that the window at `tick` sees."""
        first, after = self._place(tick - self.stream.begin), self._after(tick - self.stream.end)
        return self.rows.slice(first, after - first)

    def states(self, tick: int) -> Ticks:
        first, after = self._place(tick - self.stream.begin), self._after(tick - self.stream.end)
        return self.times[first:after]

    def count(self, tick: int) -> int:
        """How many tuples must be in memory at `tick`."""
        return self._after(tick) - self._place(tick - self.stream.begin)

    def since(self, tick: int) -> Kept:
        """Without the tuples that no window from `tick` on sees."""
        cut = self._place(tick - self.stream.begin)
        # A slice would hold on to the memory of what is dropped.
        rows = self.rows.slice(cut).combine_chunks() if cut else self.rows
        return replace(self, rows=rows, times=self.times[cut:].copy() if cut else self.times)

    def first_after(self, time: int | None) -> list[int]:
        """The first timestamp later than `time`, if there is one."""
        at = 0 if time is None else self._after(time)
        return [int(self.times[at])] if at < len(self.times) else []

    def _place(self, time: int) -> int:
        return int(np.searchsorted(self.times, time, "left"))

    def _after(self, time: int) -> int:
        return int(np.searchsorted(self.times, time, "right"))


def first_tick(clock: Clock, kept: Mapping[str, Kept]) -> int | None:
    """The tick at the first tuple or just before it, but none before the start."""
    first = next_time(kept, None)
    if first is None:
        return None
    if clock.slide is None:
        return next_time(kept, None if clock.start is None else clock.start - 1)
    start = clock.start or 0
    return start if clock.start is not None and first < start else aligned(clock, first)


def aligned(clock: Clock, time: int) -> int:
    """The last tick that is not after `time`.

    >>> aligned(Clock(start=3, slide=10), 25), aligned(Clock(slide=10), 25)
    (23, 20)
    """
    assert clock.slide is not None, "ticks without a slide are those of the data"
    start = clock.start or 0
    return start + (time - start) // clock.slide * clock.slide


def next_tick(clock: Clock, tick: int, kept: Mapping[str, Kept]) -> int | None:
    """The tick after `tick`; None where only data that is still to come can tell."""
    return next_time(kept, tick) if clock.slide is None else tick + clock.slide


def next_time(kept: Mapping[str, Kept], after: int | None) -> int | None:
    """The first timestamp, or the first one later than `after`."""
    return min((time for k in kept.values() for time in k.first_after(after)), default=None)


def skip_silence(clock: Clock, tick: int, kept: Mapping[str, Kept], until: int) -> int:
    """The last tick before anything can be seen again; windows until then are as empty.

    Tuples from `until` on are not known yet, so nothing is skipped beyond it.
    """
    if clock.slide is None:
        return tick
    unseen = (t + k.stream.end for k in kept.values() for t in k.first_after(tick - k.stream.end))
    return max(tick, aligned(clock, min((until, *unseen)) - 1))
