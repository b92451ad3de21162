"""States are points in time: they compare with each other and with timestamps, not with values."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from obda_bm.diagnostics import Diagnostic, Span, StarqlError
from obda_bm.ir.formulas import (
    Aggregate,
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duration,
    Expression,
    Formula,
    FunctionCall,
    Minus,
    Operand,
    State,
)
from obda_bm.ir.rdf import XSD, Literal
from obda_bm.ir.starql import Select, StarqlQuery
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.variables import subformulas


class Sort(Enum):
    STATE = "a state"
    LENGTH = "a duration"
    TIMESTAMP = "a timestamp"
    COUNT = "a whole number"
    VALUE = "a value"


_SHIFTS = (ArithmeticOp.ADD, ArithmeticOp.SUB)


def check_sorts(query: StarqlQuery) -> Iterator[Diagnostic]:
    for formula in query.conditions:
        for part in subformulas(formula):
            yield from _check_formula(part)
    for item in query.output.items if isinstance(query.output, Select) else ():
        yield from _problems(item.expression)


def _check_formula(formula: Formula) -> Iterator[Diagnostic]:
    match formula:
        case Comparison(left, _, right):
            try:
                _compared(sort_of(left), sort_of(right), formula.span)
            except StarqlError as error:
                yield from error.diagnostics
        case FunctionCall(_, arguments):
            for argument in arguments:
                yield from _problems(argument)
        case _:
            pass


def _problems(expression: Expression) -> Iterator[Diagnostic]:
    try:
        sort_of(expression)
    except StarqlError as error:
        yield from error.diagnostics


def sort_of(expression: Expression) -> Sort:
    """What `expression` is.

    Raises:
        StarqlError: it adds or calls what cannot be added or called.
    """
    match expression:
        case State():
            return Sort.STATE
        case Duration():
            return Sort.LENGTH
        case Operand(Literal(_, datatype)):
            named = {XSD + "dateTime": Sort.TIMESTAMP, XSD + "integer": Sort.COUNT}
            return named.get(datatype, Sort.VALUE)
        case Operand():
            return Sort.VALUE
        case Minus(operand):
            return _needs_value(operand)
        case Aggregate(_, argument):
            return Sort.VALUE if argument is None else _needs_value(argument)
        case FunctionCall(_, arguments):
            for argument in arguments:
                _needs_value(argument)
            return Sort.VALUE
        case Arithmetic(left, op, right):
            return _sum(sort_of(left), op, sort_of(right), expression.span)


def _needs_value(expression: Expression) -> Sort:
    sort = sort_of(expression)
    if sort is Sort.STATE:
        hint = "A state can be compared, or shifted as in i + 1 or i + 5m; nothing else."
        raise Mistake.WRONG_SORT.error(expression.span, "a state where a value is needed", hint)
    return sort


def _sum(left: Sort, op: ArithmeticOp, right: Sort, span: Span | None) -> Sort:
    match left, right:
        case Sort.STATE, Sort.LENGTH | Sort.COUNT if op in _SHIFTS:
            return Sort.STATE
        case Sort.STATE, Sort.STATE if op is ArithmeticOp.SUB:
            return Sort.LENGTH
        case (Sort.STATE, _) | (_, Sort.STATE):
            message = f"cannot combine {left.value} and {right.value} by {op.value}"
            hint = "Shift a state by a number of states or by a duration: i + 1, i - 5m."
            raise Mistake.WRONG_SORT.error(span, message, hint)
        case Sort.LENGTH, _:
            return Sort.LENGTH
        case Sort.TIMESTAMP, _:
            return Sort.TIMESTAMP
        case Sort.COUNT, Sort.COUNT:
            return Sort.COUNT
        case _:
            return Sort.VALUE


def _compared(left: Sort, right: Sort, span: Span | None) -> None:
    other = right if left is Sort.STATE else left
    if Sort.STATE in (left, right) and other not in (Sort.STATE, Sort.TIMESTAMP):
        message = f"cannot compare {left.value} with {right.value}"
        hint = "Compare a state with another state, or with a timestamp."
        raise Mistake.WRONG_SORT.error(span, message, hint)
