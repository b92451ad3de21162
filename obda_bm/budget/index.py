"""What a policy ranks by: a number made from a benefit, tabulated where the model allows.

`Index` is how much a tuple deserves its place, given its expected cumulative benefit: HEEB's
estimate, or the rate index that needs no estimate of lifetimes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

import numpy as np

from obda_bm.budget.benefit import (
    caching_benefit,
    caching_cost,
    joining_benefit,
    joining_cost,
    rate_index,
    surplus,
)
from obda_bm.budget.models import LinearTrend, ShiftInvariant
from obda_bm.budget.pmf import Floats, Ints
from obda_bm.budget.survival import Exponential, Fixed, Forever, Inverse, estimated_benefit


@dataclass(frozen=True, slots=True)
class Rate:
    """max_Δ B(Δ)/Δ."""


@dataclass(frozen=True, slots=True)
class Surplus:
    """max_Δ (B(Δ) − price·Δ), the price being what a place earns per step elsewhere.

    Tuples that are not worth the price come after all others, by their rate.
    """

    price: float


RATE = Rate()
Index: TypeAlias = Rate | Surplus | Fixed | Forever | Inverse | Exponential

RATE_AFTER_SURPLUS = 1e-3
"""The weight of the rate beside the surplus: it orders what has no surplus, and little else."""

AHEAD = np.arange(1, 401)
"""The steps that a table looks ahead; benefits beyond them hardly change an order."""


class Problem(Enum):
    """Whether a kept tuple can pay again and again, or is a cached row that pays once."""

    JOINING = auto()
    CACHING = auto()


def benefit_and_cost(chances: Floats, ahead: Ints, problem: Problem) -> tuple[Floats, Floats]:
    """B(Δ), and how long keeping a tuple for Δ steps takes its place."""
    if problem is Problem.JOINING:
        benefit = joining_benefit(chances, ahead)
        return benefit, joining_cost(benefit, ahead)
    benefit = caching_benefit(chances, ahead)
    return benefit, caching_cost(benefit, ahead)


def index_of(chances: Floats, ahead: Ints, index: Index, problem: Problem) -> Floats:
    """The index of each candidate, a column of `chances`."""
    benefit, cost = benefit_and_cost(chances, ahead, problem)
    match index:
        case Rate():
            return rate_index(benefit, cost)
        case Surplus(price):
            return surplus(benefit, cost, price) + RATE_AFTER_SURPLUS * rate_index(benefit, cost)
        case _:
            return estimated_benefit(benefit, ahead, index)


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
    ahead: Ints = AHEAD,
) -> OffsetTable:
    """The index against every offset from `partner` that matters, by its definition."""
    low, high = partner.reach
    offsets = np.arange(low - 1, high + 2)
    chances = partner.offset_chances(offsets, ahead)
    return OffsetTable(low - 1, index_of(chances, ahead, index, problem))


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
    return np.asarray(np.maximum(np.floor(passed / partner.slope), 0), np.int64)
