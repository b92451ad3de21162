"""Literals of the text -> exact values."""

from __future__ import annotations

import re
from fractions import Fraction

from sqlglot import exp

from obda_bm.diagnostics import Diagnostic, Span, SqlError
from obda_bm.ir.sqltypes import (
    DATE,
    DAY,
    FIRST_INSTANT,
    INTEGER,
    TIMESTAMP,
    SqlType,
    decimal,
    instant,
)
from obda_bm.ir.terms import Constant
from obda_bm.sql.fragment import outside

_LAST_INSTANT = instant("9999-12-31T23:59:59.999999")
_NUMBER = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?")
_MAX_DIGITS = 300  # wider than any SQL number, and far from Python's limit on printing integers

_TICKS = {
    "MICROSECOND": 1,
    "US": 1,
    "MILLISECOND": 1_000,
    "MS": 1_000,
    "SECOND": 1_000_000,
    "SEC": 1_000_000,
    "MINUTE": 60_000_000,
    "MIN": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": DAY,
    "WEEK": 7 * DAY,
}
_VARYING = frozenset({"MONTH", "MON", "QUARTER", "YEAR", "DECADE", "CENTURY", "MILLENNIUM"})
_AMOUNT = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")

_INSTANT_TYPES: dict[exp.DType, SqlType] = {
    exp.DType.DATE: DATE,
    exp.DType.DATETIME: TIMESTAMP,
    exp.DType.TIMESTAMP: TIMESTAMP,
    exp.DType.TIMESTAMPTZ: TIMESTAMP,
    exp.DType.TIMESTAMPLTZ: TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: TIMESTAMP,
}


def read_number(text: str, span: Span | None) -> Fraction:
    """The exact value of a numeric literal.

    >>> read_number("1.5e-3", None)
    Fraction(3, 2000)
    """
    found = _NUMBER.fullmatch(text)
    if found is None or not (found[1] or found[2]):
        raise SqlError(Diagnostic("OBM207", "not a decimal number", span))
    exponent = found[3] or "0"
    if len(text) > _MAX_DIGITS or len(exponent) > 4 or abs(int(exponent)) > _MAX_DIGITS:
        raise SqlError(Diagnostic("OBM207", "the number is out of range", span))
    shift = int(exponent) - len(found[2])
    return Fraction(int(found[1] + found[2])) * Fraction(10) ** shift


def number_constant(value: Fraction, span: Span | None) -> Constant:
    """A number with the smallest exact type that holds it.

    >>> number_constant(Fraction(5, 2), None).type.name
    'DECIMAL(2,1)'
    """
    if value.denominator == 1:
        return Constant(value.numerator, INTEGER, span)
    scale = 1
    while (value * 10**scale).denominator != 1:
        scale += 1
    digits = len(str(abs((value * 10**scale).numerator)))
    return Constant(value, decimal(max(digits, scale), scale), span)


def require_printable(value: Fraction, span: Span | None) -> Fraction:
    """`value`, unless folding made it longer than any literal may be."""
    if value.numerator.bit_length() + value.denominator.bit_length() > 8 * _MAX_DIGITS:
        raise SqlError(Diagnostic("OBM207", "the number is out of range", span))
    return value


def instant_constant(ticks: int, type_: SqlType, span: Span | None) -> Constant:
    if not FIRST_INSTANT <= ticks <= _LAST_INSTANT:
        raise SqlError(Diagnostic("OBM207", "the time lies outside the years 1 to 9999", span))
    return Constant(ticks, type_, span)


def read_instant(text: str, type_: SqlType, span: Span | None) -> Constant:
    """A date or timestamp written as a string."""
    try:
        ticks = instant(text)
    except (ValueError, OverflowError):
        raise SqlError(
            Diagnostic(
                "OBM207",
                "not a date or timestamp",
                span,
                "Write it as '2026-01-31' or '2026-01-31 12:00:00'.",
            )
        ) from None
    return instant_constant(ticks, type_, span)


def read_typed_instant(cast: exp.Cast, span: Span | None) -> Constant | None:
    """The value of DATE '…', TIMESTAMP '…' or CAST('…' AS …), or None for other casts."""
    target = cast.to.this
    if not isinstance(target, exp.DType) or cast.args.get("format") or cast.args.get("default"):
        return None
    type_ = _INSTANT_TYPES.get(target)
    literal = cast.this
    if type_ is None or not isinstance(literal, exp.Literal) or not literal.is_string:
        return None
    constant = read_instant(literal.this, type_, span)
    if type_ is DATE and isinstance(constant.value, int) and constant.value % DAY:
        raise SqlError(Diagnostic("OBM207", "a date has no time of day", span, "Write TIMESTAMP."))
    return constant


def read_interval(interval: exp.Interval, span: Span | None) -> int:
    """The length of `interval` in microseconds."""
    amount = interval.this.unnest() if isinstance(interval.this, exp.Expr) else None
    negative = isinstance(amount, exp.Neg)
    if isinstance(amount, exp.Neg):
        amount = amount.this
    unit = interval.args.get("unit")
    if not isinstance(amount, exp.Literal) or not isinstance(unit, exp.Var | None):
        raise outside(
            "OBM319",
            "the interval is not one number and one unit",
            span,
            "Write a number and one unit, as in INTERVAL '5' MINUTE.",
        )
    written = str(amount.this)
    ticks = _interval_ticks(f"{written} {unit.name}" if unit else written, span)
    return -ticks if negative else ticks


def _interval_ticks(text: str, span: Span | None) -> int:
    total, position = Fraction(0), 0
    while position < len(text):
        found = _AMOUNT.match(text, position)
        if found is None:
            raise SqlError(_not_an_interval(span))
        total += (
            read_number(found[1].lstrip("+-"), span)
            * _unit_ticks(found[2], span)
            * (-1 if found[1].startswith("-") else 1)
        )
        position = found.end()
    if not text.strip() or total.denominator != 1:
        raise SqlError(_not_an_interval(span))
    return total.numerator


def _unit_ticks(word: str, span: Span | None) -> int:
    unit = word.upper()
    name = unit if unit in _TICKS else unit.removesuffix("S")
    if name in _VARYING or unit in {"CENTURIES", "MILLENNIA"}:
        raise outside(
            "OBM319",
            f"a {name.lower()} has no fixed length",
            span,
            "Write the interval in days.",
        )
    if name not in _TICKS:
        raise SqlError(_not_an_interval(span))
    return _TICKS[name]


def _not_an_interval(span: Span | None) -> Diagnostic:
    return Diagnostic(
        "OBM207",
        "not an interval of whole microseconds",
        span,
        "Write a number and a unit, as in INTERVAL '5' MINUTE.",
    )
