"""Tables of numbers, and joins and groups over them: no loop over rows anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

from obda_bm.ir.terms import Op
from obda_bm.kernel.encoding import Array

Column = Any
"""What names a column: a ColumnRef, or an Extreme of an older match."""

Mask = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]

PAIRS = 4_000_000
"""Pairs that a join makes at a time; more are made piece by piece."""

_SAFE = 2.0**62


@dataclass(frozen=True, slots=True)
class Rows:
    """Matches of some inputs: their columns, the rank of their timestamp, and how often each."""

    columns: Mapping[Column, Array]
    rank: Index
    weight: Array

    def __len__(self) -> int:
        return len(self.rank)

    def take(self, index: Index | Mask) -> Rows:
        return Rows(
            {name: values[index] for name, values in self.columns.items()},
            self.rank[index],
            self.weight[index],
        )

    def with_columns(self, more: Mapping[Column, Array]) -> Rows:
        return replace(self, columns={**self.columns, **more})


def concatenate(parts: Sequence[Rows]) -> Rows:
    first = parts[0]
    if len(parts) == 1:
        return first
    return Rows(
        {name: joined([p.columns[name] for p in parts]) for name in first.columns},
        np.concatenate([p.rank for p in parts]),
        joined([p.weight for p in parts]),
    )


def joined(arrays: Sequence[Array]) -> Array:
    if any(a.dtype == object for a in arrays):
        return np.concatenate([a.astype(object) for a in arrays])
    return np.concatenate(arrays)


def compare(left: Array, op: Op, right: Array | int | Fraction) -> Mask:
    """`left op right`, element by element."""
    if isinstance(right, Fraction) and left.dtype != np.float64:
        return _compare_between(left, op, right)
    if isinstance(right, Fraction):
        return compare(left, op, np.full(len(left), float(right)))
    match op:
        case Op.LT:
            result = left < right
        case Op.LE:
            result = left <= right
        case Op.EQ:
            result = left == right
        case Op.NE:
            result = left != right
        case Op.GE:
            result = left >= right
        case Op.GT:
            result = left > right
    return np.asarray(result, dtype=np.bool_)


def _compare_between(left: Array, op: Op, right: Fraction) -> Mask:
    """A whole number against one that is not: it lies between two neighbours."""
    if op in (Op.EQ, Op.NE):
        return np.full(len(left), op is Op.NE)
    below = op in (Op.LT, Op.LE)
    return compare(left, Op.LE if below else Op.GT, floor(right))


def group(columns: Sequence[Array], size: int) -> tuple[Index, int]:
    """A number for each row, equal for equal rows, and how many there are."""
    ids, count = np.zeros(size, dtype=np.int64), min(size, 1)
    for values in columns:
        own, many = _codes(values)
        if count * many < 2**31:
            ids = ids * many + own
            ids, count = _dense(ids, count * many)
        else:
            _, inverse = np.unique(np.stack([ids, own]), axis=1, return_inverse=True)
            ids, count = inverse.astype(np.int64), int(inverse.max(initial=-1)) + 1
    return ids, count


def _codes(values: Array) -> tuple[Index, int]:
    """Small numbers for the values: offsets where the range is small, ranks otherwise."""
    if not len(values):
        return np.zeros(0, dtype=np.int64), 1
    if values.dtype == np.int64:
        low, high = int(values.min()), int(values.max())
        if high - low < max(1024, 2 * len(values)):
            return (values - low).astype(np.int64), high - low + 1
    _, inverse = np.unique(values, return_inverse=True)
    return inverse.astype(np.int64), int(inverse.max()) + 1


def _dense(ids: Index, many: int) -> tuple[Index, int]:
    if many <= max(1024, 2 * len(ids)):
        return ids, many
    _, inverse = np.unique(ids, return_inverse=True)
    return inverse.astype(np.int64), int(inverse.max(initial=-1)) + 1


def matching_pairs(
    left: Sequence[Array], right: Sequence[Array], sizes: tuple[int, int]
) -> tuple[Index, Index, Index]:
    """For rows of `left` the range of equal rows of `right`: starts, ends, and their order."""
    n, m = sizes
    ids, _ = group([joined([a, b]) for a, b in zip(left, right, strict=True)], n + m)
    mine, theirs = ids[:n], ids[n:]
    order = np.argsort(theirs, kind="stable")
    ordered = theirs[order]
    return (
        np.searchsorted(ordered, mine, "left"),
        np.searchsorted(ordered, mine, "right"),
        order,
    )


def expand(starts: Index, ends: Index, order: Index) -> tuple[Index, Index]:
    """All pairs (row of left, row of right) that the ranges stand for."""
    counts = ends - starts
    left = np.repeat(np.arange(len(starts)), counts)
    begin = np.repeat(np.cumsum(counts) - counts, counts)
    position = np.arange(len(left)) - begin + np.repeat(starts, counts)
    return left, order[position]


def slices(counts: Index, limit: int = PAIRS) -> Iterable[slice]:
    """Consecutive rows whose pairs fit into memory together."""
    total = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = int(total[start - 1]) if start else 0
        end = int(np.searchsorted(total, before + limit, "right"))
        end = max(end, start + 1)
        yield slice(start, end)
        start = end


def multiply(left: Array, right: Array) -> Array:
    """Products of counts; Python integers where 64 bits are not enough."""
    if object not in (left.dtype, right.dtype) and len(left):
        largest = float(np.abs(left).max()) * float(np.abs(right).max())
        if largest < _SAFE:
            return np.asarray(left * right)
    return np.asarray(left.astype(object) * right.astype(object))


def sums(weights: Array, starts: Index) -> Array:
    """Sums of consecutive segments; Python integers where 64 bits are not enough."""
    if not len(starts):
        return weights[:0]
    if weights.dtype != object and float(np.abs(weights).astype(np.float64).sum()) >= _SAFE:
        weights = weights.astype(object)
    return np.asarray(np.add.reduceat(weights, starts))


def running(weights: Array) -> Array:
    if weights.dtype != object and float(np.abs(weights).astype(np.float64).sum()) >= _SAFE:
        weights = weights.astype(object)
    return np.asarray(np.cumsum(weights))


def segments(ordered: Index) -> Index:
    """Where a new value starts in a sorted array."""
    if not len(ordered):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])


def sort_order(codes: Index, many: int) -> Index:
    """A stable order; small codes are sorted by their digits."""
    if many <= 2**16:
        return np.argsort(codes.astype(np.uint16), kind="stable")
    return np.argsort(codes, kind="stable")
