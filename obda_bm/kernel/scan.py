"""Arriving tuples as rows: encoded, filtered, joined with what arrives together with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from obda_bm.ir.plan import ROW, BranchPlan, Extreme, Input, Scan
from obda_bm.ir.sqltypes import INTEGER, Family, Order, SqlType
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
from obda_bm.kernel.counts import multiply, ones
from obda_bm.kernel.encoding import Array, TextPool, encode, encode_constant, is_null
from obda_bm.kernel.pairs import Limit, matches
from obda_bm.kernel.rows import Column, Mask, Rows, compare, concatenate, everything

WEIGHT = "#weight"
"""The column of reduced rows that tells how many rows each stands for."""


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

    def number_type(self, extreme: Extreme) -> type[np.float64] | type[np.int64]:
        """An extreme is dense where a column is, or where shifts are those of a dense test."""
        columns = (*extreme.columns, *(extreme.tests if any(extreme.shifts) else ()))
        dense = any(self.types[c].order is Order.DENSE for c in columns)
        return np.float64 if dense else np.int64

    def comparable(self, values: Array, column: ColumnRef, other: Array) -> Array:
        """`values` as they compare with `other`: whole numbers become dense beside dense ones."""
        if other.dtype == np.float64 and values.dtype != np.float64:
            return np.asarray(values.astype(np.float64) / self.unit(column))
        return values


def codec(branch: BranchPlan, pool: TextPool) -> Codec:
    scans = [s for i in branch.inputs for s in (*i.scans, *i.statics)]
    types = {ColumnRef(s.alias, c.name): c.type for s in scans for c in s.relation.columns}
    types.update({ColumnRef(s.alias, ROW): INTEGER for s in scans})
    times = frozenset(ColumnRef(s.alias, s.relation.time) for s in scans if s.relation.time)
    return Codec(types, times, branch.scale, pool)


def joined_columns(branch: BranchPlan) -> frozenset[ColumnRef]:
    """Columns that are compared with others: NULL in one of them never matches."""
    joins = [p for step in branch.steps for p in step.joins]
    joins += [p for arriving in branch.inputs for p in arriving.joins]
    return frozenset(c for p in joins for c in columns_of(p))


def carried_columns(branch: BranchPlan) -> frozenset[ColumnRef]:
    """Columns that are needed once the filters have had their say: by joins, or in the answer."""
    projected = [o.term for o in branch.projection if isinstance(o.term, ColumnRef)]
    keys = [column for synopsis in branch.synopses for column in synopsis.key]
    return joined_columns(branch).union(projected, keys)


def read_input(
    arriving: Input, branch: BranchPlan, tables: Mapping[str, pa.Table], how: Codec
) -> Rows:
    """The rows of one input, without a rank yet: `rank` holds the timestamp."""
    first, *others = (*arriving.scans, *arriving.statics)
    rows = read_scan(first, branch, tables[first.relation.name], how)
    for scan in others:
        more = read_scan(scan, branch, tables[scan.relation.name], how)
        ready = {*rows.columns, *more.columns}
        joins = [p for p in arriving.joins if set(columns_of(p)) <= ready]
        join = join_at_once if scan in arriving.scans else join_rows
        rows = join(rows, more, joins, how)
    return rows


def read_scan(scan: Scan, branch: BranchPlan, table: pa.Table, how: Codec) -> Rows:
    """Tuples of one occurrence that pass its filters, with the columns that are carried on."""
    rows = encode_scan(scan, branch, table, how)
    return rows.only(carried_columns(branch)).where(passing(scan, branch, table, rows, how))


def needed_columns(scan: Scan, branch: BranchPlan) -> frozenset[ColumnRef]:
    """The columns of one occurrence that are filtered, compared or projected, and its time."""
    named = {c for predicate in scan.filters for c in columns_of(predicate)}
    named |= {limit.column for limit in scan.ranges}
    named |= {c for c in carried_columns(branch) if c.occurrence == scan.alias}
    time = scan.relation.time
    return frozenset(named if time is None else named | {ColumnRef(scan.alias, time)})


def encode_scan(scan: Scan, branch: BranchPlan, table: pa.Table, how: Codec) -> Rows:
    """All tuples of one occurrence; `rank` holds the timestamp."""
    columns: dict[Column, Array] = {
        c: np.arange(table.num_rows)
        if c.column == ROW
        else encode(table.column(c.column), how.types[c], how.unit(c), how.pool)
        for c in sorted(needed_columns(scan, branch))
    }
    time = scan.relation.time
    rank = np.zeros(table.num_rows) if time is None else columns[ColumnRef(scan.alias, time)]
    return Rows(columns, rank.astype(np.int64, copy=False), _weights(table))


def _weights(table: pa.Table) -> Array:
    """How often each row counts; rows that come as they are count once."""
    if WEIGHT not in table.column_names:
        return ones(table.num_rows)
    weights = table.column(WEIGHT)
    if pa.types.is_decimal(weights.type):
        return np.array([int(weight) for weight in weights.to_pylist()], dtype=object)
    return np.asarray(weights.to_numpy())


def passing(scan: Scan, branch: BranchPlan, table: pa.Table, rows: Rows, how: Codec) -> Mask:
    """Which tuples pass the filters, and have a value wherever they are compared."""
    mask = everything(len(rows))
    for column in _with_nulls(scan, branch, table):
        mask &= ~is_null(rows.columns[column])
    for predicate in scan.filters:
        mask &= holds(rows, predicate, how)
    for limit in scan.ranges:
        mask &= _within(rows.columns[limit.column], limit.lower, limit.upper)
    return mask


def _with_nulls(scan: Scan, branch: BranchPlan, table: pa.Table) -> list[ColumnRef]:
    """Columns with NULLs, or in dense ones NaNs, of which the query wants only the other values."""
    compared = {c for predicate in scan.filters for c in columns_of(predicate)}
    compared |= {limit.column for limit in scan.ranges}
    compared |= {c for c in joined_columns(branch) if c.occurrence == scan.alias}
    dense = {c.name for c in scan.relation.columns if c.type.order is Order.DENSE}
    return [
        c
        for c in compared
        if c.column != ROW and (c.column in dense or table.column(c.column).null_count)
    ]


def _within(values: Array, lower: int | None, upper: int | None) -> Mask:
    mask = everything(len(values))
    if lower is not None:
        mask &= compare(values, Op.GE, lower)
    if upper is not None:
        mask &= compare(values, Op.LE, upper)
    return mask


def holds(rows: Rows, predicate: Predicate, how: Codec) -> Mask:
    """The truth of `predicate` for each row; rows with NULL in its columns are not there."""
    match predicate:
        case Membership(column, values):
            found = np.zeros(len(rows), dtype=np.bool_)
            for listed in values:
                found |= _against(rows, column, Op.EQ, listed.value, how)
            return found
        case Comparison(ColumnRef() as left, op, ColumnRef() as right, offset):
            a, b = rows.columns[left], rows.columns[right]
            first, second = how.comparable(a, left, b), how.comparable(b, right, a)
            return compare(first, op, second + offset if offset else second)
        case Comparison(ColumnRef() as left, op, Constant(value)):
            return _against(rows, left, op, value, how)
        case Comparison(Constant(value), op, ColumnRef() as right):
            return _against(rows, right, op.mirrored, value, how)
        case Comparison() | NotNull():
            return everything(len(rows))


def _against(rows: Rows, column: ColumnRef, op: Op, value: object, how: Codec) -> Mask:
    values = rows.columns[column]
    if values.dtype == np.float64:
        return compare(values, op, np.full(len(values), float(value)))  # type: ignore[arg-type]
    return compare(values, op, encode_constant(value, how.unit(column), how.pool))  # type: ignore[arg-type]


def join_at_once(left: Rows, right: Rows, joins: Sequence[Predicate], how: Codec) -> Rows:
    """Pairs of rows of one timestamp that satisfy `joins`."""
    return _joined(left, right, joins, how, ([left.rank], [right.rank]))


def join_rows(left: Rows, right: Rows, joins: Sequence[Predicate], how: Codec) -> Rows:
    """Pairs of rows that satisfy `joins`; the right ones have no time of their own."""
    return _joined(left, right, joins, how, ([], []))


def _joined(
    left: Rows,
    right: Rows,
    joins: Sequence[Predicate],
    how: Codec,
    more: tuple[list[Array], list[Array]],
) -> Rows:
    keys = equalities(joins, left.columns, right.columns)
    mine = [how.comparable(left.columns[a], a, right.columns[b]) for a, b in keys]
    theirs = [how.comparable(right.columns[b], b, left.columns[a]) for a, b in keys]
    limit = limit_of(joins, left.columns, right.columns)
    found = matches([*mine, *more[0]], [*theirs, *more[1]], (len(left), len(right)), limit)
    parts = []
    for part in found.parts():
        i, j = found.pairs(part)
        one, other = left.take(i), right.take(j)
        weight = multiply(one.weight, other.weight)
        paired = replace(one, columns={**one.columns, **other.columns}, weight=weight)
        mask = everything(len(paired))
        for predicate in joins:
            mask &= holds(paired, predicate, how)
        parts.append(paired.where(mask))
    return concatenate(parts)


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


def limit_of(
    joins: Iterable[Predicate], left: Mapping[Column, Array], right: Mapping[Column, Array]
) -> Limit | None:
    """An inequality between the two sides that spares making pairs only to drop them."""
    for join in joins:
        match join:
            case Comparison(ColumnRef() as a, op, ColumnRef() as b, 0) if op not in (Op.EQ, Op.NE):
                if b in left and a in right:
                    a, b, op = b, a, op.mirrored
                whole = a in left and b in right and left[a].dtype == right[b].dtype == np.int64
                if whole:
                    return Limit(left[a], op, right[b])
            case _:
                pass
    return None
