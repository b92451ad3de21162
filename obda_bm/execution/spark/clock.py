"""Ticks of the streams <-> milliseconds of Spark's watermark.

Spark's watermark is the least, over the sources, of the newest time before the batch: our frontier.
It starts at 0, which would close what is older, so all times are moved up. It counts milliseconds:
instants are rounded down, which closes them later, never too early.
"""

from __future__ import annotations

from dataclasses import dataclass

from obda_bm.ir.catalog import Relation
from obda_bm.ir.sqltypes import Family

_MOVED = 1 << 52
"""Instants of the years 1 to 9999 stay positive; so do numbers above -2**52."""


@dataclass(frozen=True, slots=True)
class Clock:
    """So many ticks of the streams are a millisecond of Spark."""

    ticks: int

    def milliseconds(self, tick: int) -> int:
        """The watermark once a source has come as far as `tick`.

        >>> Clock(1000).milliseconds(-1) - Clock(1000).milliseconds(0)
        -1
        """
        return tick // self.ticks + _MOVED

    def frontier(self, watermark: int) -> int | None:
        """The tick before which all is closed; None before all sources have spoken."""
        return None if watermark <= 0 else (watermark - _MOVED) * self.ticks

    def due(self, tick: int) -> int:
        """The watermark that closes `tick`.

        >>> clock = Clock(1000)
        >>> clock.frontier(clock.due(1999)) > 1999
        True
        """
        return self.milliseconds(tick) + 1


def clock_of(streams: tuple[Relation, ...]) -> Clock:
    families = {s.column(s.time).type.family for s in streams if s.time is not None}
    return Clock(1000 if Family.INSTANT in families else 1)
