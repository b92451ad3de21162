"""Values that differ, but compare alike with all that is still to come, become one value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obda_bm.ir.plan import Grid, Places
from obda_bm.kernel.encoding import Array, TextPool


def clip(values: Array, lower: int | None, upper: int | None) -> Array:
    """What lies beyond the limits is moved to them."""
    if lower is not None:
        values = np.maximum(values, lower)
    return values if upper is None else np.minimum(values, upper)


def shifted(values: Array, by: int) -> Array:
    """Values that many steps further: whole numbers, or the next numbers there are."""
    if values.dtype != np.float64 or not by:
        return values + by if by else values
    for _ in range(abs(by)):
        values = np.nextafter(values, np.inf if by > 0 else -np.inf)
    return values


def placed(values: Array, places: Places, pool: TextPool) -> Array:
    """Each value, or one that stands for all values in the same place."""
    if places.grids or values.dtype == np.float64:
        return among_numbers(values, places.grids)
    return _among_texts(values, places.texts, pool)


def among_numbers(values: Array, grids: Sequence[Grid]) -> Array:
    """Marks stay, and what lies between two of them is moved to the middle.

    >>> from fractions import Fraction
    >>> grid = Grid(Fraction(0), Fraction(2), Fraction(1))
    >>> among_numbers(np.array([-7.0, 0.0, 0.25, 1.75, 9.0]), [grid]).tolist()
    [-inf, 0.0, 0.5, 1.5, inf]
    """
    marks = np.unique(np.concatenate([[-np.inf, np.inf], *map(_marks, grids)]))
    above = np.searchsorted(marks, values, "left")
    middle = (marks[np.maximum(above - 1, 0)] + marks[above]) / 2
    return np.where(marks[above] == values, values, middle)


def _marks(grid: Grid) -> Array:
    """Quotients of whole numbers, as columns have them when they are compared with dense ones."""
    parts = grid.step.denominator
    steps = np.arange(int((grid.upper - grid.lower) // grid.step) + 1)
    if (grid.lower * parts).denominator != 1:
        return np.array([float(grid.lower)])
    return np.asarray((int(grid.lower * parts) + steps * int(grid.step * parts)) / parts)


def _among_texts(values: Array, texts: Sequence[str], pool: TextPool) -> Array:
    """Texts that are met stay; one that is not met stands for all others."""
    met = [pool.code(text) for text in texts]
    other = ""
    while other in texts:
        other += "·"
    return np.where(np.isin(values, met), values, pool.code(other))
