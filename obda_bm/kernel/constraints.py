"""Constraints of the catalog: a verdict relies on them, so rows that violate them must not pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from obda_bm.ir.catalog import Relation
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef, NotNull, Predicate, columns_of
from obda_bm.kernel.counts import ones
from obda_bm.kernel.encoding import TextPool, encode, is_null
from obda_bm.kernel.rows import Mask, Rows
from obda_bm.kernel.scan import Codec, holds


@dataclass(frozen=True, slots=True)
class Violation:
    row: int
    check: Predicate


def first_violation(relation: Relation, table: pa.Table) -> Violation | None:
    """The first row of `table` that a CHECK of `relation` forbids, and that CHECK."""
    if not relation.checks or not table.num_rows:
        return None
    how = _codec(relation)
    rows = _encoded(relation, table, how)
    found = [
        Violation(int(np.argmin(passing)), check)
        for check in relation.checks
        if not (passing := _passes(rows, check, how)).all()
    ]
    return min(found, key=lambda violation: violation.row, default=None)


def _codec(relation: Relation) -> Codec:
    types = {ColumnRef("", c.name): c.type for c in relation.columns}
    discrete = [t.grain.denominator for t in types.values() if t.order is Order.DISCRETE]
    times = frozenset([ColumnRef("", relation.time)] if relation.time else [])
    return Codec(types, times, max(discrete, default=1), TextPool())


def _encoded(relation: Relation, table: pa.Table, how: Codec) -> Rows:
    checked = dict.fromkeys(c for check in relation.checks for c in columns_of(check))
    columns = {
        c: encode(table.column(c.column), how.types[c], how.unit(c), how.pool) for c in checked
    }
    return Rows(columns, np.zeros(table.num_rows, dtype=np.int64), ones(table.num_rows))


def _passes(rows: Rows, check: Predicate, how: Codec) -> Mask:
    """As SQL has it, a CHECK that is unknown for a NULL in it passes."""
    missing = np.zeros(len(rows), dtype=np.bool_)
    for column in columns_of(check):
        missing |= is_null(rows.columns[column])
    return ~missing if isinstance(check, NotNull) else missing | holds(rows, check, how)
