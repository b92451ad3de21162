"""Matches as results: projected, counted per marker, and under set semantics emitted once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from obda_bm.ir.plan import BranchPlan, Memory, SynopsisPlan
from obda_bm.ir.spj import Output
from obda_bm.ir.sqltypes import Order, SqlType
from obda_bm.ir.terms import ColumnRef, Constant
from obda_bm.kernel.counts import WIDE, count_column, sums
from obda_bm.kernel.encoding import (
    Array,
    TextPool,
    arrow_type,
    decode,
    encode_constant,
    is_null,
)
from obda_bm.kernel.groups import Index, row_codes, segments, sort_order
from obda_bm.kernel.rows import Rows, joined
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


def branch_results(
    plan: SynopsisPlan, rows: Rows, branch: BranchPlan, how: Codec, times: Index
) -> pa.Table:
    """Results of one branch, summed per marker, in order of time."""
    schema = result_table(plan).schema
    if not len(rows):
        return schema.empty_table()
    values = [_values(rows, o, how) for o in branch.projection]
    codes, span = row_codes([rows.rank, *values], len(rows))
    order = sort_order(codes, span)
    starts = segments(codes[order])
    first = order[starts]
    counts = count_column(sums(rows.weight[order], starts))
    fields = list(schema)[1:-1]
    columns = [
        _decoded(v[first], t, _unit(o, how), how.pool, field.type)
        for v, t, o, field in zip(values, _types(branch), branch.projection, fields, strict=True)
    ]
    return pa.table([times[rows.rank[first]], *columns, counts], names=schema.names)


def unless_answered(rows: Rows, before: Rows, branch: BranchPlan, how: Codec) -> Rows:
    """The rows that are not among the answers `before` the batch."""
    if not len(rows) or not len(before):
        return rows
    pairs = [(_values(rows, o, how), _values(before, o, how)) for o in branch.projection]
    codes, _ = row_codes([joined(pair) for pair in pairs], len(rows) + len(before))
    return rows.where(~np.isin(codes[: len(rows)], codes[len(rows) :]))


def all_results(plan: SynopsisPlan, results: list[pa.Table]) -> pa.Table:
    """The results of all branches; their counts are as wide as the widest."""
    if not results:
        return result_table(plan)
    if any(table.schema.types[-1] == WIDE for table in results):
        last = results[0].num_columns - 1
        results = [t.set_column(last, "count", t.column(last).cast(WIDE)) for t in results]
    return pa.concat_tables(results)


def _values(rows: Rows, output: Output, how: Codec) -> Array:
    match output.term:
        case ColumnRef() as column:
            return rows.columns[column]
        case Constant(value):
            code = encode_constant(value, _unit(output, how), how.pool)
            kind = np.float64 if not isinstance(code, int) else np.int64
            return np.full(len(rows), float(code) if kind is np.float64 else code, dtype=kind)


def _decoded(
    values: Array, type_: SqlType, unit: int, pool: TextPool, target: pa.DataType
) -> pa.Array:
    """Numbers as a column of the union's type."""
    if pa.types.is_floating(target) and type_.order is Order.DISCRETE:
        # One division is correctly rounded; Arrow's cast of a decimal is not.
        return pa.array(values / unit, target, mask=is_null(values))
    return decode(values, type_, unit, pool).cast(target)


def _unit(output: Output, how: Codec) -> int:
    match output.term:
        case ColumnRef() as column:
            return how.unit(column)
        case Constant(_, type_):
            return int(type_.grain.denominator) if type_.grain else 1


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
    return row_codes(codes, size + more)[0]
