"""HEEB and the rate index over models that a table covers: trends, walks, stationary streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from obda_bm.budget.index import Index, OffsetTable, tabulate
from obda_bm.budget.join import Candidates, Side
from obda_bm.budget.models import ShiftInvariant
from obda_bm.budget.pmf import Floats, Ints
from obda_bm.budget.survival import Exponential, alpha_of_lifetime

MakeTable: TypeAlias = Callable[[ShiftInvariant, Index], OffsetTable]


@dataclass(frozen=True, slots=True, eq=False)
class Benefits:
    """A model for each stream, and the table of what its partner's tuples are worth."""

    r: ShiftInvariant
    s: ShiftInvariant
    against_r: OffsetTable
    against_s: OffsetTable

    def scores(self, now: int, last_r: Ints, last_s: Ints, candidates: Candidates) -> Floats:
        from_r = candidates.value - self.r.anchor(now, last_r)[:, None]
        from_s = candidates.value - self.s.anchor(now, last_s)[:, None]
        of_r, of_s = self.against_s.look_up(from_s), self.against_r.look_up(from_r)
        return np.where(candidates.side == Side.R, of_r, of_s)


def benefits(
    r: ShiftInvariant, s: ShiftInvariant, index: Index, make: MakeTable = tabulate
) -> Benefits:
    """The tables of `index` for tuples of both streams."""
    return Benefits(r, s, make(r, index), make(s, index))


class Tabulated:
    """Discard the lowest index, looked up by the offset from the partner's anchor."""

    def __init__(self, r: ShiftInvariant, s: ShiftInvariant, index: Index) -> None:
        self._benefits = benefits(r, s, index)
        self._last: tuple[Ints, Ints] = (np.zeros(1, np.int64), np.zeros(1, np.int64))

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        self._last = (r, s)

    def scores(self, now: int, candidates: Candidates) -> Floats:
        return self._benefits.scores(now, *self._last, candidates)


class AdaptiveHeeb:
    """HEEB with L^exp, its alpha set from the lifetimes that it observes ([X] §5.3).

    By Little's law the mean lifetime is the memory over the tuples admitted per step, so nothing
    has to be remembered about tuples that have gone. One alpha serves all runs.
    """

    def __init__(
        self, r: ShiftInvariant, s: ShiftInvariant, lifetime: float, every: int = 200
    ) -> None:
        self._r, self._s, self._every = r, s, every
        self._policy = Tabulated(r, s, Exponential(alpha_of_lifetime(lifetime)))
        self._admitted = self._held = 0
        self.lifetime = lifetime

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        self._policy.observe(now, r, s)

    def scores(self, now: int, candidates: Candidates) -> Floats:
        kept = candidates.side[:, :-2] != Side.EMPTY
        self._held += int(kept.sum())
        self._admitted += int((kept & (candidates.arrival[:, :-2] == now - 1)).sum())
        if now % self._every == self._every - 1:
            self._adapt()
        return self._policy.scores(now, candidates)

    def _adapt(self) -> None:
        # A tuple that is kept at all lives for a step; alpha needs a little more than that.
        self.lifetime = max(1.1, self._held / max(1, self._admitted))
        index = Exponential(alpha_of_lifetime(self.lifetime))
        last = self._policy._last
        self._policy = Tabulated(self._r, self._s, index)
        self._policy._last = last
        self._admitted = self._held = 0
