"""The default policy: the rate index over models fitted while the streams run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from obda_bm.budget.benefit import steps_ahead
from obda_bm.budget.fitting import FITTERS, Fitter
from obda_bm.budget.index import RATE, Index, OffsetTable, Problem, index_of, tabulate
from obda_bm.budget.join import Candidates, Side
from obda_bm.budget.models import Model, Seen, ShiftInvariant
from obda_bm.budget.online import OnlineModel
from obda_bm.budget.pmf import Floats, Ints

FORECAST = steps_ahead(400)


class Learner(Protocol):
    """A model of one stream that may change; None while there is none."""

    model: Model | None
    version: int
    seen: Seen

    def observe(self, now: int, value: int) -> None: ...


class Known:
    """A model given by the user, which is never fitted."""

    def __init__(self, model: Model) -> None:
        self.model: Model | None = model
        self.version = 1
        self.seen = Seen(-1, 0)

    def observe(self, now: int, value: int) -> None:
        self.seen = Seen(now, value)


class Worth:
    """What tuples are worth to one stream, by the model that it has taught so far."""

    def __init__(self, learner: Learner, problem: Problem, index: Index = RATE) -> None:
        self.learner = learner
        self._problem, self._index = problem, index
        self._table: OffsetTable | None = None
        self._version = 0

    def of(self, values: Ints) -> Floats | None:
        """The index of tuples with each of `values`; None while no model is known."""
        model, seen = self.learner.model, self.learner.seen
        if model is None:
            return None
        if not isinstance(model, ShiftInvariant):
            chances = model.chances(seen, values, FORECAST)
            return index_of(chances, FORECAST, self._index, self._problem)
        if self._table is None or self._version != self.learner.version:
            self._table = tabulate(model, self._index, self._problem)
            self._version = self.learner.version
        return self._table.look_up(values - model.anchor(seen.now, np.array([seen.last])))


class FittedJoin:
    """Discard the lowest index; until there are models, the least recently used."""

    def __init__(self, fitters: Sequence[Fitter] = FITTERS) -> None:
        self._fitters = fitters
        self._runs: list[tuple[Worth, Worth]] = []

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        while len(self._runs) < len(r):
            self._runs.append((self._worth(), self._worth()))
        for (to_r, to_s), x, y in zip(self._runs, r.tolist(), s.tolist(), strict=True):
            to_r.learner.observe(now, x)
            to_s.learner.observe(now, y)

    def _worth(self) -> Worth:
        return Worth(OnlineModel(self._fitters), Problem.JOINING)

    def scores(self, now: int, candidates: Candidates) -> Floats:
        scores = candidates.used.astype(float)
        for run, (to_r, to_s) in enumerate(self._runs):
            values = candidates.value[run]
            of_r, of_s = to_s.of(values), to_r.of(values)
            if of_r is not None and of_s is not None:
                scores[run] = np.where(candidates.side[run] == Side.R, of_r, of_s)
        return scores


class ModelCaching:
    """The same for a cache; all runs follow the same references, with memories of their own."""

    def __init__(self, learner: Learner, index: Index = RATE) -> None:
        self._worth = Worth(learner, Problem.CACHING, index)
        self._low = self._high = 0

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        value = int(r[0])
        self._low = min(self._low, value) if now else value
        self._high = max(self._high, value) if now else value
        self._worth.learner.observe(now, value)

    def scores(self, now: int, candidates: Candidates) -> Floats:
        by_value = self._worth.of(np.arange(self._low, self._high + 1))
        if by_value is None:
            return candidates.used.astype(float)
        return by_value[np.clip(candidates.value - self._low, 0, len(by_value) - 1)]
