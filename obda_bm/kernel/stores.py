"""Synopses between batches: what is kept of each, and the same as rows older than the batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from obda_bm.ir.plan import BranchPlan, Synopsis
from obda_bm.ir.sqltypes import Family, Order
from obda_bm.ir.terms import ColumnRef
from obda_bm.kernel.counts import WIDE, ones
from obda_bm.kernel.encoding import Array, decode, encode
from obda_bm.kernel.front import Front
from obda_bm.kernel.history import History
from obda_bm.kernel.representatives import representatives
from obda_bm.kernel.rows import Column, Rows
from obda_bm.kernel.scan import Codec

BEFORE = -1
"""The rank of what is older than the batch."""


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """The entries of a synopsis: arrays of numbers, but texts as they are; how often each match.

    Codes of texts live for one batch only, so that they need not be kept.
    """

    keys: tuple[Array | pa.Array, ...]
    extremes: tuple[Array, ...]
    counts: Array

    def __len__(self) -> int:
        return len(self.counts)


def empty_store(synopsis: Synopsis, how: Codec) -> Store:
    return Store(
        tuple(_nothing(how, column) for column in synopsis.key),
        tuple(np.empty(0, how.number_type(e)) for e in synopsis.extremes),
        ones(0),
    )


def _nothing(how: Codec, column: ColumnRef) -> Array | pa.Array:
    type_ = how.types[column]
    if type_.family is Family.TEXT:
        return pa.array([], pa.string())
    return np.empty(0, np.float64 if type_.order is Order.DENSE else np.int64)


def load(store: Store, synopsis: Synopsis, how: Codec) -> Rows:
    """The entries of a synopsis as rows that are older than the batch."""
    keys = zip(synopsis.key, store.keys, strict=True)
    columns: dict[Column, Array] = {c: _numbers(values, c, how) for c, values in keys}
    columns.update(zip(synopsis.extremes, store.extremes, strict=True))
    return Rows(columns, np.full(len(store), BEFORE, dtype=np.int64), store.counts)


def _numbers(values: Array | pa.Array, column: ColumnRef, how: Codec) -> Array:
    if isinstance(values, np.ndarray):
        return values
    return encode(values, how.types[column], how.unit(column), how.pool)


def save(
    history: History | Front, synopsis: Synopsis, branch: BranchPlan, how: Codec, until: int
) -> Store:
    """What is left of a synopsis once all timestamps before `until` are closed."""
    entries, positions = history.left()
    keys = {c: v[entries] for c, v in history.keys.items()}
    index = np.flatnonzero(_kept(keys, synopsis, branch, until, len(entries)))
    keys = {c: v[index] for c, v in keys.items()}
    if synopsis.horizon is not None:
        # Only now: a time that is moved to the horizon would not expire.
        keys = {c: _older_alike(c, v, how, until - synopsis.horizon) for c, v in keys.items()}
    values = [v[positions[index]] for v in history.values]
    counts = values[0] if values and not synopsis.extremes else ones(len(index))
    return Store(
        tuple(_stored(keys[c], c, how) for c in synopsis.key),
        tuple(values) if synopsis.extremes else (),
        counts,
    )


def _stored(values: Array, column: ColumnRef, how: Codec) -> Array | pa.Array:
    type_ = how.types[column]
    return decode(values, type_, 1, how.pool) if type_.family is Family.TEXT else values


def _kept(
    keys: Mapping[ColumnRef, Array], synopsis: Synopsis, branch: BranchPlan, until: int, size: int
) -> npt.NDArray[np.bool_]:
    """Which entries can still be completed, and are not represented by others."""
    outside = [x for i, x in enumerate(branch.inputs) if i not in synopsis.inputs]
    if any(x.end is not None and x.end < until for x in outside):
        return np.zeros(size, dtype=np.bool_)
    keep = _representing(keys, synopsis, size)
    for expiry in synopsis.expiries:
        keep &= keys[expiry.time] + expiry.ticks >= until
    return keep


def _representing(
    keys: Mapping[ColumnRef, Array], synopsis: Synopsis, size: int
) -> npt.NDArray[np.bool_]:
    """All entries, or those that stand for all others that future texts must only differ from."""
    if not synopsis.different:
        return np.ones(size, dtype=np.bool_)
    tests = list(dict.fromkeys(join.right for join in synopsis.unlike))
    pattern = [
        (synopsis.different.index(join.left), tests.index(join.right))
        for join in synopsis.unlike
        if isinstance(join.left, ColumnRef)
    ]
    rest = [keys[c] for c in synopsis.key if c not in synopsis.different]
    return representatives(rest, [keys[c] for c in synopsis.different], pattern, size)


def _older_alike(column: ColumnRef, values: Array, how: Codec, horizon: int) -> Array:
    """Timestamps before the horizon satisfy every delay that is still to come, one like another."""
    return np.maximum(values, horizon) if column in how.times else values


def as_table(store: Store) -> pa.Table:
    """The layout of a store: keys k0, k1, …, extremes e0, e1, …, and the count in digits.

    Numbers that outgrow 64 bits are decimals; digits have no such limit.
    """
    if store.counts.dtype == object:
        counts = pa.array([str(count) for count in store.counts.tolist()], pa.string())
    else:
        counts = pa.array(store.counts).cast(pa.string())
    keys = {f"k{i}": _column(values) for i, values in enumerate(store.keys)}
    extremes = {f"e{i}": _column(values) for i, values in enumerate(store.extremes)}
    return pa.table({**keys, **extremes, "count": counts})


def _column(values: Array | pa.Array) -> pa.Array:
    if isinstance(values, np.ndarray) and values.dtype == object:
        return pa.array(values.tolist(), WIDE)
    return pa.array(values)


def from_table(table: pa.Table) -> Store:
    keys = [_values(table.column(name)) for name in table.column_names if name[0] == "k"]
    extremes = [_values(table.column(name)) for name in table.column_names if name[0] == "e"]
    counts = [int(digits) for digits in table.column("count").to_pylist()]
    wide = any(count >= 2**62 for count in counts)
    return Store(tuple(keys), tuple(extremes), np.array(counts, dtype=object if wide else np.int64))


def _values(column: pa.ChunkedArray) -> Array | pa.Array:
    if pa.types.is_string(column.type):
        return column.combine_chunks()
    if pa.types.is_decimal(column.type):
        return np.array([int(value) for value in column.to_pylist()], dtype=object)
    return np.asarray(column.to_numpy())
