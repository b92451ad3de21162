"""What is enough to know of a value that will only be compared: its place among those it meets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from obda_bm.ir.plan import Grid, Places, Range
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef, Comparison
from obda_bm.order.closure import Closure
from obda_bm.synopses.inputs import Arrivals, units_per_one


def clamp(arrivals: Arrivals, column: ColumnRef, partners: Sequence[ColumnRef]) -> Range | None:
    """What lies beyond all that `column` will be compared with is alike, just beyond."""
    query = arrivals.timeline.closure.query
    if query.column(column).type.order is not Order.DISCRETE:
        return None
    lower, upper = common_range(arrivals, partners)
    unit = units_per_one(query, column, arrivals.scale)
    return Range(
        column, None if lower is None else lower - unit, None if upper is None else upper + unit
    )


def has_few_places(arrivals: Arrivals, join: Comparison) -> bool:
    """Whether finitely many places of the left column decide `join`."""
    left, right = join.left, join.right
    assert isinstance(left, ColumnRef)
    assert isinstance(right, ColumnRef)
    if arrivals.timeline.closure.query.column(left).type.order is not Order.DISCRETE:
        return places(arrivals, left, [right]) is not None
    own, met = common_range(arrivals, [left]), common_range(arrivals, [right])
    return all(a is not None or b is not None for a, b in zip(own, met, strict=True))


def common_range(arrivals: Arrivals, columns: Sequence[ColumnRef]) -> tuple[int | None, int | None]:
    """Between which numbers of the plan all of `columns` are; None where there is no bound."""
    closure = arrivals.timeline.closure
    lowers = [_bound(arrivals, c, closure.values.lower(c)) for c in columns]
    uppers = [_bound(arrivals, c, closure.values.upper(c)) for c in columns]
    return (
        None if None in lowers else min(floor(low) for low in lowers if low is not None),
        None if None in uppers else max(ceil(up) for up in uppers if up is not None),
    )


def _bound(arrivals: Arrivals, column: ColumnRef, number: int | None) -> Fraction | None:
    closure = arrivals.timeline.closure
    if number is None or closure.query.column(column).type.order is Order.UNORDERED:
        return None
    unit = units_per_one(closure.query, column, arrivals.scale)
    return Fraction(closure.scale.value(number)) * unit


def places(arrivals: Arrivals, column: ColumnRef, partners: Sequence[ColumnRef]) -> Places | None:
    """The finitely many values that a dense column, or a text, will be compared with."""
    closure = arrivals.timeline.closure
    order = closure.query.column(column).type.order
    found = [_values(closure, partner) for partner in partners]
    known = [values for values in found if values is not None]
    if order is Order.DISCRETE or len(known) < len(found):
        return None
    if order is Order.DENSE:
        grids = [g for values in known for g in values if isinstance(g, Grid)]
        return Places(column, grids=tuple(dict.fromkeys(grids)))
    texts = [t for values in known for t in values if isinstance(t, str)]
    return Places(column, texts=tuple(dict.fromkeys(texts)))


def _values(closure: Closure, column: ColumnRef) -> list[Grid | str] | None:
    """The values that `column` can have; None where they are not finitely many."""
    type_ = closure.query.column(column).type
    number = closure.constant(column)
    listed = closure.allowed.get(column, frozenset() if number is None else frozenset([number]))
    if type_.order is Order.UNORDERED:
        texts = {closure.scale.number(text): text for text in closure.scale.texts}
        return [texts[n] for n in sorted(listed) if n in texts] if listed else None
    if listed:
        values = [Fraction(closure.scale.value(n)) for n in sorted(listed)]
        return [Grid(value, value, Fraction(1)) for value in values]
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    if lower is None or upper is None or type_.order is Order.DENSE:
        return None
    low, high = Fraction(closure.scale.value(lower)), Fraction(closure.scale.value(upper))
    return [Grid(ceil(low / type_.grain) * type_.grain, high, type_.grain)]
