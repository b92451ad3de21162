"""Equal rows: codes, orders and segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from obda_bm.kernel.encoding import Array

Index = npt.NDArray[np.int64]

_LIMIT = 2**62
FEW = 1024
"""Tables of so many cells are worth it for any number of rows."""


def row_codes(columns: Sequence[Array], size: int) -> tuple[Index, int]:
    """A number for each row, equal for equal rows only, and a limit that all are below.

    >>> row_codes([np.array([7, 8, 7]), np.array([0, 1, 0])], 3)
    (array([0, 3, 0]), 4)
    """
    codes, span = np.zeros(size, dtype=np.int64), 1
    for values in columns:
        own, many = _offsets(values)
        if span * many >= _LIMIT:
            (codes, span), (own, many) = dense_codes(codes), dense_codes(own)
        codes = own if span == 1 else codes * many + own
        span *= many
    return codes, span


def _offsets(values: Array) -> tuple[Index, int]:
    """The distance to the least value where 64 bits hold it, places in order otherwise."""
    if not len(values):
        return np.zeros(0, dtype=np.int64), 1
    if values.dtype == np.int64:
        low, high = int(values.min()), int(values.max())
        if high - low < _LIMIT:
            return (values - low if low else values), high - low + 1
    return dense_codes(values)


def dense_codes(values: Array) -> tuple[Index, int]:
    """The place of each value among the different ones."""
    different, inverse = np.unique(values, return_inverse=True)
    return inverse.astype(np.int64), max(len(different), 1)


def sort_order(codes: Index, span: int) -> Index:
    """The stable order of `codes`, all of which are below `span`.

    Code and position in one number sort ten times as fast as positions by their codes.
    """
    size = len(codes)
    if not (codes[1:] < codes[:-1]).any():
        return np.arange(size)
    bits = size.bit_length()
    if span << bits > 2**63:
        return np.argsort(codes, kind="stable")
    packed = codes << bits | np.arange(size)
    packed.sort()
    return np.asarray(packed & ((1 << bits) - 1))


def segments(ordered: Array) -> Index:
    """Where runs of equal values start.

    >>> segments(np.array([4, 4, 5]))
    array([0, 2])
    """
    if not len(ordered):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def lengths(starts: Index, size: int) -> Index:
    """How long the runs are that begin at `starts`."""
    return np.concatenate((starts[1:], [size]))[: len(starts)] - starts


def locate(ordered: Index, wanted: Index) -> Index:
    """How many of `ordered` are at most `wanted`: a search is quick where both are in order."""
    order = sort_order(wanted, int(wanted.max()) + 1) if len(wanted) else wanted
    found = np.empty(len(wanted), dtype=np.int64)
    found[order] = np.searchsorted(ordered, wanted[order], "right")
    return found
