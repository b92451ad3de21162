"""LIFE: the partner's count times the remaining lifetime ([X] §6.2, [DGR03])."""

from __future__ import annotations

import numpy as np

from obda_bm.budget.join import Candidates
from obda_bm.budget.pmf import Floats, Ints
from obda_bm.budget.policies.prob import Prob
from obda_bm.budget.policies.window import Window, outside_first


class Life:
    """`prior` is added to every count.

    With 0, as printed, a value never seen is worth nothing, however long it will live, and LIFE
    does not beat PROB; with 1 it fares as in [X]'s Figure 8.
    """

    def __init__(self, seed: int, window: Window, prior: int = 1) -> None:
        self._rng = np.random.default_rng(seed)
        self._prob = Prob(seed, window)
        self._window = window
        self._prior = prior

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        self._prob.observe(now, r, s)

    def scores(self, now: int, candidates: Candidates) -> Floats:
        life = self._window.life(now, candidates)
        counts = self._prob.counts(candidates) + self._prior
        drawn = 0.5 * self._rng.random(life.shape)
        scores = np.asarray(counts * life + drawn)
        return outside_first(self._window, now, candidates, scores)
