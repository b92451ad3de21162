"""Stochastic models of a stream: the chance of each value at each time to come ([X] §5).

A model answers one question, `chances`: given what was seen, with what probability is the value
`v` produced after Δ steps. Whatever answers it is a model, a user's own class too. A
model that only looks at how far `v` lies from an anchor (the trend now, the walk's position) says
so by `anchor` and `offset_chances`; its benefits can then be tabulated once ([X] Corollary 5 and
Theorem 5 (2)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from obda_bm.budget.pmf import Floats, Ints, Pmf


@dataclass(frozen=True, slots=True)
class Seen:
    """What a model may know of its stream: the time, and the value produced then."""

    now: int
    last: int


class Model(Protocol):
    """A discrete stochastic process, one value per time step."""

    def chances(self, seen: Seen, values: Ints, ahead: Ints) -> Floats:
        """Pr{X_{now+Δ} = v | seen}: one row for each Δ of `ahead`, one column per value."""
        ...

    def sample(self, rng: np.random.Generator, runs: int, length: int) -> Ints:
        """`runs` independent streams of `length` values, one per row."""
        ...


@runtime_checkable
class ShiftInvariant(Protocol):
    """A model whose chances depend on `v - anchor(seen)` alone."""

    def anchor(self, now: int, last: Ints) -> Ints:
        """Where the process stands, for each run."""
        ...

    def offset_chances(self, offsets: Ints, ahead: Ints) -> Floats:
        """Pr{X_{now+Δ} = anchor + u | seen}: one row for each Δ, one column per offset u."""
        ...

    @property
    def reach(self) -> tuple[int, int]:
        """Offsets below the first, or above the last, need no benefit of their own."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Offline:
    """A stream that is known: one value for each time; nothing follows the last."""

    values: Ints

    def chances(self, seen: Seen, values: Ints, ahead: Ints) -> Floats:
        when = seen.now + ahead
        known = when < len(self.values)
        coming = self.values[np.where(known, when, 0)]
        return np.where(known[:, None], coming[:, None] == values[None, :], 0.0)

    def sample(self, rng: np.random.Generator, runs: int, length: int) -> Ints:
        return np.tile(self.values[:length], (runs, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Stationary:
    """Independent values, always of the same distribution ([X] §5.2)."""

    pmf: Pmf

    def chances(self, seen: Seen, values: Ints, ahead: Ints) -> Floats:
        return np.tile(self.pmf.chance(values), (len(ahead), 1))

    def sample(self, rng: np.random.Generator, runs: int, length: int) -> Ints:
        return self.pmf.sample(rng, (runs, length))

    def anchor(self, now: int, last: Ints) -> Ints:
        return np.zeros_like(last)

    def offset_chances(self, offsets: Ints, ahead: Ints) -> Floats:
        return np.tile(self.pmf.chance(offsets), (len(ahead), 1))

    @property
    def reach(self) -> tuple[int, int]:
        return self.pmf.low, self.pmf.high


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """Stationary values that lie far apart, such as codes of texts; `values` rise."""

    values: Ints
    weights: Floats

    def chances(self, seen: Seen, values: Ints, ahead: Ints) -> Floats:
        place = np.minimum(np.searchsorted(self.values, values), len(self.values) - 1)
        chance = np.where(self.values[place] == values, self.weights[place], 0.0)
        return np.tile(chance, (len(ahead), 1))

    def sample(self, rng: np.random.Generator, runs: int, length: int) -> Ints:
        return rng.choice(self.values, (runs, length), p=self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class LinearTrend:
    """X_t = slope·t + start + Y_t with independent noise Y ([X] §5.3, §5.4).

    The trend is rounded to the values of the stream. With a whole slope, as in [X], chances depend
    on the offset from the trend exactly (its Corollary 5 needs a | (v' − v)); with another one
    `offset_chances` may be off by one value, which wide noise does not notice.
    """

    noise: Pmf
    slope: float = 1
    start: float = 0

    def trend(self, time: npt.ArrayLike) -> Ints:
        return np.rint(self.slope * np.asarray(time) + self.start).astype(np.int64)

    def chances(self, seen: Seen, values: Ints, ahead: Ints) -> Floats:
        return self.noise.chance(values[None, :] - self.trend(seen.now + ahead)[:, None])

    def sample(self, rng: np.random.Generator, runs: int, length: int) -> Ints:
        return self.trend(np.arange(length)) + self.noise.sample(rng, (runs, length))

    def anchor(self, now: int, last: Ints) -> Ints:
        return np.full_like(last, self.trend(now))

    def offset_chances(self, offsets: Ints, ahead: Ints) -> Floats:
        steps = np.rint(self.slope * ahead).astype(np.int64)
        return self.noise.chance(offsets[None, :] - steps[:, None])

    @property
    def reach(self) -> tuple[int, int]:
        # What the trend has passed is lost; what lies ahead is only as far as a partner's noise.
        width = self.noise.high - self.noise.low + 1
        ahead = int(np.ceil(4 * (width + abs(self.slope))))
        return (
            (self.noise.low, self.noise.high + ahead)
            if self.slope >= 0
            else (self.noise.low - ahead, self.noise.high)
        )


@dataclass(frozen=True, slots=True, eq=False)
class RandomWalk:
    """X_t = drift + X_{t−1} + Y_t with independent steps Y ([X] §5.5)."""

    step: Pmf
    drift: int = 0
    start: int = 0

    def chances(self, seen: Seen, values: Ints, ahead: Ints) -> Floats:
        return self.offset_chances(values - seen.last, ahead)

    def sample(self, rng: np.random.Generator, runs: int, length: int) -> Ints:
        return self.start + np.cumsum(self.step.sample(rng, (runs, length)) + self.drift, axis=1)

    def anchor(self, now: int, last: Ints) -> Ints:
        return last

    def offset_chances(self, offsets: Ints, ahead: Ints) -> Floats:
        """The Δ-fold convolutions of the step, by the powers of its characteristic function."""
        span = self._span(offsets, int(ahead.max()))
        size = 1 << int(np.ceil(np.log2(2 * span + 1)))
        step = np.zeros(size)
        np.add.at(step, (self.step.support + self.drift) % size, self.step.weights)
        power = np.fft.rfft(step)
        powers = power[None, :] ** ahead[:, None]
        dense = np.fft.irfft(powers, size, axis=1)[:, offsets % size]
        return np.clip(dense, 0.0, 1.0)

    def _span(self, offsets: Ints, horizon: int) -> int:
        """Beyond this the walk does not come, up to a chance of less than 1e-15."""
        spread = 8 * self.step.deviation * np.sqrt(horizon) + abs(self.drift) * horizon
        reach = int(np.ceil(spread)) + max(-self.step.low, self.step.high)
        return max(reach, int(np.abs(offsets).max(initial=0)) + 1)

    @property
    def reach(self) -> tuple[int, int]:
        far = int(np.ceil(30 * max(1.0, self.step.deviation + abs(self.drift))))
        return -far, far
