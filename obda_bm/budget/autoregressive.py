"""Streams that come back to a mean: AR(1), with or without a season ([X] §6.5).

Values are whole numbers, so a chance is the normal density at them; noise that is wide against
one unit makes that a distribution (REAL: 42 units).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obda_bm.budget.models import Seen
from obda_bm.budget.pmf import Floats, Ints


@dataclass(frozen=True, slots=True)
class Season:
    """level + cosine·cos(2πt/period) + sine·sin(2πt/period)."""

    level: float
    cosine: float = 0.0
    sine: float = 0.0
    period: float = 1.0

    def at(self, time: npt.ArrayLike) -> Floats:
        angle = 2 * np.pi * np.asarray(time, float) / self.period
        return np.asarray(self.level + self.cosine * np.cos(angle) + self.sine * np.sin(angle))


@dataclass(frozen=True, slots=True)
class AutoRegressive:
    """X_t − m(t) = phi·(X_{t−1} − m(t−1)) + Y_t, where m is the season and Y normal.

    With a constant season it is [X]'s X_t = φ0 + φ1·X_{t−1} + Y_t, φ0 = (1 − phi)·level.
    """

    season: Season
    phi: float
    sigma: float

    def __post_init__(self) -> None:
        if not 0 < abs(self.phi) < 1:
            raise ValueError(f"phi must lie between 0 and 1 in size, got {self.phi}")

    @property
    def intercept(self) -> float:
        """[X]'s φ0, of the level."""
        return (1 - self.phi) * self.season.level

    def chances(self, seen: Seen, values: Ints, ahead: Ints) -> Floats:
        here = seen.last - float(self.season.at(seen.now))
        mean = self.season.at(seen.now + ahead) + self.phi**ahead * here
        spread = self.sigma * np.sqrt((1 - self.phi ** (2 * ahead)) / (1 - self.phi**2))
        distance = (values[None, :] - mean[:, None]) / spread[:, None]
        density = np.exp(-0.5 * distance**2) / (np.sqrt(2 * np.pi) * spread[:, None])
        return np.asarray(np.minimum(density, 1.0))

    def sample(self, rng: np.random.Generator, runs: int, length: int) -> Ints:
        noise = rng.normal(0, self.sigma, (runs, length))
        noise[:, 0] /= np.sqrt(1 - self.phi**2)
        for time in range(1, length):
            noise[:, time] += self.phi * noise[:, time - 1]
        return np.rint(noise + self.season.at(np.arange(length))).astype(np.int64)


def fit_autoregressive(values: Ints) -> AutoRegressive:
    """AR(1) by conditional maximum likelihood, which is least squares of X_t on X_{t−1}."""
    return fit_seasonal(values, np.zeros((2, len(values))), period=1.0)


def fit_season(values: Ints, start: int, period: float) -> AutoRegressive:
    """Seasonal AR(1) of values that begin at time `start`, by the same likelihood."""
    angle = 2 * np.pi * (start + np.arange(len(values))) / period
    return fit_seasonal(values, np.stack([np.cos(angle), np.sin(angle)]), period)


def fit_seasonal(values: Ints, waves: Floats, period: float) -> AutoRegressive:
    """AR(1) around a level plus multiples of `waves`.

    The likelihood is bilinear in phi and the season, so each is least squares given the other;
    they settle in a few rounds.
    """
    design = np.concatenate([np.ones((1, len(values))), waves]).T
    phi, season = 0.5, np.zeros(design.shape[1])
    for _ in range(50):
        season = _least_squares(design[1:] - phi * design[:-1], values[1:] - phi * values[:-1])
        rest = values - design @ season
        before, phi = phi, _slope(rest[1:], rest[:-1])
        if abs(phi - before) < 1e-12:
            break
    noise = rest[1:] - phi * rest[:-1]
    level, cosine, sine = season.tolist()
    wave = Season(level, cosine, sine, period)
    return AutoRegressive(wave, phi or 1e-9, float(noise.std()) or 1e-9)


def _least_squares(design: Floats, target: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(design, target)[0])


def _slope(later: Floats, earlier: Floats) -> float:
    """The phi of least squares, kept inside the range in which the stream comes back."""
    square = float(earlier @ earlier)
    return float(np.clip(float(later @ earlier) / square, -0.999, 0.999)) if square else 0.0
