"""A synopsis over the timestamps of one batch: what it held before each of them.

Entries of the state count as older than the whole batch. A row at rank r sees what came before r.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from obda_bm.ir.plan import Extreme, Side
from obda_bm.ir.terms import ColumnRef
from obda_bm.kernel.counts import narrowed, running, sums
from obda_bm.kernel.encoding import Array
from obda_bm.kernel.groups import (
    FEW,
    Index,
    dense_codes,
    lengths,
    locate,
    row_codes,
    segments,
    sort_order,
)
from obda_bm.kernel.rows import Mask, Rows, joined


@dataclass(frozen=True, slots=True)
class History:
    """Entries by key; `codes` are (entry, rank) pairs in order, `values` what holds from there on.

    The value is a running total (bag) or the best so far (set); none is needed where a key is only
    present.
    """

    keys: Mapping[ColumnRef, Array]
    codes: Index
    values: tuple[Array, ...]
    ranks: int

    @property
    def entries(self) -> int:
        return int(self.codes[-1]) // self.stride + 1 if len(self.codes) else 0

    @property
    def stride(self) -> int:
        """From the code of one entry to that of the next: the ranks, and what was before."""
        return self.ranks + 2

    def before(self, entry: Index, rank: Index) -> tuple[Mask, Index]:
        """Whether each entry was there before `rank`, and where its value then stands."""
        first = entry * self.stride
        position = self._last(first + rank)
        if not len(self.codes):
            return np.zeros(len(entry), dtype=np.bool_), position
        found = np.maximum(position, 0)
        return (position >= 0) & (self.codes[found] >= first), found

    def _last(self, wanted: Index) -> Index:
        """The position of the last code that is at most `wanted`: looked up, or searched."""
        cells = self.entries * self.stride
        if cells > max(FEW, 4 * len(wanted)):
            return locate(self.codes, wanted) - 1
        table = np.full(cells, -1)
        table[self.codes] = np.arange(len(self.codes))
        return np.asarray(np.maximum.accumulate(table)[wanted])

    def left(self) -> tuple[Index, Index]:
        """The entries that are left after the batch, and where their newest values stand."""
        starts = segments(self.codes // self.stride)
        return np.arange(len(starts)), _ends(starts, len(self.codes))


@dataclass(frozen=True, slots=True)
class Ordered:
    """Rows by key and rank: their order, codes with numbered entries, and where entries start."""

    order: Index
    codes: Index
    entries: Index

    @property
    def lengths(self) -> Index:
        return lengths(self.entries, len(self.codes))

    def keys(self, rows: Rows, key: Sequence[ColumnRef]) -> dict[ColumnRef, Array]:
        first = self.order[self.entries]
        return {c: rows.columns[c][first] for c in key}


def _ordered(rows: Rows, key: Sequence[ColumnRef], ranks: int) -> Ordered:
    codes, span = row_codes([rows.columns[c] for c in key], len(rows))
    stride = ranks + 2
    if span * stride >= 2**62:
        codes, span = dense_codes(codes)
    codes = codes * stride + (rows.rank + 1)
    order = sort_order(codes, span * stride)
    codes = codes[order]
    entries = segments(codes // stride)
    number = np.repeat(np.arange(len(entries)), lengths(entries, len(codes)))
    return Ordered(order, number * stride + codes % stride, entries)


def counted(rows: Rows, key: Sequence[ColumnRef], ranks: int) -> History:
    """Running totals per key."""
    ordered = _ordered(rows, key, ranks)
    starts = segments(ordered.codes)
    codes = ordered.codes[starts]
    increments = sums(rows.weight[ordered.order], starts)
    totals = running(increments)
    entries = segments(codes // (ranks + 2))
    before = totals[entries] - increments[entries]
    offset = np.repeat(before, lengths(entries, len(codes)))
    return History(ordered.keys(rows, key), codes, (narrowed(totals - offset),), ranks)


def present(rows: Rows, key: Sequence[ColumnRef], ranks: int) -> History:
    """The first time each key was there."""
    ordered = _ordered(rows, key, ranks)
    return History(ordered.keys(rows, key), ordered.codes[ordered.entries], (), ranks)


def best(rows: Rows, key: Sequence[ColumnRef], extreme: Extreme, ranks: int) -> History:
    """The best value so far per key."""
    ordered = _ordered(rows, key, ranks)
    # Of several values of one timestamp, the last of the running ones is the best.
    ends = _ends(segments(ordered.codes), len(ordered.codes))
    values = _running_best(rows.columns[extreme][ordered.order], ordered, extreme.side)
    return History(ordered.keys(rows, key), ordered.codes[ends], (values[ends],), ranks)


def _ends(starts: Index, size: int) -> Index:
    """The last positions of the runs that begin at `starts`."""
    return starts + lengths(starts, size) - 1


def _running_best(values: Array, ordered: Ordered, side: Side) -> Array:
    sign = 1 if side is Side.MIN else -1
    entries = ordered.entries
    if values.dtype == np.int64 and len(values):
        span = float(values.max()) - float(values.min()) + 1
        if span * (len(entries) + 1) < 2.0**62:
            # Every segment lies below the one before, so the running minimum starts anew.
            offset = np.repeat(np.arange(len(entries)) * int(span), ordered.lengths)
            return np.asarray(sign * (np.minimum.accumulate(sign * values - offset) + offset))
    accumulate = np.minimum.accumulate if side is Side.MIN else np.maximum.accumulate
    parts = np.split(values, entries[1:]) if len(entries) else []
    return joined([accumulate(part) for part in parts]) if parts else values
