"""The expected cumulative benefit of keeping a tuple, and when one benefit dominates another.

Benefits are arrays with one row for each Δ of `ahead`, which begins at 1 and rises, and one column
per candidate ([X] §4). Where `ahead` leaves out steps, a chance stands for those since the row
before it.
"""

from __future__ import annotations

import numpy as np

from obda_bm.budget.pmf import Floats, Ints


def steps_ahead(until: int) -> Ints:
    """Every step at first, then ever fewer: a sixth more each time.

    >>> steps_ahead(12).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    >>> len(steps_ahead(400))
    35
    """
    steps = [1]
    while steps[-1] < until:
        steps.append(min(until, max(steps[-1] + 1, steps[-1] * 7 // 6)))
    return np.array(steps)


def joining_benefit(chances: Floats, ahead: Ints) -> Floats:
    """B(Δ) for tuples of a stream: the expected number of partners by then ([X] Lemma 1).

    >>> joining_benefit(np.array([[0.5], [0.25]]), np.array([1, 2]))[:, 0].tolist()
    [0.5, 0.75]
    """
    return np.cumsum(chances * _gaps(ahead), axis=0)


def caching_benefit(chances: Floats, ahead: Ints) -> Floats:
    """B(Δ) for tuples of a relation: the chance of being referenced by then ([X] Corollary 1).

    For references that are independent of each other; see `surface` for those that are not.

    >>> caching_benefit(np.array([[0.5], [0.5]]), np.array([1, 2]))[:, 0].tolist()
    [0.5, 0.75]
    """
    return np.asarray(1 - np.cumprod((1 - chances) ** _gaps(ahead), axis=0), np.float64)


def _gaps(ahead: Ints) -> Ints:
    """How many steps each row stands for."""
    return np.diff(ahead, prepend=0)[:, None]


def window_benefit(benefit: Floats, ahead: Ints, remaining: Ints) -> Floats:
    """B(Δ) under a sliding window that each tuple leaves after `remaining` steps ([X] §7)."""
    last = np.searchsorted(ahead, remaining, side="right") - 1
    until = np.minimum(np.arange(len(ahead))[:, None], np.maximum(last, 0)[None, :])
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

    >>> dominated_subset(np.array([[3.0, 1, 2], [3, 2, 1]]), 2) == {1, 2}
    True
    >>> dominated_subset(np.array([[3.0, 1, 2], [3, 2, 1]]), 1) == set()
    True
    """
    order = np.argsort(benefit.sum(axis=0), kind="stable")
    for size in range(min(at_most, len(order)), 0, -1):
        below, above = benefit[:, order[:size]], benefit[:, order[size:]]
        if np.all(above.min(axis=1, initial=np.inf) >= below.max(axis=1)):
            return frozenset(int(i) for i in order[:size])
    return frozenset()


def joining_cost(benefit: Floats, ahead: Ints) -> Floats:
    """How long a tuple of a stream takes its place when it is kept for Δ steps: Δ."""
    return np.broadcast_to(ahead[:, None].astype(float), benefit.shape)


def caching_cost(benefit: Floats, ahead: Ints) -> Floats:
    """How long a cached row is expected to take its place when it is kept for Δ steps.

    A row that is referenced has paid, and begins anew ([X] §2 makes it another tuple), so only the
    steps until the first reference count: Σ_{j<Δ} (1 − B(j)).
    """
    before = np.concatenate([np.zeros_like(benefit[:1]), benefit[:-1]])
    return np.cumsum(_gaps(ahead) * (1 - before), axis=0)


def rate_index(benefit: Floats, cost: Floats) -> Floats:
    """max_Δ B(Δ)/cost(Δ): the best rate at which a tuple can pay for its place, per candidate.

    Where a place has a price per step, a tuple is worth keeping as long as some Δ pays for itself;
    the index is the highest price at which one does. It needs no estimate of lifetimes.
    """
    return np.asarray((benefit / np.maximum(cost, 1e-300)).max(axis=0))


def surplus(benefit: Floats, cost: Floats, price: float) -> Floats:
    """max_Δ (B(Δ) − price·cost(Δ)), or 0: what is lost by discarding a tuple, at that price."""
    return np.asarray(np.maximum((benefit - price * cost).max(axis=0), 0.0))
