"""Models from what was observed: one fitter per kind, and the choice among them.

The choice is by prediction: every kind is fitted to the first half, and the one that foretells the
second half best is fitted to all. That needs no count of parameters, so that fitters of the user's
own can join in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from obda_bm.budget.autoregressive import fit_autoregressive, fit_season
from obda_bm.budget.models import Frequencies, LinearTrend, Model, RandomWalk, Seen, Stationary
from obda_bm.budget.pmf import Floats, Ints, Pmf, bounded_normal

Fitter: TypeAlias = Callable[[Ints, int], Model]
"""A model of values of which the first came at the given time."""

CHECKED = 300
"""At most so many predictions are compared."""
WIDEST = 100_000
"""Values further apart than this are taken for names, not for numbers that could be near."""
FLOOR_CHANCE = 1e-4
"""No prediction counts as worse than this: one surprise must not decide."""


def fit_stationary(values: Ints, start: int) -> Stationary:
    """Relative frequencies, a little flattened: what never came may come."""
    low, high = int(values.min()), int(values.max())
    counts = np.bincount(values - low, minlength=high - low + 1) + 0.5
    return Stationary(Pmf(low, counts / counts.sum()))


def fit_frequencies(values: Ints, start: int) -> Frequencies:
    """Relative frequencies of values that are too far apart for an array."""
    known, counts = np.unique(values, return_counts=True)
    return Frequencies(known, counts / counts.sum())


def fit_trend(values: Ints, start: int) -> LinearTrend:
    """A straight line by least squares and the noise around it."""
    times = start + np.arange(len(values))
    slope, level = (float(c) for c in np.polyfit(times, values, 1))
    rest = values - (slope * times + level)
    error = float(rest.std() / max(times.std() * np.sqrt(len(times)), 1e-9))
    if abs(slope - round(slope)) <= 3 * error:
        # The data allow a whole slope, which does not run away where it is extrapolated.
        slope = float(round(slope))
        level = float(np.mean(values - slope * times))
    trend = LinearTrend(bounded_normal(1, 1), slope, level)
    return LinearTrend(fit_noise(values - trend.trend(times)), slope, level)


def fit_walk(values: Ints, start: int) -> RandomWalk:
    """The mean step, as a whole number, and the noise around it."""
    steps = np.diff(values)
    drift = round(float(steps.mean()))
    return RandomWalk(fit_noise(steps - drift), drift, int(values[0]))


def fit_mean_reverting(values: Ints, start: int) -> Model:
    """AR(1)."""
    return fit_autoregressive(values)


def seasonal_fitter(period: float) -> Fitter:
    """A fitter of AR(1) around a season of the given period; it needs one period of values."""

    def fit(values: Ints, start: int) -> Model:
        return (
            fit_season(values, start, period)
            if len(values) > period
            else fit_autoregressive(values)
        )

    return fit


FITTERS: tuple[Fitter, ...] = (fit_stationary, fit_trend, fit_walk, fit_mean_reverting)


def fit_noise(rest: Ints) -> Pmf:
    """Uniform or normal, whichever makes `rest` more likely; both around its own centre."""
    centre = round(float(rest.mean()))
    width = max(1, int(np.abs(rest - centre).max()))
    flat = np.log(1 / (2 * width + 1)) * len(rest)
    bell = bounded_normal(max(0.3, float(rest.std())), width + 1)
    shape = bell if np.log(bell.chance(rest - centre)).sum() > flat else _flat(width)
    return Pmf(shape.low + centre, shape.weights)


def _flat(width: int) -> Pmf:
    return Pmf(-width, np.full(2 * width + 1, 1 / (2 * width + 1)))


def fit_best(values: Ints, start: int, fitters: Sequence[Fitter] = FITTERS) -> Model:
    """The kind of model that predicts best, fitted to all `values`."""
    if float(values.max()) - float(values.min()) > WIDEST:
        return fit_frequencies(values, start)
    half = len(values) // 2
    if len(fitters) == 1 or half < 2:
        return fitters[0](values, start)
    losses = [
        surprise(fit(values[:half], start), values[half - 1 :], start + half - 1).mean()
        for fit in fitters
    ]
    return fitters[int(np.argmin(losses))](values, start)


def surprise(model: Model, values: Ints, start: int) -> Floats:
    """−log of the chance that `model` gave to values before they came, evenly chosen ones."""
    count = min(CHECKED, len(values) - 1)
    chosen = np.linspace(1, len(values) - 1, count).astype(int)
    return np.array(
        [loss(model, Seen(start + i - 1, int(values[i - 1])), int(values[i])) for i in chosen]
    )


ONE_STEP = np.array([1])


def loss(model: Model, seen: Seen, value: int) -> float:
    """−log of the chance that `value` comes next."""
    chance = float(model.chances(seen, np.array([value]), ONE_STEP)[0, 0])
    return float(-np.log(max(chance, FLOOR_CHANCE)))
