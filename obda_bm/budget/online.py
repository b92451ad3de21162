"""A model that learns while the stream runs: fitted, chosen again, and dropped when it drifts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obda_bm.budget.drift import PageHinkley
from obda_bm.budget.fitting import FITTERS, Fitter, fit_best, loss
from obda_bm.budget.models import Model, Seen
from obda_bm.budget.pmf import Ints

FIRST_FIT = 200
"""So many values suffice for a first model."""


class OnlineModel:
    """`model` is None until enough was seen; `version` counts how often it has changed.

    The next fit comes when there is half as much again to learn from, up to `window` values, and
    every half window from then on. When the fit is no longer as good as it was, the values before
    are forgotten.
    """

    def __init__(
        self,
        fitters: Sequence[Fitter] = FITTERS,
        *,
        first: int = FIRST_FIT,
        window: int = 4000,
    ) -> None:
        self._fitters, self._first, self._window = fitters, first, window
        self._recent = np.zeros(2 * window, np.int64)
        self._held = 0
        self._due = first
        self._drift = PageHinkley()
        self.model: Model | None = None
        self.version = 0
        self.drifts = 0
        self.seen = Seen(-1, 0)

    @property
    def recent(self) -> Ints:
        """The values that the next fit learns from."""
        return self._recent[max(0, self._held - self._window) : self._held]

    def observe(self, now: int, value: int) -> None:
        self._check(value)
        self._remember(value)
        self.seen = Seen(now, value)
        self._due -= 1
        if self._due <= 0:
            self._fit()

    def _check(self, value: int) -> None:
        if self.model is None:
            return
        self._drift = self._drift.after(loss(self.model, self.seen, value))
        if self._drift.alarm:
            # What follows the change is another stream; some of its values are already known.
            self._keep(self._drift.since_lowest)
            self._due = max(1, self._first - self._held)
            self._drift = PageHinkley()
            self.drifts += 1

    def _remember(self, value: int) -> None:
        if self._held == len(self._recent):
            self._keep(self._window)
        self._recent[self._held] = value
        self._held += 1

    def _keep(self, count: int) -> None:
        kept = self._recent[max(0, self._held - count) : self._held].copy()
        self._recent[: len(kept)] = kept
        self._held = len(kept)

    def _fit(self) -> None:
        values = self.recent
        self.model = fit_best(values, self.seen.now - len(values) + 1, self._fitters)
        self.version += 1
        self._drift = PageHinkley()
        self._due = min(len(values), self._window) // 2
