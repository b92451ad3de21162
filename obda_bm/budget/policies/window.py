"""Remaining lifetimes from the bounds of the noise, for the policies that need a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obda_bm.budget.index import remaining_life
from obda_bm.budget.join import Candidates, Side
from obda_bm.budget.models import LinearTrend
from obda_bm.budget.pmf import Floats, Ints


@dataclass(frozen=True, slots=True)
class Window:
    """The part of two rising trends that noise can still reach ([X] §6.2)."""

    r: LinearTrend
    s: LinearTrend

    def life(self, now: int, candidates: Candidates) -> Ints:
        """For how many more steps each candidate can join."""
        of_r = remaining_life(self.s, now, candidates.value)
        of_s = remaining_life(self.r, now, candidates.value)
        return np.where(candidates.side == Side.R, of_r, of_s)


def outside_first(
    window: Window | None, now: int, candidates: Candidates, scores: Floats
) -> Floats:
    """The scores, with tuples that have left the window below all others."""
    if window is None:
        return scores
    return np.where(window.life(now, candidates) > 0, scores, -1.0)
