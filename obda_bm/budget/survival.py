"""L(Δ), the chance that a tuple is still kept after Δ steps, and HEEB built on it ([X] §4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from obda_bm.budget.pmf import Floats, Ints


@dataclass(frozen=True, slots=True)
class Fixed:
    """Every tuple goes after exactly `steps` steps."""

    steps: int


@dataclass(frozen=True, slots=True)
class Forever:
    """No tuple ever goes; for caching, where the benefit is at most 1."""


@dataclass(frozen=True, slots=True)
class Inverse:
    """L(Δ) = 1/Δ; for caching."""


@dataclass(frozen=True, slots=True)
class Exponential:
    """L(Δ) = e^(−Δ/alpha)."""

    alpha: float

    def __post_init__(self) -> None:
        if not self.alpha > 0:
            raise ValueError(f"alpha must be positive, got {self.alpha}")

    @property
    def factor(self) -> float:
        """What is left after one step."""
        return float(np.exp(-1 / self.alpha))


Survival: TypeAlias = Fixed | Forever | Inverse | Exponential


def survival_curve(survival: Survival, ahead: Ints) -> Floats:
    """L(Δ) for each Δ of `ahead`."""
    match survival:
        case Fixed(limit):
            return (ahead <= limit).astype(float)
        case Forever():
            return np.ones(len(ahead))
        case Inverse():
            return np.asarray(1 / ahead)
        case Exponential(alpha):
            return np.exp(-ahead / alpha)


def estimated_benefit(benefit: Floats, ahead: Ints, survival: Survival) -> Floats:
    """H for each candidate: the benefit of each step, weighed by the chance to be there."""
    per_step = np.diff(benefit, axis=0, prepend=0.0)
    return np.asarray(survival_curve(survival, ahead) @ per_step)


def alpha_of_lifetime(lifetime: float) -> float:
    """The alpha under which tuples live for `lifetime` steps in the mean ([X] §4.3).

    >>> round(alpha_of_lifetime(3.0), 4)
    2.4663
    """
    if lifetime <= 1:
        raise ValueError(f"a mean lifetime must exceed one step, got {lifetime}")
    return float(-1 / np.log(1 - 1 / lifetime))
