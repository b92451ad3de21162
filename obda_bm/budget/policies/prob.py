"""PROB: discard the value that the partner has produced least often ([X] §6.2, [DGR03]).

On a caching problem it is the perfect LFU, which counts references to what is not cached, too.
"""

from __future__ import annotations

import numpy as np

from obda_bm.budget.join import Candidates, Side
from obda_bm.budget.pmf import Floats, Ints
from obda_bm.budget.policies.window import Window, outside_first


class Counts:
    """How often each value has come so far, for each run of one stream."""

    def __init__(self) -> None:
        self._low = 0
        self._counts = np.zeros((1, 1))

    def add(self, values: Ints) -> None:
        self._make_room(values)
        self._counts[np.arange(len(values)), values - self._low] += 1

    def of(self, values: Ints) -> Floats:
        """The count of each of `values`, one row per run."""
        index = values - self._low
        inside = (index >= 0) & (index < self._counts.shape[1])
        rows = np.arange(len(values))[:, None]
        return np.where(inside, self._counts[rows, np.where(inside, index, 0)], 0.0)

    def _make_room(self, values: Ints) -> None:
        if len(self._counts) != len(values):
            self._counts = np.zeros((len(values), 64))
            self._low = int(values.min()) - 32
        width = self._counts.shape[1]
        below = max(0, self._low - int(values.min()))
        above = max(0, int(values.max()) - (self._low + width - 1))
        if below or above:
            # Twice what is asked for, so that growing costs a constant per value.
            pad = (below and below + width, above and above + width)
            self._counts = np.pad(self._counts, ((0, 0), pad))
            self._low -= pad[0]


class Prob:
    def __init__(self, seed: int, window: Window | None = None) -> None:
        self._rng = np.random.default_rng(seed)
        self._window = window
        self._seen = {Side.R: Counts(), Side.S: Counts()}

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        self._seen[Side.R].add(r)
        self._seen[Side.S].add(s)

    def scores(self, now: int, candidates: Candidates) -> Floats:
        # Counts are whole numbers, so a fraction only breaks ties.
        drawn = 0.5 * self._rng.random(candidates.value.shape)
        counts = self.counts(candidates) + drawn
        return outside_first(self._window, now, candidates, counts)

    def counts(self, candidates: Candidates) -> Floats:
        """How often the partner has produced each candidate's value."""
        in_r = self._seen[Side.R].of(candidates.value)
        in_s = self._seen[Side.S].of(candidates.value)
        return np.where(candidates.side == Side.R, in_s, in_r)
