"""Synopses between batches: as the tables of the state, and as rows older than the batch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from obda_bm.ir.plan import BranchPlan, Extreme, Synopsis
from obda_bm.ir.spj import Semantics
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef
from obda_bm.kernel.encoding import Array, TextPool, arrow_type, decode, encode
from obda_bm.kernel.history import Front, History, front
from obda_bm.kernel.rows import Column, Rows, group
from obda_bm.kernel.scan import Codec, codec

BEFORE = -1
"""The rank of what is older than the batch."""


def empty_store(branch: BranchPlan, synopsis: Synopsis, semantics: Semantics) -> pa.Table:
    how = codec(branch, TextPool())
    fields = [(f"k{i}", _key_type(how, c)) for i, c in enumerate(synopsis.key)]
    fields += [(f"e{i}", _extreme_type(how, e)) for i, e in enumerate(synopsis.extremes)]
    fields.append(("count", pa.string()))
    return pa.schema(fields).empty_table()


def _key_type(how: Codec, column: ColumnRef) -> pa.DataType:
    type_ = how.types[column]
    exact = type_.order is Order.DISCRETE
    return pa.int64() if exact else arrow_type(type_)


def _extreme_type(how: Codec, extreme: Extreme) -> pa.DataType:
    dense = any(how.types[c].order is Order.DENSE for c in (*extreme.columns, *extreme.tests))
    return pa.float64() if dense else pa.int64()


def load(store: pa.Table, synopsis: Synopsis, how: Codec, semantics: Semantics) -> Rows:
    columns: dict[Column, Array] = {}
    for i, column in enumerate(synopsis.key):
        columns[column] = _read_key(store.column(f"k{i}"), how, column)
    for i, extreme in enumerate(synopsis.extremes):
        columns[extreme] = store.column(f"e{i}").to_numpy()
    counts = [int(text) for text in store.column("count").to_pylist()]
    big = any(abs(count) >= 2**62 for count in counts)
    weight = np.array(counts, dtype=object if big else np.int64)
    return Rows(columns, np.full(store.num_rows, BEFORE, dtype=np.int64), weight)


def _read_key(values: pa.ChunkedArray, how: Codec, column: ColumnRef) -> Array:
    if how.types[column].order is Order.DISCRETE:
        return np.asarray(values.to_numpy())
    return encode(values, how.types[column], how.unit(column), how.pool)


def forget(
    history: History | Front, synopsis: Synopsis, branch: BranchPlan, until: int
) -> tuple[dict[Column, Array], list[str]]:
    """What is left of a synopsis once all timestamps before `until` are closed."""
    columns, counts = _totals(history, synopsis)
    outside = [x for i, x in enumerate(branch.inputs) if i not in synopsis.inputs]
    if any(x.end is not None and x.end < until for x in outside):
        return {c: v[:0] for c, v in columns.items()}, []
    keep = _representatives(columns, synopsis, len(counts))
    for expiry in synopsis.expiries:
        keep &= columns[expiry.time] + expiry.ticks >= until
    if synopsis.horizon is not None:
        columns = {
            c: _older_alike(c, v, branch, until - synopsis.horizon) for c, v in columns.items()
        }
    kept = {c: v[keep] for c, v in columns.items()}
    return kept, [count for count, alive in zip(counts, keep.tolist(), strict=True) if alive]


def _representatives(
    columns: dict[Column, Array], synopsis: Synopsis, size: int
) -> npt.NDArray[np.bool_]:
    """Of texts that future ones must only differ from, as many as those can never exclude.

    One column needs one value more than there are tests. Of several columns and one test, an
    entry is needed as long as some text excludes all that are kept, but not this one.
    """
    keep = np.ones(size, dtype=np.bool_)
    if not synopsis.different or (len(synopsis.different) > 1 and synopsis.tests > 1):
        return keep
    rest = [columns[c] for c in synopsis.key if c not in synopsis.different]
    ids, _ = group(rest, size)
    excluding: dict[int, set[int]] = {}
    kept: dict[int, int] = {}
    for i, entry in enumerate(ids.tolist()):
        values = {int(columns[c][i]) for c in synopsis.different}
        if len(synopsis.different) == 1:
            kept[entry] = kept.get(entry, 0) + 1
            keep[i] = kept[entry] <= synopsis.tests + 1
        elif entry not in excluding:
            excluding[entry] = values
        else:
            keep[i] = bool(excluding[entry] - values)
            excluding[entry] &= values
    return keep


def _older_alike(column: Column, values: Array, branch: BranchPlan, horizon: int) -> Array:
    """Timestamps before the horizon satisfy every delay that is still to come, one like another."""
    times = [
        ColumnRef(s.alias, s.relation.time)
        for i in branch.inputs
        for s in i.scans
        if s.relation.time
    ]
    return np.maximum(values, horizon) if column in times else values


def _totals(history: History | Front, synopsis: Synopsis) -> tuple[dict[Column, Array], list[str]]:
    columns: dict[Column, Array] = dict(history.keys)
    match history:
        case Front():
            # After the batch all are equally old: what was better only for being earlier goes.
            columns.update(zip(synopsis.extremes, history.extremes, strict=True))
            alike = np.zeros(len(history.rank), dtype=np.int64)
            left = front(Rows(columns, alike, alike), synopsis.key, synopsis.extremes)
            columns = {**left.keys, **dict(zip(synopsis.extremes, left.extremes, strict=True))}
            return columns, ["1"] * len(left.rank)
        case History():
            last = history.last
            if synopsis.extremes:
                assert history.values is not None
                columns[synopsis.extremes[0]] = history.values[last]
                return columns, ["1"] * len(last)
            if history.values is None:
                return columns, ["1"] * len(last)
            return columns, [str(int(v)) for v in history.values[last].tolist()]


def save(
    totals: tuple[dict[Column, Array], list[str]], store: pa.Table, synopsis: Synopsis, how: Codec
) -> pa.Table:
    columns, counts = totals
    texts = how.pool.texts()
    arrays = []
    for column in synopsis.key:
        values = columns[column]
        if how.types[column].order is Order.DISCRETE:
            arrays.append(pa.array(values.astype(np.int64), pa.int64()))
        else:
            arrays.append(decode(values, how.types[column], how.unit(column), texts))
    for i, extreme in enumerate(synopsis.extremes):
        arrays.append(pa.array(columns[extreme], store.schema.field(f"e{i}").type))
    arrays.append(pa.array(counts, pa.string()))
    return pa.table(arrays, schema=store.schema)
