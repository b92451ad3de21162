"""How much was lost: the recall of a join within a budget, with an interval.

What was evicted cannot all be remembered, but a random sample of it can: its ghosts go on meeting
the arrivals, and what they would have found, over their share, estimates what was missed. That
needs no model of the streams and works for any join condition. The sample has a limit: when it is
reached, half of the ghosts, chosen at random, is let go, and each of the others stands for twice as
many. The estimate of what was missed is that of [HorvitzThompson52].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from obda_bm.budget.pmf import Ints

Mask: TypeAlias = npt.NDArray[np.bool_]
Joins: TypeAlias = Callable[[int, Ints], Mask]
"""Which of the values kept on the other side join an arrival's value."""

ERRORS = 2.0
"""An interval reaches so many standard errors to either side: some 95 % of cases."""
NONE_SEEN = 3.0
"""If none of n ghosts missed anything, fewer than 3/n did, in 95 % of cases (rule of three)."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of all results that was found: an estimate and the ends of its interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.estimate:.1%}"
        return f"{self.estimate:.1%} ({self.low:.1%} to {self.high:.1%})"


def equal(value: int, others: Ints) -> Mask:
    """The condition of an equality join."""
    return np.asarray(others == value)


class Ghosts:
    """A sample of the tuples evicted from one side, and what each would have found since."""

    def __init__(self, joins: Joins, limit: int, seed: int) -> None:
        self._joins, self._limit = joins, limit
        self._rng = np.random.default_rng(seed)
        self._count = 0
        self._values = np.zeros(limit, np.int64)
        self._draws = np.zeros(limit)
        self._missed = np.zeros(limit, np.int64)
        self._items: list[object] = []
        self.share = 1.0
        self.evicted = 0

    def evict(self, value: int, item: object = None) -> None:
        """A tuple was evicted; it may become a ghost. `item` is what `meet` asks about."""
        self.evicted += 1
        drawn = self._rng.random()
        if drawn >= self.share:
            return
        if self._count == self._limit:
            self._halve()
            if drawn >= self.share:
                return
        at = self._count
        self._values[at], self._draws[at], self._missed[at] = value, drawn, 0
        self._items.append(item)
        self._count += 1

    def meet(self, value: int, confirm: Callable[[object], bool] | None = None) -> None:
        """The other side has produced `value`; ghosts that join it have missed a result.

        Where there are other conditions, `confirm` says whether they hold for a ghost's item.
        """
        if not self._count:
            return
        joined = self._joins(value, self._values[: self._count])
        if confirm is not None:
            for at in np.flatnonzero(joined).tolist():
                joined[at] = confirm(self._items[at])
        self._missed[: self._count] += joined

    def _halve(self) -> None:
        while self._count == self._limit:
            self.share /= 2
            stays = np.flatnonzero(self._draws[: self._count] < self.share)
            for column in (self._values, self._draws, self._missed):
                column[: len(stays)] = column[stays]
            self._items = [self._items[at] for at in stays.tolist()]
            self._count = len(stays)

    @property
    def missed(self) -> float:
        """The estimated number of results that evicted tuples would have found."""
        return float(self._missed[: self._count].sum() / self.share)

    @property
    def variance(self) -> float:
        """Of the estimate, over the choice of ghosts."""
        squares = float((self._missed[: self._count].astype(float) ** 2).sum())
        if self.share < 1 and not squares:
            return (NONE_SEEN / (ERRORS * self.share)) ** 2
        return squares * (1 - self.share) / self.share**2


def recall(found: int, sides: tuple[Ghosts, ...]) -> Recall:
    """The recall of a join that has found `found` results, from the ghosts of all its sides."""
    missed = sum(ghosts.missed for ghosts in sides)
    error = ERRORS * float(np.sqrt(sum(ghosts.variance for ghosts in sides)))
    least, most = max(0.0, missed - error), missed + error
    return Recall(_share(found, missed), _share(found, most), _share(found, least))


def _share(found: int, missed: float) -> float:
    return found / (found + missed) if found + missed > 0 else 1.0
