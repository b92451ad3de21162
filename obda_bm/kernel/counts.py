"""Counts: 64-bit numbers as long as they fit, checked, and Python integers from there on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from obda_bm.kernel.encoding import Array

_SAFE = 2.0**62
WIDE = pa.decimal256(76, 0)
"""The Arrow type of counts that outgrow 64 bits."""


def ones(size: int) -> Array:
    return np.ones(size, dtype=np.int64)


def multiply(left: Array, right: Array) -> Array:
    """Products of counts.

    >>> multiply(np.array([2**40]), np.array([2**40])).tolist() == [2**80]
    True
    """
    if object in (left.dtype, right.dtype):
        return np.asarray(left.astype(object) * right.astype(object))
    if len(left) and float(left.max()) * float(right.max()) >= _SAFE:
        return multiply(left.astype(object), right)
    return np.asarray(left * right)


def sums(weights: Array, starts: npt.NDArray[np.int64]) -> Array:
    """Sums of consecutive segments."""
    if len(starts) == len(weights):
        return weights
    return np.asarray(np.add.reduceat(_roomy(weights), starts))


def running(weights: Array) -> Array:
    """Sums of all weights up to each."""
    return np.asarray(np.cumsum(_roomy(weights)))


def _roomy(weights: Array) -> Array:
    """`weights` in a type that holds all their sums."""
    if weights.dtype != object and float(weights.sum(dtype=np.float64)) >= _SAFE:
        return weights.astype(object)
    return weights


def narrowed(weights: Array) -> Array:
    """`weights` as 64-bit numbers again where they fit: Python integers are slow."""
    if weights.dtype == object and (not len(weights) or weights.max() < 2**62):
        return weights.astype(np.int64)
    return weights


def count_column(counts: Array) -> pa.Array:
    """Counts as results have them: int64, or `WIDE` where one of them needs it."""
    if counts.dtype == object:
        return pa.array(counts.tolist(), WIDE if counts.max() >= 2**63 else pa.int64())
    return pa.array(counts, pa.int64())
