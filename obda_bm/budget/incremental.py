"""HEEB with L^exp, computed from its own values at other times or for other values ([X] §4.4).

[X] prints recursions forward in time. They multiply the error by e^(1/α) at each step, so that in
double precision nothing but noise is left after some 35·α steps. The same equation, read backward,
divides the error by as much; `backward_benefit` and `backward_table` use it so.
"""

from __future__ import annotations

import numpy as np

from obda_bm.budget.index import OffsetTable
from obda_bm.budget.models import LinearTrend
from obda_bm.budget.pmf import Floats
from obda_bm.budget.survival import Exponential


def printed_step(benefit: float, chance: float, survival: Exponential) -> float:
    """[X] Corollary 3: H at t from H at t−1 and the chance at t; unstable, see above."""
    return benefit / survival.factor - chance


def printed_caching_step(benefit: float, chance: float, survival: Exponential) -> float:
    """[X] Corollary 4, the same for caching; a chance of 1 leaves H undetermined."""
    if chance >= 1:
        raise ValueError("a certain reference leaves nothing to divide by")
    return (benefit / survival.factor - chance) / (1 - chance)


def backward_benefit(chances: Floats, survival: Exponential) -> Floats:
    """H at each time for a tuple that joins with `chances[t]` at time t; nothing comes after.

    >>> backward_benefit(np.array([0.0, 1.0]), Exponential(1 / np.log(2))).tolist()
    [0.5, 0.0]
    """
    benefit = np.zeros(len(chances))
    for time in range(len(chances) - 1, 0, -1):
        benefit[time - 1] = survival.factor * (benefit[time] + chances[time])
    return benefit


def backward_caching_benefit(chances: Floats, survival: Exponential) -> Floats:
    """The same for a cached row, which only its next reference pays: stable at any chance."""
    benefit = np.zeros(len(chances))
    for time in range(len(chances) - 1, 0, -1):
        later = (1 - chances[time]) * benefit[time]
        benefit[time - 1] = survival.factor * (later + chances[time])
    return benefit


def backward_table(partner: LinearTrend, survival: Exponential) -> OffsetTable:
    """H by the offset from a rising trend: h(u) = q·(h(u−a) + p(u−a)) ([X] Corollary 5).

    A tuple at offset u will be at u−a after one step, so each value follows from one behind it;
    what lies behind the noise is worth nothing.
    """
    slope = int(partner.slope)
    if slope != partner.slope or slope < 1:
        raise ValueError("a table by offset needs a whole, rising slope")
    low, high = partner.reach
    benefit = np.zeros(high + 2 - (low - 1))
    chance = partner.noise.chance(np.arange(low - 1, high + 2))
    for u in range(slope, len(benefit)):
        benefit[u] = survival.factor * (benefit[u - slope] + chance[u - slope])
    return OffsetTable(low - 1, benefit)


def pooled_rate_table(partner: LinearTrend) -> OffsetTable:
    """The rate index by the offset from a trend of slope 1, in one pass.

    The index is the best mean of the chances that lie just behind an offset. Taking one more chance
    in front, the best stretch is it alone, or it with the best stretch behind it, and so on: the
    stretches are pooled as in isotonic regression ([ABERS55]), each at most once.
    """
    if partner.slope != 1:
        raise ValueError("pooling needs a slope of 1")
    low, high = partner.reach
    chances = partner.noise.chance(np.arange(low - 1, high + 1)).tolist()
    rates = np.zeros(len(chances) + 1)
    sums: list[float] = []
    lengths: list[int] = []
    for offset, chance in enumerate(chances):
        total, length = chance, 1
        while sums and sums[-1] * length >= total * lengths[-1]:
            total += sums.pop()
            length += lengths.pop()
        sums.append(total)
        lengths.append(length)
        rates[offset + 1] = total / length
    return OffsetTable(low - 1, rates)
