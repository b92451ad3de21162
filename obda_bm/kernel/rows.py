"""Tables of numbers: no loop over rows anywhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

from obda_bm.ir.terms import Op
from obda_bm.kernel.encoding import Array
from obda_bm.kernel.groups import Index, lengths, segments

Column = Any
"""What names a column: a ColumnRef, or an Extreme of an older match."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rows:
    """Matches of some inputs: their columns, the rank of their timestamp, and how often each."""

    columns: Mapping[Column, Array]
    rank: Index
    weight: Array

    def __len__(self) -> int:
        return len(self.rank)

    def take(self, index: Index) -> Rows:
        return Rows(
            {name: values[index] for name, values in self.columns.items()},
            self.rank[index],
            self.weight[index],
        )

    def where(self, mask: Mask) -> Rows:
        """The rows that `mask` lets pass."""
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def only(self, names: Collection[Column]) -> Rows:
        """The same rows with fewer columns; extremes of older matches stay."""
        kept = {c: v for c, v in self.columns.items() if c in names}
        return self if len(kept) == len(self.columns) else replace(self, columns=kept)

    def with_columns(self, more: Mapping[Column, Array]) -> Rows:
        return replace(self, columns={**self.columns, **more})


def everything(size: int) -> Mask:
    return np.ones(size, dtype=np.bool_)


def concatenate(parts: Sequence[Rows]) -> Rows:
    first, *others = parts
    filled = [part for part in others if len(part)]
    if not filled:
        return first
    if not len(first):
        return concatenate(filled)
    parts = [first, *filled]
    return Rows(
        {name: joined([p.columns[name] for p in parts]) for name in first.columns},
        np.concatenate([p.rank for p in parts]),
        joined([p.weight for p in parts]),
    )


def joined(arrays: Sequence[Array]) -> Array:
    if any(a.dtype == object for a in arrays):
        return np.concatenate([a.astype(object) for a in arrays])
    return np.concatenate(arrays)


def ranked(parts: Sequence[Rows]) -> tuple[tuple[Rows, ...], Index]:
    """Rows whose `rank` is a timestamp -> the same with its rank, and the timestamps by rank.

    Rows come in order of time, so there are few runs to sort.
    """
    runs = [segments(rows.rank) for rows in parts]
    heads = [rows.rank[starts] for rows, starts in zip(parts, runs, strict=True)]
    ordered = np.sort(np.concatenate(heads))
    times = ordered[segments(ordered)]
    ranks = [
        np.repeat(np.searchsorted(times, head), lengths(starts, len(rows)))
        for rows, starts, head in zip(parts, runs, heads, strict=True)
    ]
    return tuple(replace(r, rank=rank) for r, rank in zip(parts, ranks, strict=True)), times


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
