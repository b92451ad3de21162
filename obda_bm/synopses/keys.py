"""The columns that a state is keyed by, and how many values each can have there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef
from obda_bm.ir.verdict import KeyColumn
from obda_bm.order.cells import CellSpace
from obda_bm.order.closure import Closure
from obda_bm.order.joins import Join
from obda_bm.order.streams import enumerable


@dataclass(frozen=True, slots=True)
class Keys:
    """How many values columns have in a key; `coded` tells it of those kept by their place."""

    space: CellSpace
    joins: tuple[Join, ...]
    coded: Mapping[ColumnRef, int]

    def of(self, static: Iterable[str], columns: Iterable[ColumnRef]) -> tuple[KeyColumn, ...]:
        """Static rows and `columns` as keys, without what a constant or another key determines."""
        closure = self.space.timeline.closure
        rows = [_rows_of(closure, alias) for alias in static]
        keys = list(rows)
        for column in columns:
            known = {c.occurrence for c in closure.class_of(column)}
            fixed = closure.constant(column) is not None and closure.non_null(column)
            if fixed or any(k.column.occurrence in known for k in rows):
                continue
            if not any(closure.equals(column, k.column) for k in keys):
                keys.append(_with_null(closure, self._key(column)))
        return tuple(keys)

    def _key(self, column: ColumnRef) -> KeyColumn:
        key = key_column(self.space, self.joins, column)
        count = self.coded.get(column)
        if count is None or (key.values is not None and key.values <= count):
            return key
        return KeyColumn(column, count, "what it is compared with")


def emitted_keys(space: CellSpace, joins: tuple[Join, ...]) -> tuple[KeyColumn, ...]:
    """Keys for everything that was projected."""
    closure = space.timeline.closure
    projected = dict.fromkeys(closure.query.projected)
    static = dict.fromkeys(c.occurrence for c in projected if not closure.infinite(c.occurrence))
    own = [c for c in projected if closure.infinite(c.occurrence)]
    return Keys(space, joins, {}).of(static, own)


def _with_null(closure: Closure, key: KeyColumn) -> KeyColumn:
    """NULL is one more value of a column that nothing compares: a CHECK lets it pass."""
    if closure.non_null(key.column):
        return key
    values = None if key.values is None else key.values + 1
    return KeyColumn(key.column, values, f"{key.text} or NULL")


def _rows_of(closure: Closure, alias: str) -> KeyColumn:
    relation = closure.query.occurrence(alias).relation
    mentioned = [c for c in closure.values.nodes if c.occurrence == alias]
    column = mentioned[0] if mentioned else ColumnRef(alias, relation.columns[0].name)
    return KeyColumn(column, relation.rows, f"rows({relation.name})")


def key_column(space: CellSpace, joins: Sequence[Join], column: ColumnRef) -> KeyColumn:
    """How many values `column` takes in a key: its own, or its place among those it meets."""
    closure = space.timeline.closure
    order = closure.query.column(column).type.order
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    if column in closure.allowed:
        return KeyColumn(column, len(closure.allowed[column]), "listed values")
    if lower is not None and upper is not None and order is Order.DISCRETE:
        return _range(closure, column, lower, upper)
    if (rows := _static_equal(closure, column)) is not None:
        return rows
    stream = space.timeline.stream_of(column)
    if stream is not None and enumerable(space.timeline, stream):
        return _by_key(space, joins, column)
    if order is not Order.DISCRETE:
        return _places(space, joins, column)
    marks = space.landmarks[column]
    if marks.symbolic or not marks.constants:
        return KeyColumn(column, None, f"range({', '.join(map(str, marks.symbolic))})")
    return _clamped(closure, column, marks.constants)


def _range(closure: Closure, column: ColumnRef, lower: int, upper: int) -> KeyColumn:
    type_ = closure.query.column(column).type
    ends = [type_.literal(closure.scale.value(n)) for n in (lower, upper)]
    return KeyColumn(column, (upper - lower) // closure.grain(column) + 1, "..".join(ends))


def _static_equal(closure: Closure, column: ColumnRef) -> KeyColumn | None:
    for other in sorted(closure.class_of(column)):
        if not closure.infinite(other.occurrence):
            relation = closure.query.occurrence(other.occurrence).relation
            return KeyColumn(column, relation.rows, f"rows({relation.name})")
    return None


def raw_keys(space: CellSpace, joins: Sequence[Join], alias: str) -> tuple[KeyColumn, ...]:
    """The key of bounded columns that makes a stream finite."""
    closure = space.timeline.closure
    key = next(
        key
        for key in closure.query.occurrence(alias).relation.keys
        if all(closure.bounded(ColumnRef(alias, c)) for c in key)
    )
    return tuple(key_column(space, joins, ColumnRef(alias, c)) for c in key)


def _by_key(space: CellSpace, joins: Sequence[Join], column: ColumnRef) -> KeyColumn:
    parts = [k.values for k in raw_keys(space, joins, column.occurrence)]
    known = [values for values in parts if values is not None]
    values = prod(known) if len(known) == len(parts) else None
    return KeyColumn(column, values, f"keys({column.occurrence})")


def _places(space: CellSpace, joins: Sequence[Join], column: ColumnRef) -> KeyColumn:
    """The place of a dense value, or a text, among the finitely many it is compared with."""
    closure = space.timeline.closure
    sides = [(j.left, j.right) for j in joins] + [(j.right, j.left) for j in joins]
    partners = [b for a, b in sides if a == column and closure.bounded(b)]
    counts = [key_column(space, joins, partner).values for partner in partners]
    counts.append(len(space.landmarks[column].constants))
    known = [count for count in counts if count is not None]
    ordered = closure.query.column(column).type.order is Order.DENSE
    marks = sum(known)
    values = 2 * marks + 1 if ordered else marks + 1
    listed = ", ".join(map(str, dict.fromkeys(partners))) or "constants"
    return KeyColumn(column, values if len(known) == len(counts) else None, f"places({listed})")


def _clamped(closure: Closure, column: ColumnRef, constants: tuple[int, ...]) -> KeyColumn:
    """A two-sided clamp: everything below the constants is one value, everything above another."""
    type_ = closure.query.column(column).type
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    bottom = constants[0] if lower is None else max(lower, constants[0])
    top = constants[-1] if upper is None else min(upper, constants[-1])
    ends = [type_.literal(closure.scale.value(n)) for n in (bottom, top)]
    inside = max(0, (top - bottom) // closure.grain(column) + 1)
    beyond = (lower is None or lower < bottom) + (upper is None or upper > top)
    return KeyColumn(column, inside + beyond, f"{'..'.join(ends)} clamped")
