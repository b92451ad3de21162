"""Comparisons of two values -> predicates of the query."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from obda_bm.diagnostics import Diagnostic, Span, SqlError
from obda_bm.ir.sqltypes import INTEGER, Family, Order, SqlType, Value
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Op, Predicate
from obda_bm.sql.fragment import outside, unsupported
from obda_bm.sql.literals import instant_constant, number_constant, read_instant
from obda_bm.sql.names import Item
from obda_bm.sql.spans import SqlText
from obda_bm.sql.sums import Sum, term_of

Conjunction = tuple[Predicate, ...]
"""Predicates that all hold; the empty one is true."""


def never(span: Span | None) -> Conjunction:
    """A condition that no row satisfies, as the analysis understands it."""
    one, zero = Constant(1, INTEGER, span), Constant(0, INTEGER, span)
    return (Comparison(one, Op.EQ, zero, span=span),)


def compare(left: Sum, op: Op, right: Sum, span: Span | None, text: SqlText) -> Conjunction:
    """`left op right`, or nothing where that is always true."""
    if any(item.is_time for item in left.items + right.items):
        return (_compare_times(left, op, right, span, text),)
    return compare_items(term_of(left, text), op, term_of(right, text), span)


def compare_items(left: Item, op: Op, right: Item, span: Span | None) -> Conjunction:
    left, right = fit(left, right, span), fit(right, left, span)
    ordered = op not in (Op.EQ, Op.NE)
    if ordered and Order.UNORDERED in (left.type.order, right.type.order):
        raise outside(
            "OBM313",
            f"text has no order that '{op.value}' could use",
            span,
            "Only = and <> compare text; number the values to order them.",
        )
    match left.term, right.term:
        case Constant(a), Constant(b) if _holds(a, op, b):
            return ()
        case _:
            return (Comparison(left.term, op, right.term, span=span),)


def fit(item: Item, other: Item, span: Span | None) -> Item:
    """`item` as a value that compares with `other`.

    Raises:
        SqlError: where their families differ.
    """
    match item.term, other.term:
        case Constant(str() as written, _, place), _ if other.type.family is Family.INSTANT:
            constant = read_instant(written, other.type, place)
            return Item(constant, constant.type)
        case Constant() as constant, ColumnRef() if _takes_type(item.type, other.type):
            return Item(replace(constant, type=other.type), other.type)
        case _, Constant(str()) if item.type.family is Family.INSTANT:
            return item  # the text will be read as an instant, or refused
        case _ if item.type.family is other.type.family:
            return item
        case _:
            raise SqlError(_clash(item.type, other.type, span))


def _takes_type(own: SqlType, other: SqlType) -> bool:
    # A number keeps the type that its digits need: 2.5 is no INTEGER, whatever it is compared with.
    return own.family is other.family and own.family is not Family.NUMBER


def _holds(a: Value, op: Op, b: Value) -> bool:
    match op:
        case Op.EQ:
            return a == b
        case Op.NE:
            return a != b
    assert not isinstance(a, str), "text has no order"
    assert not isinstance(b, str), "text has no order"
    match op:
        case Op.LT:
            return a < b
        case Op.LE:
            return a <= b
        case Op.GE:
            return a >= b
        case Op.GT:
            return a > b
        case _:
            assert_never(op)


def _clash(left: SqlType, right: SqlType, span: Span | None) -> Diagnostic:
    return Diagnostic(
        "OBM204",
        f"cannot compare {left.family.value} with {right.family.value}",
        span,
        "Compare values of one kind: numbers, times, booleans or text.",
    )


def _compare_times(left: Sum, op: Op, right: Sum, span: Span | None, text: SqlText) -> Comparison:
    """Solve for one time on each side: `plus - minus + shift op 0`."""
    time = next(item for item in left.items + right.items if item.is_time)
    kind = time.type
    plus = tuple(_as_time(item, time, span) for item in left.plus + right.minus)
    minus = tuple(_as_time(item, time, span) for item in left.minus + right.plus)
    shift = _ticks(left, kind, span) - _ticks(right, kind, span)
    match plus, minus:
        case (ColumnRef() as a,), (ColumnRef() as b,):
            return Comparison(a, op, b, _whole(-shift, span), span)
        case (ColumnRef() as a,), (Constant() as b,):
            return Comparison(a, op, _shifted(b, -shift, span), span=span)
        case (Constant() as a,), (ColumnRef() as b,):
            return Comparison(_shifted(a, shift, span), op, b, span=span)
        case (ColumnRef() as a,), () if kind.family is Family.NUMBER:
            return Comparison(a, op, number_constant(-shift, right.span), span=span)
        case (), (ColumnRef() as b,) if kind.family is Family.NUMBER:
            return Comparison(number_constant(shift, left.span), op, b, span=span)
        case ((_,), ()) | ((), (_,)):
            raise SqlError(
                Diagnostic(
                    "OBM204",
                    "cannot compare a time with an interval",
                    span,
                    "Subtract two times, as in s.ts - t.ts <= INTERVAL '5' MINUTE.",
                )
            )
        case _:
            raise unsupported(max((left, right), key=lambda side: len(side.items)).node, text)


def _as_time(item: Item, time: Item, span: Span | None) -> ColumnRef | Constant:
    match item.term:
        case Constant():
            return fit(item, time, span).term
        case ColumnRef() as column if not item.is_time:
            raise outside(
                "OBM317",
                f"time compared with non-time '{column}'",
                column.span or span,
                "Compare a time column with time columns and constants only.",
            )
        case column:
            if item.type.family is not time.type.family:
                raise SqlError(_clash(item.type, time.type, span))
            return column


def _ticks(value: Sum, kind: SqlType, span: Span | None) -> Fraction:
    """What is added to the times of `value`."""
    match kind.family, value:
        case Family.NUMBER, Sum(duration=None):
            return value.number or Fraction(0)
        case Family.INSTANT, Sum(number=None):
            return Fraction(value.duration or 0)
    expected = "an INTERVAL" if kind.family is Family.INSTANT else "a number"
    raise SqlError(
        Diagnostic(
            "OBM204",
            f"{kind.name} times are shifted by {expected}",
            value.span or span,
            f"Write {expected}, as the time column is {kind.name}.",
        )
    )


def _whole(shift: Fraction, span: Span | None) -> int:
    if shift.denominator != 1:
        raise SqlError(Diagnostic("OBM207", "times are shifted by whole numbers only", span))
    return shift.numerator


def _shifted(constant: Constant, shift: Fraction, span: Span | None) -> Constant:
    value = constant.value
    assert isinstance(value, int), "numeric constants are part of the shift"
    return instant_constant(value + _whole(shift, span), constant.type, constant.span)
