"""What a policy ranks by: a number made from a benefit, tabulated where the model allows.

`Index` is how much a tuple deserves its place, given its expected cumulative benefit: HEEB's
estimate, or the rate index that needs no estimate of lifetimes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

import numpy as np

from obda_bm.budget.benefit import caching_benefit, joining_benefit, rate_index
from obda_bm.budget.models import LinearTrend, ShiftInvariant
from obda_bm.budget.pmf import Floats, Ints
from obda_bm.budget.survival import Exponential, Fixed, Forever, Inverse, estimated_benefit


@dataclass(frozen=True, slots=True)
class Rate:
    """max_Δ B(Δ)/Δ."""


RATE = Rate()
Index: TypeAlias = Rate | Fixed | Forever | Inverse | Exponential

HORIZON = 400
"""How many steps a table looks ahead; benefits beyond it hardly change an order."""


class Problem(Enum):
    """Whether a kept tuple can pay again and again, or is a cached row that pays once."""

    JOINING = auto()
    CACHING = auto()


def benefit_of(chances: Floats, problem: Problem) -> Floats:
    """The expected cumulative benefit, for references independent of each other."""
    return joining_benefit(chances) if problem is Problem.JOINING else caching_benefit(chances)


def index_of(benefit: Floats, index: Index) -> Floats:
    """The index of each candidate, a column of `benefit`."""
    match index:
        case Rate():
            return rate_index(benefit)
        case _:
            return estimated_benefit(benefit, index)


@dataclass(frozen=True, slots=True, eq=False)
class OffsetTable:
    """The index of a tuple by its offset from the partner's anchor.

    Offsets outside the table score below all in it, the further the lower: a walk comes back
    later from further away, and what lies behind a trend is worth nothing at any distance.
    """

    low: int
    scores: Floats

    def look_up(self, offsets: Ints) -> Floats:
        index = offsets - self.low
        nearest = np.clip(index, 0, len(self.scores) - 1)
        return np.asarray(self.scores[nearest] - np.abs(index - nearest))


def tabulate(
    partner: ShiftInvariant,
    index: Index,
    problem: Problem = Problem.JOINING,
    horizon: int = HORIZON,
) -> OffsetTable:
    """The index against every offset from `partner` that matters, by its definition."""
    low, high = partner.reach
    offsets = np.arange(low - 1, high + 2)
    benefit = benefit_of(partner.offset_chances(offsets, horizon), problem)
    return OffsetTable(low - 1, index_of(benefit, index))


def is_unimodal(scores: Floats, tolerance: float = 1e-12) -> bool:
    """Whether the scores rise and then fall, so that the lowest of any range is at its ends.

    >>> is_unimodal(np.array([0.0, 1, 1, 0.5])), is_unimodal(np.array([1.0, 0, 1]))
    (True, False)
    """
    change = np.diff(scores)
    falls = np.flatnonzero(change < -tolerance)
    return not len(falls) or not np.any(change[falls[0] :] > tolerance)


def remaining_life(partner: LinearTrend, now: int, values: Ints) -> Ints:
    """For how many more steps a rising `partner` can produce each value; 0 if it has passed."""
    if partner.slope <= 0:
        raise ValueError("lifetimes need a rising trend")
    passed = values - (partner.slope * now + partner.start + partner.noise.low)
    return np.maximum(passed // partner.slope, 0)
