"""Arriving tuples as rows: encoded, filtered, joined with what arrives together with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from obda_bm.ir.plan import BranchPlan, Input, Scan
from obda_bm.ir.sqltypes import Family, SqlType
from obda_bm.ir.terms import (
    ColumnRef,
    Comparison,
    Constant,
    Membership,
    NotNull,
    Op,
    Predicate,
    columns_of,
)
from obda_bm.kernel.encoding import Array, TextPool, encode, encode_constant, is_null
from obda_bm.kernel.rows import Column, Index, Mask, Rows, compare, expand, matching_pairs, multiply


@dataclass(frozen=True, slots=True)
class Codec:
    """How the columns of one branch become numbers."""

    types: Mapping[ColumnRef, SqlType]
    times: frozenset[ColumnRef]
    scale: int
    pool: TextPool

    def unit(self, column: ColumnRef) -> int:
        number = self.types[column].family is Family.NUMBER and column not in self.times
        return self.scale if number else 1

    def comparable(self, values: Array, column: ColumnRef, other: Array) -> Array:
        """`values` as they compare with `other`: whole numbers become dense beside dense ones."""
        if other.dtype == np.float64 and values.dtype != np.float64:
            return np.asarray(values.astype(np.float64) / self.unit(column))
        return values


def codec(branch: BranchPlan, pool: TextPool) -> Codec:
    scans = [s for i in branch.inputs for s in (*i.scans, *i.statics)]
    types = {ColumnRef(s.alias, c.name): c.type for s in scans for c in s.relation.columns}
    times = frozenset(ColumnRef(s.alias, s.relation.time) for s in scans if s.relation.time)
    return Codec(types, times, branch.scale, pool)


def needed_columns(branch: BranchPlan) -> frozenset[ColumnRef]:
    """Columns that filters, joins or the projection mention."""
    predicates: list[Predicate] = [p for step in branch.steps for p in step.joins]
    for arriving in branch.inputs:
        predicates += arriving.joins
        for scan in (*arriving.scans, *arriving.statics):
            predicates += scan.filters
    ranged = [r.column for i in branch.inputs for s in (*i.scans, *i.statics) for r in s.ranges]
    projected = [o.term for o in branch.projection if isinstance(o.term, ColumnRef)]
    return frozenset([*ranged, *projected, *(c for p in predicates for c in columns_of(p))])


def read_input(
    arriving: Input, branch: BranchPlan, tables: Mapping[str, pa.Table], how: Codec
) -> Rows:
    """The rows of one input, without a rank yet: `rank` holds the timestamp."""
    needed = needed_columns(branch)
    compared = _compared(branch)
    rows: Rows | None = None
    for scan in (*arriving.scans, *arriving.statics):
        more = _read_scan(scan, tables, how, needed, compared)
        if rows is None:
            rows = more
            continue
        together = scan in arriving.scans
        ready = {*rows.columns, *more.columns}
        joins = [p for p in arriving.joins if set(columns_of(p)) <= ready]
        rows = join_rows(rows, more, joins, how, same_time=together)
    assert rows is not None
    return rows


def _compared(branch: BranchPlan) -> frozenset[ColumnRef]:
    joins = [p for step in branch.steps for p in step.joins]
    joins += [p for arriving in branch.inputs for p in arriving.joins]
    return frozenset(c for p in joins for c in columns_of(p))


def _read_scan(
    scan: Scan,
    tables: Mapping[str, pa.Table],
    how: Codec,
    needed: frozenset[ColumnRef],
    compared: frozenset[ColumnRef],
) -> Rows:
    table = tables[scan.relation.name]
    columns: dict[Column, Array] = {}
    time = np.zeros(table.num_rows, dtype=np.int64)
    for column in scan.relation.columns:
        ref = ColumnRef(scan.alias, column.name)
        if ref in needed or column.name == scan.relation.time:
            values = encode(table.column(column.name), column.type, how.unit(ref), how.pool)
            columns[ref] = values
            if column.name == scan.relation.time:
                time = values.astype(np.int64)
    rows = Rows(columns, time, np.ones(len(time), dtype=np.int64))
    mask = np.ones(len(rows), dtype=np.bool_)
    for name, values in columns.items():
        if name in compared:
            mask &= ~is_null(values)
    for predicate in scan.filters:
        mask &= holds(rows, predicate, how)
    for limit in scan.ranges:
        mask &= _within(columns[limit.column], limit.lower, limit.upper)
    return rows if mask.all() else rows.take(mask)


def _within(values: Array, lower: int | None, upper: int | None) -> Mask:
    mask = ~is_null(values)
    if lower is not None:
        mask &= compare(values, Op.GE, lower)
    if upper is not None:
        mask &= compare(values, Op.LE, upper)
    return mask


def holds(rows: Rows, predicate: Predicate, how: Codec) -> Mask:
    """SQL's truth of `predicate` for each row; NULL satisfies nothing."""
    columns = columns_of(predicate)
    known = np.ones(len(rows), dtype=np.bool_)
    for column in columns:
        known &= ~is_null(rows.columns[column])
    match predicate:
        case NotNull():
            return known
        case Membership(column, values):
            found = np.zeros(len(rows), dtype=np.bool_)
            for listed in values:
                found |= _against(rows, column, Op.EQ, listed.value, how)
            return known & found
        case Comparison(ColumnRef() as left, op, ColumnRef() as right, offset):
            a, b = rows.columns[left], rows.columns[right]
            first, second = how.comparable(a, left, b), how.comparable(b, right, a)
            return known & compare(first, op, second + offset if offset else second)
        case Comparison(ColumnRef() as left, op, Constant(value)):
            return known & _against(rows, left, op, value, how)
        case Comparison(Constant(value), op, ColumnRef() as right):
            return known & _against(rows, right, op.mirrored, value, how)
        case _:
            return known


def _against(rows: Rows, column: ColumnRef, op: Op, value: object, how: Codec) -> Mask:
    values = rows.columns[column]
    if values.dtype == np.float64:
        return compare(values, op, np.full(len(values), float(value)))  # type: ignore[arg-type]
    return compare(values, op, encode_constant(value, how.unit(column), how.pool))  # type: ignore[arg-type]


def join_rows(
    left: Rows, right: Rows, joins: Sequence[Predicate], how: Codec, *, same_time: bool
) -> Rows:
    """Pairs of rows that satisfy `joins`; with `same_time` only those of one timestamp."""
    keys = equalities(joins, left.columns, right.columns)
    mine = [how.comparable(left.columns[a], a, right.columns[b]) for a, b in keys]
    theirs = [how.comparable(right.columns[b], b, left.columns[a]) for a, b in keys]
    if same_time:
        mine.append(left.rank)
        theirs.append(right.rank)
    starts, ends, order = matching_pairs(mine, theirs, (len(left), len(right)))
    i, j = expand(starts, ends, order)
    paired = Rows(
        {**_taken(left, i), **_taken(right, j)},
        left.rank[i],
        multiply(left.weight[i], right.weight[j]),
    )
    mask = np.ones(len(paired), dtype=np.bool_)
    for predicate in joins:
        mask &= holds(paired, predicate, how)
    return paired.take(mask)


def _taken(rows: Rows, index: Index) -> dict[Column, Array]:
    return {name: values[index] for name, values in rows.columns.items()}


def equalities(
    joins: Iterable[Predicate], left: Mapping[Column, Array], right: Mapping[Column, Array]
) -> list[tuple[ColumnRef, ColumnRef]]:
    """Equal columns, one on each side."""
    found = []
    for join in joins:
        match join:
            case Comparison(ColumnRef() as a, Op.EQ, ColumnRef() as b, 0):
                if a in left and b in right:
                    found.append((a, b))
                elif b in left and a in right:
                    found.append((b, a))
            case _:
                pass
    return found
