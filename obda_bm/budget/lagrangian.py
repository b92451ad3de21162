"""The most that any online policy can hope for, by giving memory a price.

If every slot costs λ per step, tuples no longer compete: each stays as long as it pays for itself.
Whatever the price, that earns at least as much as any policy within the memory, so the lowest
total over all prices is a ceiling: min_λ λ·k + Σ E[max_Δ (B(Δ) − λΔ)]. Unlike OPT-offline it does
not know the future, so it is the fair one to measure policies by.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obda_bm.budget.benefit import joining_benefit
from obda_bm.budget.index import AHEAD
from obda_bm.budget.models import LinearTrend
from obda_bm.budget.pmf import Floats


@dataclass(frozen=True, slots=True)
class Ceiling:
    """At most `results` per step can be expected; `price` is what a slot is worth per step."""

    results: float
    price: float


def ceiling(r: LinearTrend, s: LinearTrend, memory: int, prices: Floats | None = None) -> Ceiling:
    """The ceiling for two trends of one slope, where every step sees the same arrivals."""
    if r.slope != s.slope:
        raise ValueError("the ceiling needs trends that keep their distance")
    tried = np.linspace(0, 1, 4001) if prices is None else prices
    totals = tried * memory + _surplus(r, s, tried) + _surplus(s, r, tried)
    best = int(totals.argmin())
    return Ceiling(float(totals[best]), float(tried[best]))


def _surplus(kept: LinearTrend, partner: LinearTrend, prices: Floats) -> Floats:
    """E[max_Δ (B(Δ) − λΔ)] for an arrival of `kept`, at each price λ; not to keep it pays 0."""
    distance = int(kept.trend(0)) - int(partner.trend(0))
    offsets = kept.noise.support + distance
    benefit = joining_benefit(partner.offset_chances(offsets, AHEAD), AHEAD)
    surplus = np.zeros((len(prices), len(offsets)))
    for delta, row in zip(AHEAD, benefit, strict=True):
        np.maximum(surplus, row[None, :] - prices[:, None] * delta, out=surplus)
    return np.asarray(surplus @ kept.noise.weights)
