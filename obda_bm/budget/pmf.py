"""Distributions of whole numbers: the noise of a stream and the steps of a walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pmf:
    """`weights[i]` is the chance of the value `low + i`; all others have none."""

    low: int
    weights: Floats

    def __post_init__(self) -> None:
        if not len(self.weights) or np.any(self.weights < 0):
            raise ValueError("a distribution needs weights, none of them negative")
        if abs(float(self.weights.sum()) - 1) > 1e-9:
            raise ValueError(f"weights must sum to 1, got {self.weights.sum()}")

    @property
    def high(self) -> int:
        return self.low + len(self.weights) - 1

    @property
    def support(self) -> Ints:
        return np.arange(self.low, self.high + 1)

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        mean = float(self.weights @ self.support)
        return float(np.sqrt(self.weights @ (self.support - mean) ** 2))

    def chance(self, values: npt.ArrayLike) -> Floats:
        """The chance of each of `values`.

        >>> uniform(1).chance([0, 1, 2]).round(3).tolist()
        [0.333, 0.333, 0.0]
        """
        index = np.asarray(values, np.int64) - self.low
        inside = (index >= 0) & (index < len(self.weights))
        return np.where(inside, self.weights[np.where(inside, index, 0)], 0.0)

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...]) -> Ints:
        # By inversion: quicker than rng.choice, and the same draws for every shape.
        edges = np.cumsum(self.weights)
        edges[-1] = 1.0
        return np.searchsorted(edges, rng.random(size), side="right") + self.low


def uniform(width: int) -> Pmf:
    """Equal chances on [-width, width]."""
    size = 2 * width + 1
    return Pmf(-width, np.full(size, 1 / size))


def bounded_normal(sigma: float, width: int) -> Pmf:
    """Proportional to the normal density at the whole numbers of [-width, width]."""
    support = np.arange(-width, width + 1)
    weights = np.exp(-0.5 * (support / sigma) ** 2)
    return Pmf(-width, weights / weights.sum())


def normal(sigma: float) -> Pmf:
    """The same without a bound that matters: eight standard deviations either way."""
    return bounded_normal(sigma, max(1, int(np.ceil(8 * sigma))))


def empirical(values: Ints) -> Pmf:
    """The relative frequencies of `values`.

    >>> empirical(np.array([3, 5, 5, 3])).weights.tolist()
    [0.5, 0.0, 0.5]
    """
    low = int(values.min())
    counts = np.bincount(values - low)
    return Pmf(low, counts / counts.sum())
