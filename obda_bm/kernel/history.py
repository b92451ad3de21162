"""A synopsis over the timestamps of one batch: what it held before each of them.

Entries of the state count as older than the whole batch. A row at rank r sees what came before r.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from obda_bm.ir.plan import Extreme, Side
from obda_bm.ir.terms import ColumnRef
from obda_bm.kernel.encoding import Array
from obda_bm.kernel.rows import (
    Index,
    Mask,
    Rows,
    group,
    joined,
    running,
    segments,
    sort_order,
    sums,
)


@dataclass(frozen=True, slots=True)
class History:
    """Entries by key; `codes` are (key, rank) pairs in order, `values` what holds from there on.

    `values` are running totals (bag), the best value so far (one extreme), or nothing (presence).
    """

    keys: Mapping[ColumnRef, Array]
    codes: Index
    values: Array | None
    ranks: int

    def before(self, entry: Index, rank: Index) -> tuple[Mask, Index]:
        """Whether each entry was there before `rank`, and where its value then stands."""
        wanted = entry * (self.ranks + 2) + rank + 1
        position = np.searchsorted(self.codes, wanted, "left") - 1
        safe = np.maximum(position, 0)
        if not len(self.codes):
            return np.zeros(len(entry), dtype=np.bool_), safe
        return (position >= 0) & (self.codes[safe] // (self.ranks + 2) == entry), safe

    @property
    def last(self) -> Index:
        """Where the newest value of each entry stands."""
        entries = self.codes // (self.ranks + 2)
        starts = segments(entries)
        return np.r_[starts[1:], len(entries)].astype(np.int64) - 1 if len(starts) else starts


@dataclass(frozen=True, slots=True)
class Front:
    """Entries that no other dominates, where several extremes have to be kept together."""

    keys: Mapping[ColumnRef, Array]
    extremes: tuple[Array, ...]
    rank: Index


def _keyed(rows: Rows, key: Sequence[ColumnRef], ranks: int) -> tuple[Index, Index, int]:
    """The order of rows by (key, rank), the codes in that order, and how many keys there are."""
    ids, many = group([rows.columns[c] for c in key], len(rows))
    by_rank = np.argsort(rows.rank, kind="stable")
    order = by_rank[sort_order(ids[by_rank], many)]
    return order, ids[order] * (ranks + 2) + rows.rank[order] + 1, many


def counted(rows: Rows, key: Sequence[ColumnRef], ranks: int) -> History:
    """Running totals per key."""
    order, codes, _ = _keyed(rows, key, ranks)
    starts = segments(codes)
    increments = sums(rows.weight[order], starts)
    codes = codes[starts]
    totals = running(increments)
    entries = segments(codes // (ranks + 2))
    lengths = np.diff(np.r_[entries, len(codes)])
    offset = np.repeat(totals[entries] - increments[entries], lengths)
    first = order[starts][entries]
    keys = {c: rows.columns[c][first] for c in key}
    return History(keys, _renumbered(codes, entries, lengths, ranks), totals - offset, ranks)


def present(rows: Rows, key: Sequence[ColumnRef], ranks: int) -> History:
    """The first time each key was there."""
    order, codes, _ = _keyed(rows, key, ranks)
    entries = segments(codes // (ranks + 2))
    keys = {c: rows.columns[c][order][entries] for c in key}
    lengths = np.ones(len(entries), dtype=np.int64)
    chosen = codes[entries]
    return History(keys, _renumbered(chosen, np.arange(len(entries)), lengths, ranks), None, ranks)


def best(rows: Rows, key: Sequence[ColumnRef], extreme: Extreme, ranks: int) -> History:
    """The best value so far per key."""
    order, codes, _ = _keyed(rows, key, ranks)
    values = rows.columns[extreme][order]
    entries = segments(codes // (ranks + 2))
    lengths = np.diff(np.r_[entries, len(codes)])
    keys = {c: rows.columns[c][order][entries] for c in key}
    sofar = _running_best(values, entries, lengths, extreme.side)
    # Several values of one timestamp: the last of them is the best.
    ends = np.r_[segments(codes)[1:], len(codes)].astype(np.int64) - 1 if len(codes) else entries
    numbered = _renumbered(codes, entries, lengths, ranks)
    return History(keys, numbered[ends], sofar[ends], ranks)


def _renumbered(codes: Index, entries: Index, lengths: Index, ranks: int) -> Index:
    """Codes with entries numbered from 0 in the order in which they stand."""
    number = np.repeat(np.arange(len(entries)), lengths)
    return np.asarray(number * (ranks + 2) + codes % (ranks + 2))


def _running_best(values: Array, entries: Index, lengths: Index, side: Side) -> Array:
    sign = 1 if side is Side.MIN else -1
    if values.dtype == np.int64 and len(values):
        span = float(values.max()) - float(values.min()) + 1
        if span * (len(entries) + 1) < 2.0**62:
            # Every segment lies below the one before, so the running minimum starts anew.
            offset = np.repeat(np.arange(len(entries), dtype=np.int64), lengths) * int(span)
            return np.asarray(sign * (np.minimum.accumulate(sign * values - offset) + offset))
    accumulate = np.minimum.accumulate if side is Side.MIN else np.maximum.accumulate
    parts = np.split(values, entries[1:]) if len(entries) else []
    return joined([accumulate(part) for part in parts]) if parts else values


def front(rows: Rows, key: Sequence[ColumnRef], extremes: Sequence[Extreme]) -> Front:
    """The entries that are not dominated: no other is as early, and as good in every extreme."""
    ids, _ = group([rows.columns[c] for c in key], len(rows))
    values = [_as_cost(rows.columns[e], e.side) for e in extremes]
    order = np.lexsort((rows.rank, *reversed(values), ids))
    kept = _undominated(ids[order], [v[order] for v in values], rows.rank[order])
    chosen = order[kept]
    return Front(
        {c: rows.columns[c][chosen] for c in key},
        tuple(rows.columns[e][chosen] for e in extremes),
        rows.rank[chosen],
    )


def _as_cost(values: Array, side: Side) -> Array:
    return values if side is Side.MIN else -values


def _undominated(ids: Index, costs: list[Array], rank: Index) -> Index:
    """Sorted by cost, an entry can only be dominated by one before it: compare blockwise."""
    kept: list[int] = []
    for start, end in _spans(ids):
        block = [np.stack([*(c[start:end] for c in costs), rank[start:end]], axis=1)]
        points = block[0]
        alive = np.ones(len(points), dtype=np.bool_)
        for i in range(len(points)):
            if alive[i]:
                beaten = np.all(points >= points[i], axis=1)
                beaten[: i + 1] = False
                alive &= ~beaten
        kept.extend((start + np.flatnonzero(alive)).tolist())
    return np.array(kept, dtype=np.int64)


def _spans(ids: Index) -> list[tuple[int, int]]:
    starts = segments(ids).tolist()
    return list(zip(starts, [*starts[1:], len(ids)], strict=False))
