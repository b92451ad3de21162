"""RAND: discard at random; tuples outside the window first."""

from __future__ import annotations

import numpy as np

from obda_bm.budget.join import Candidates
from obda_bm.budget.pmf import Floats, Ints
from obda_bm.budget.policies.window import Window, outside_first


class Rand:
    def __init__(self, seed: int, window: Window | None = None) -> None:
        self._rng = np.random.default_rng(seed)
        self._window = window

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        """Nothing is learnt."""

    def scores(self, now: int, candidates: Candidates) -> Floats:
        drawn = self._rng.random(candidates.value.shape)
        return outside_first(self._window, now, candidates, drawn)
