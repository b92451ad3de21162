"""HEEB of Markov streams, precomputed for every value and every last value ([X] Theorem 5).

With L^exp the sum over all times is a geometric series of the transition matrix P:
G = qP + q²P² + … = qP(I − qP)⁻¹, whose entry (x, v) is H for joining. For caching only the first
visit of v counts, and a visit is a first one followed by returns: G(x, v) = F(x, v)·(1 + G(v, v)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from obda_bm.budget.models import Model, Seen
from obda_bm.budget.pmf import Floats, Ints
from obda_bm.budget.survival import Exponential


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """Row i, column j: H of a tuple of `values[j]` when the stream last produced `values[i]`."""

    values: Ints
    heights: Floats


def transitions(model: Model, values: Ints) -> Floats:
    """One step of a Markov stream on `values`; what would leave them stays at their ends.

    The model must not depend on the time, or Theorem 5 does not apply.
    """
    ahead = np.array([1])
    rows = [model.chances(Seen(0, int(x)), values, ahead)[0] for x in values]
    matrix = np.stack(rows)
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def joining_surface(model: Model, values: Ints, survival: Exponential) -> Surface:
    """H for tuples to be joined with the stream."""
    step = survival.factor * transitions(model, values)
    # qP(I − qP)⁻¹, as the solution of X(I − qP) = qP.
    heights = np.linalg.solve((np.eye(len(values)) - step).T, step.T).T
    return Surface(values, np.asarray(heights, np.float64))


def caching_surface(model: Model, values: Ints, survival: Exponential) -> Surface:
    """H for rows to be referenced by the stream."""
    visits = joining_surface(model, values, survival).heights
    return Surface(values, visits / (1 + np.diag(visits))[None, :])


def bicubic(surface: Surface, controls: int) -> Callable[[Ints, Ints], Floats]:
    """H(last, value), interpolated from `controls`² points that are evenly spaced ([X] §6.5).

    A compact form: 25 numbers for REAL instead of some hundred thousand.
    """
    from scipy.interpolate import RectBivariateSpline

    chosen = np.linspace(0, len(surface.values) - 1, controls).round().astype(int)
    points = surface.values[chosen]
    spline = RectBivariateSpline(points, points, surface.heights[np.ix_(chosen, chosen)])
    return lambda last, value: np.asarray(spline.ev(last, value))
