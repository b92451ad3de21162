"""Value expressions: columns and constants, which time lets one add and subtract."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from sqlglot import exp

from obda_bm.diagnostics import Span
from obda_bm.ir.sqltypes import BOOLEAN, DAY, TEXT, TIMESTAMP, Family
from obda_bm.ir.terms import Constant
from obda_bm.sql.fragment import unsupported
from obda_bm.sql.literals import (
    instant_constant,
    number_constant,
    read_interval,
    read_number,
    read_typed_instant,
    require_printable,
)
from obda_bm.sql.names import Item, Scope, resolve_column
from obda_bm.sql.spans import SqlText

Amount = TypeVar("Amount", int, Fraction)


@dataclass(frozen=True, slots=True)
class Sum:
    """`plus - minus + number + duration`; None where no number, or no interval, was written.

    Numeric constants are in `number`; other constants are items, as columns are.
    """

    node: exp.Expr
    span: Span | None
    plus: tuple[Item, ...] = ()
    minus: tuple[Item, ...] = ()
    number: Fraction | None = None
    duration: int | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        return self.plus + self.minus


def read_sum(node: exp.Expr, scope: Scope, text: SqlText) -> Sum:
    """The value of `node`.

    Raises:
        OutsideFragment: where it is neither a column, nor a constant, nor a sum of them.
    """
    span = text.span(node)
    match node:
        case exp.Paren():
            return read_sum(node.this, scope, text)
        case exp.Literal() if node.is_string:
            return single(node, Item(Constant(node.this, TEXT, span), TEXT))
        case exp.Literal():
            return Sum(node, span, number=read_number(node.this, span))
        case exp.Boolean():
            return single(node, Item(Constant(int(bool(node.this)), BOOLEAN, span), BOOLEAN))
        case exp.Interval():
            return Sum(node, span, duration=read_interval(node, span))
        case exp.Column() if not isinstance(node.this, exp.Star):
            return single(node, resolve_column(node, scope, text))
        case exp.Cast():
            constant = read_typed_instant(node, span)
            if constant is not None:
                return single(node, Item(constant, constant.type))
        case exp.Neg():
            return _negated(read_sum(node.this, scope, text), node, span)
        case exp.Add() | exp.Sub() | exp.Mul():
            left, right = (read_sum(side, scope, text) for side in (node.this, node.expression))
            return _combined(node, left, right, text)
    raise unsupported(node, text)


def single(node: exp.Expr, item: Item) -> Sum:
    """The value that is `item` alone."""
    match item.term:
        case Constant(value, _, span) if item.type.family is Family.NUMBER:
            assert not isinstance(value, str)
            return Sum(node, span, number=Fraction(value))
        case term:
            return Sum(node, term.span, plus=(item,))


def _combined(node: exp.Add | exp.Sub | exp.Mul, left: Sum, right: Sum, text: SqlText) -> Sum:
    span = text.span(node)
    match node:
        case exp.Mul():
            return _product(node, left, right, text)
        case exp.Sub():
            right = _negated(right, right.node, right.span)
    number = _total(left.number, right.number)
    return Sum(
        node,
        span,
        left.plus + right.plus,
        left.minus + right.minus,
        None if number is None else require_printable(number, span),
        _total(left.duration, right.duration),
    )


def _product(node: exp.Mul, left: Sum, right: Sum, text: SqlText) -> Sum:
    span = text.span(node)
    if left.items or right.items:
        raise unsupported(node, text)
    match left, right:
        case Sum(number=Fraction() as a, duration=None), Sum(number=Fraction() as b, duration=None):
            return Sum(node, span, number=require_printable(a * b, span))
        case (Sum(number=Fraction() as a, duration=None), Sum(number=None, duration=int() as d)) | (
            Sum(number=None, duration=int() as d),
            Sum(number=Fraction() as a, duration=None),
        ) if (a * d).denominator == 1:
            return Sum(node, span, duration=(a * d).numerator)
        case _:
            raise unsupported(node, text)


def _negated(value: Sum, node: exp.Expr, span: Span | None) -> Sum:
    return Sum(
        node,
        span,
        value.minus,
        value.plus,
        None if value.number is None else -value.number,
        None if value.duration is None else -value.duration,
    )


def _total(left: Amount | None, right: Amount | None) -> Amount | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


def term_of(value: Sum, text: SqlText) -> Item:
    """The one column or constant that `value` is.

    Raises:
        OutsideFragment: where arithmetic remains after constants are folded.
    """
    match value:
        case Sum(plus=(), minus=(), number=Fraction() as number, duration=None):
            constant = number_constant(number, value.span)
            return Item(constant, constant.type)
        case Sum(plus=(item,), minus=(), number=None, duration=None):
            return item
        case Sum(plus=(Item(Constant(int() as ticks), kind),), minus=(), number=None) if (
            kind.family is Family.INSTANT
        ):
            moment = ticks + (value.duration or 0)
            constant = instant_constant(moment, TIMESTAMP if moment % DAY else kind, value.span)
            return Item(constant, constant.type)
        case _:
            raise unsupported(value.node, text)
