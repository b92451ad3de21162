"""The expected cumulative benefit of keeping a tuple, and when one benefit dominates another.

Benefits are arrays with one row for each Δ in 1…horizon and one column per candidate ([X] §4).
"""

from __future__ import annotations

import numpy as np

from obda_bm.budget.pmf import Floats, Ints


def joining_benefit(chances: Floats) -> Floats:
    """B(Δ) for tuples of a stream: the expected number of partners by then ([X] Lemma 1).

    >>> joining_benefit(np.array([[0.5], [0.25]]))[:, 0].tolist()
    [0.5, 0.75]
    """
    return np.cumsum(chances, axis=0)


def caching_benefit(chances: Floats) -> Floats:
    """B(Δ) for tuples of a relation: the chance of being referenced by then ([X] Corollary 1).

    For references that are independent of each other; see `surface` for those that are not.

    >>> caching_benefit(np.array([[0.5], [0.5]]))[:, 0].tolist()
    [0.5, 0.75]
    """
    return np.asarray(1 - np.cumprod(1 - chances, axis=0), np.float64)


def window_benefit(benefit: Floats, remaining: Ints) -> Floats:
    """B(Δ) under a sliding window that each tuple leaves after `remaining` steps ([X] §7)."""
    horizon = len(benefit)
    steps = np.arange(1, horizon + 1)[:, None]
    until = np.clip(np.minimum(steps, remaining[None, :]), 1, horizon) - 1
    flat = np.take_along_axis(benefit, until, axis=0)
    return np.where(remaining[None, :] <= 0, 0.0, flat)


def dominates(x: Floats, y: Floats) -> bool:
    """Whether keeping x is never worse than keeping y ([X] §4.2)."""
    return bool(np.all(x >= y))


def strongly_dominates(x: Floats, y: Floats) -> bool:
    """Whether keeping x is always better than keeping y."""
    return bool(np.all(x > y))


def dominated_subset(benefit: Floats, at_most: int) -> frozenset[int]:
    """The largest dominated subset of at most `at_most` candidates ([X] Corollary 2).

    An optimal algorithm may discard it at once, provided that the streams are independent of each
    other ([X] Theorem 3 needs it). Dominated subsets are nested up to ties, so they are found from
    the bottom of the order by total benefit.

    >>> dominated_subset(np.array([[3, 1, 2], [3, 2, 1]]), 2) == {1, 2}
    True
    >>> dominated_subset(np.array([[3, 1, 2], [3, 2, 1]]), 1) == set()
    True
    """
    order = np.argsort(benefit.sum(axis=0), kind="stable")
    for size in range(min(at_most, len(order)), 0, -1):
        below, above = benefit[:, order[:size]], benefit[:, order[size:]]
        if np.all(above.min(axis=1, initial=np.inf) >= below.max(axis=1)):
            return frozenset(int(i) for i in order[:size])
    return frozenset()


def rate_index(benefit: Floats) -> Floats:
    """max_Δ B(Δ)/Δ: the best rate at which a tuple can pay for its place, per candidate.

    Where memory has a price per step, a tuple is worth keeping as long as some Δ pays for itself;
    the index is the highest price at which one does. It needs no estimate of lifetimes.
    """
    steps = np.arange(1, len(benefit) + 1)[:, None]
    return np.asarray((benefit / steps).max(axis=0))
