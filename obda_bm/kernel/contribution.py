"""What a synopsis keeps of new partial matches: places of key columns, extremes combined."""

from __future__ import annotations

import numpy as np

from obda_bm.ir.plan import Extreme, Side, Synopsis
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef
from obda_bm.kernel.encoding import Array
from obda_bm.kernel.places import clip, placed, shifted
from obda_bm.kernel.rows import Column, Rows
from obda_bm.kernel.scan import Codec


def extremes_of(rows: Rows) -> list[Extreme]:
    """The extremes that older matches have left of their columns."""
    return [c for c in rows.columns if isinstance(c, Extreme)]


def contribution(synopsis: Synopsis, rows: Rows, how: Codec) -> Rows:
    """New partial matches as the synopsis keeps them: places of key columns, extremes combined."""
    columns: dict[Column, Array] = {c: _plain(rows, c) for c in synopsis.key}
    for limit in synopsis.clamps:
        columns[limit.column] = clip(columns[limit.column], limit.lower, limit.upper)
    for places in synopsis.places:
        columns[places.column] = placed(columns[places.column], places, how.pool)
    for extreme in synopsis.extremes:
        columns[extreme] = _worst(rows, extreme, how)
    return Rows(columns, rows.rank, rows.weight)


def _plain(rows: Rows, column: ColumnRef) -> Array:
    """The values of `column`, or what the extreme that is left of it stands for."""
    if column in rows.columns:
        return rows.columns[column]
    older = next(e for e in extremes_of(rows) if column in e.columns)
    return shifted(rows.columns[older], -older.shifts[older.columns.index(column)])


def _worst(rows: Rows, extreme: Extreme, how: Codec) -> Array:
    """The worst of the columns that a test looks at; extremes of older matches come first.

    Beside them, a column of an older match is only the place that another test needs.
    """
    older = [e for e in extremes_of(rows) if _serves(e, extreme)]
    values = [_regapped(rows, o, extreme, how) for o in older]
    known = {c for e in older for c in e.columns}
    for column, shift in zip(extreme.columns, extreme.shifts, strict=True):
        if column not in known:
            plain = rows.columns[column]
            whole = how.number_type(extreme) is np.float64 and plain.dtype != np.float64
            values.append(shifted(plain / how.unit(column) if whole else plain, shift))
    worst = values[0]
    for value in values[1:]:
        worst = np.maximum(worst, value) if extreme.side is Side.MIN else np.minimum(worst, value)
    return clip(worst, extreme.lower, extreme.upper)


def _regapped(rows: Rows, older: Extreme, extreme: Extreme, how: Codec) -> Array:
    """The older value, as the larger extreme would hold it for a test that they share."""
    test = next(t for t in extreme.tests if t in older.tests)
    dense = how.number_type(extreme) is np.float64
    if not dense and how.types[test].order is Order.DENSE:
        return rows.columns[older]  # without shifts, both have the same gap
    value = tested(rows, older, test, how)
    if dense and value.dtype != np.float64:
        value = np.asarray(value / how.unit(older.columns[0]))
    return shifted(value, -extreme.gap(test))


def tested(rows: Rows, extreme: Extreme, test: ColumnRef, how: Codec) -> Array:
    """The value of `extreme` that `test` must reach: one for dense tests, where they are dense."""
    value = rows.columns[extreme]
    if how.types[test].order is Order.DENSE and value.dtype != np.float64:
        value = np.asarray(value / how.unit(extreme.columns[0]))
    return shifted(value, extreme.gap(test))


def _serves(older: Extreme, extreme: Extreme) -> bool:
    return (
        older.side is extreme.side
        and set(older.columns) <= set(extreme.columns)
        and bool(set(older.tests) & set(extreme.tests))
    )
