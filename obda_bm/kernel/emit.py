"""Matches as results: projected, counted per marker, and under set semantics emitted once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from obda_bm.ir.plan import BranchPlan, Memory, SynopsisPlan
from obda_bm.ir.spj import Output
from obda_bm.ir.sqltypes import SqlType
from obda_bm.ir.terms import ColumnRef, Constant
from obda_bm.kernel.encoding import Array, arrow_type, decode, encode_constant
from obda_bm.kernel.rows import Index, Rows, group, segments, sums
from obda_bm.kernel.scan import Codec


def result_table(plan: SynopsisPlan) -> pa.Table:
    """No results, with the columns that results have."""
    fields = [("time", pa.int64())]
    if plan.branches:
        columns = zip(*(_types(branch) for branch in plan.branches), strict=True)
        types = [_common([arrow_type(t) for t in column]) for column in columns]
        fields += list(zip(plan.outputs, types, strict=True))
    else:
        fields += [(name, pa.string()) for name in plan.outputs]
    return pa.schema([*fields, ("count", pa.int64())]).empty_table()


def _common(types: list[pa.DataType]) -> pa.DataType:
    """The type that holds what all branches of a union emit in one column."""
    if len(set(types)) == 1:
        return types[0]
    if any(pa.types.is_temporal(t) for t in types):
        return pa.timestamp("us")
    if any(pa.types.is_floating(t) for t in types):
        return pa.float64()
    return pa.decimal128(38, max(t.scale for t in types if pa.types.is_decimal(t)))


def _types(branch: BranchPlan) -> list[SqlType]:
    scans = [s for i in branch.inputs for s in (*i.scans, *i.statics)]
    known = {ColumnRef(s.alias, c.name): c.type for s in scans for c in s.relation.columns}
    return [
        known[o.term] if isinstance(o.term, ColumnRef) else o.term.type for o in branch.projection
    ]


def bag_results(
    plan: SynopsisPlan,
    rows: Rows | None,
    branch: BranchPlan,
    how: Codec,
    times: Array,
    before: Rows | None,
) -> pa.Table:
    """Results of one branch, summed per marker; `before` are rows that are answers already."""
    empty = result_table(plan)
    if rows is None or not len(rows):
        return empty
    values = [_values(rows, o, how) for o in branch.projection]
    if before is not None and len(before):
        old = [_values(before, o, how) for o in branch.projection]
        fresh = ~_among(values, old, len(rows), len(before))
        values, rows = [v[fresh] for v in values], Rows({}, rows.rank[fresh], rows.weight[fresh])
        if not len(rows):
            return empty
    ids, _ = group([rows.rank, *values], len(rows))
    order = np.argsort(ids, kind="stable")
    starts = segments(ids[order])
    first = order[starts]
    counts = sums(rows.weight[order], starts)
    texts = how.pool.texts()
    columns = [
        decode(v[first], t, _unit(o, how), texts).cast(field.type)
        for v, t, o, field in zip(
            values, _types(branch), branch.projection, list(empty.schema)[1:-1], strict=True
        )
    ]
    return _by_time(times[rows.rank[first]], columns, counts, empty.schema)


def _by_time(times: Array, columns: list[pa.Array], counts: Array, schema: pa.Schema) -> pa.Table:
    order = np.argsort(times, kind="stable")
    fits = counts.dtype != object or all(abs(c) < 2**63 for c in counts.tolist())
    number = pa.int64() if fits else pa.decimal256(76, 0)
    listed = [int(c) for c in counts[order].tolist()]
    arrays = [pa.array(times[order], pa.int64()), *(c.take(order) for c in columns)]
    return pa.table([*arrays, pa.array(listed, number)], names=schema.names)


def _values(rows: Rows, output: Output, how: Codec) -> Array:
    match output.term:
        case ColumnRef() as column:
            return rows.columns[column]
        case Constant(value):
            code = encode_constant(value, _unit(output, how), how.pool)
            kind = np.float64 if not isinstance(code, int) else np.int64
            return np.full(len(rows), float(code) if kind is np.float64 else code, dtype=kind)


def _unit(output: Output, how: Codec) -> int:
    match output.term:
        case ColumnRef() as column:
            return how.unit(column)
        case Constant(_, type_):
            return int(type_.grain.denominator) if type_.grain else 1


def _among(values: list[Array], old: list[Array], n: int, m: int) -> Array:
    both = [np.concatenate([a, b]) for a, b in zip(values, old, strict=True)]
    ids, _ = group(both, n + m)
    return np.isin(ids[:n], ids[n:])


def new_results(
    plan: SynopsisPlan, answer: pa.Table, emitted: pa.Table | None
) -> tuple[pa.Table, pa.Table | None]:
    """The first occurrence of each row that was not emitted before, and all that was emitted."""
    if not answer.num_rows:
        return answer, emitted
    names = list(plan.outputs)
    positions = [answer.column_names.index("time") + 1 + i for i in range(len(names))]
    columns = [answer.column(p) for p in positions]
    old = emitted if plan.emitted is Memory.STORED and emitted is not None else None
    ids = _row_ids(columns, None if old is None else [old.column(i) for i in range(len(names))])
    n = answer.num_rows
    order = np.lexsort((answer.column("time").to_numpy(), ids[:n]))
    first = order[segments(ids[:n][order])]
    if old is not None:
        first = first[~np.isin(ids[first], ids[n:])]
    first = first[np.argsort(answer.column("time").to_numpy()[first], kind="stable")]
    fresh = answer.take(first)
    ones = pa.array(np.ones(fresh.num_rows, dtype=np.int64))
    fresh = fresh.set_column(fresh.num_columns - 1, "count", ones)
    if old is None:
        return fresh, emitted
    added = fresh.select(positions)
    return fresh, pa.concat_tables([old, added.cast(old.schema)])


def _row_ids(columns: list[pa.ChunkedArray], old: list[pa.ChunkedArray] | None) -> Index:
    """Equal numbers for equal rows; NULL equals NULL here, as in DISTINCT."""
    size = len(columns[0]) if columns else 0
    more = 0 if old is None else (len(old[0]) if old else 0)
    codes = []
    for i, column in enumerate(columns):
        both = column if old is None else pa.chunked_array([*column.chunks, *old[i].chunks])
        encoded = both.combine_chunks().dictionary_encode(null_encoding="encode")
        codes.append(encoded.indices.to_numpy().astype(np.int64))
    ids, _ = group(codes, size + more)
    return ids
