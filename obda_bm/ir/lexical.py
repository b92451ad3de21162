"""How SQL values are written in RDF: natural datatypes, lexical forms, percent-encoding.

[R2RML] sections 7.3 and 10.2. Materialising writes values so; unfolding reads the constants of a
query back.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from math import isfinite, isinf
from urllib.parse import unquote

from obda_bm.ir.rdf import STRING, XSD
from obda_bm.ir.sqltypes import DAY, Family, Order, SqlType, Value, instant


class Writing(Enum):
    """The forms that values of a SQL type take; the alphabet is for the percent-encoded form."""

    INTEGER = (XSD + "integer", r"[0-9\-]")
    DECIMAL = (XSD + "decimal", r"[0-9.\-]")
    DOUBLE = (XSD + "double", r"[0-9.EINFa\-]")
    BOOLEAN = (XSD + "boolean", r"[truefals]")
    DATE = (XSD + "date", r"[0-9\-]")
    TIMESTAMP = (XSD + "dateTime", r"[0-9T.Z%A+\-]")
    TEXT = (STRING, r"[\w.~%\-]")

    def __init__(self, datatype: str, alphabet: str) -> None:
        self.datatype = datatype
        self.alphabet = alphabet


NUMBERS = frozenset({Writing.INTEGER, Writing.DECIMAL, Writing.DOUBLE})

NUMERIC_DATATYPES = frozenset(
    XSD + name
    for name in (
        *("integer", "decimal", "double", "float", "int", "long", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"),
    )
)


def writing_of(type_: SqlType) -> Writing:
    match type_.family:
        case Family.TEXT:
            return Writing.TEXT
        case Family.BOOLEAN:
            return Writing.BOOLEAN
        case Family.INSTANT:
            return Writing.DATE if type_.grain == DAY else Writing.TIMESTAMP
        case Family.NUMBER if type_.order is Order.DENSE:
            return Writing.DOUBLE
        case Family.NUMBER:
            return Writing.INTEGER if type_.grain == 1 else Writing.DECIMAL


def iri_safe(text: str) -> str:
    """`text` with everything but unreserved characters percent-encoded.

    >>> iri_safe("Saint Martin (é)")
    'Saint%20Martin%20%28é%29'
    """
    return "".join(
        char
        if char in _UNRESERVED or (ord(char) >= 0xA0 and char.isprintable())
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in text
    )


_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def from_iri_safe(text: str) -> str | None:
    """The text whose percent-encoding is `text`, or None where there is none."""
    decoded = unquote(text, errors="strict") if "%" in text else text
    return decoded if iri_safe(decoded) == text else None


_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")


def read_value(text: str, writing: Writing) -> Value | None:
    """The value whose natural lexical form is `text`, or None.

    >>> read_value("12", Writing.INTEGER), read_value("012", Writing.INTEGER)
    (12, None)
    """
    match writing:
        case Writing.TEXT:
            return text
        case Writing.INTEGER:
            return int(text) if _INTEGER.fullmatch(text) and text != "-0" else None
        case Writing.BOOLEAN:
            return {"true": 1, "false": 0}.get(text)
        case Writing.DECIMAL | Writing.DOUBLE:
            number = read_number(text)
            return number if number is not None and write_number(number, writing) == text else None
        case Writing.DATE:
            return instant(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None
        case Writing.TIMESTAMP:
            return read_instant(text) if re.fullmatch(_TIMESTAMP, text) else None


_TIMESTAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{0,5}[1-9])?"


def read_instant(text: str) -> int | None:
    """Microseconds since 1970 of an xsd:dateTime or xsd:date; UTC where no zone is given."""
    try:
        return instant(text.replace("Z", "+00:00"))
    except ValueError:
        return None


def read_number(text: str) -> Fraction | None:
    """The number that a numeric literal denotes; None for INF, NaN and what is no number."""
    try:
        number = Decimal(text.strip())
        return Fraction(number) if number.is_finite() and len(text) < 100 else None
    except (InvalidOperation, ValueError):
        return None


def write_number(number: Fraction, writing: Writing) -> str:
    """The canonical form of a number: `12`, `12.5`, `1.25E1`."""
    if writing is Writing.DOUBLE:
        return write_double(float(number))
    if number.denominator == 1:
        return str(number.numerator)
    digits = Decimal(number.numerator) / Decimal(number.denominator)
    return format(digits, "f")


def write_double(number: float, digits: str | None = None) -> str:
    """The canonical form of an xsd:double; `digits` is the shortest text that reads back as it.

    >>> write_double(30.0), write_double(-0.00125)
    ('3.0E1', '-1.25E-3')
    """
    if not isfinite(number):
        return ("INF" if number > 0 else "-INF") if isinf(number) else "NaN"
    if number == 0:
        return "0.0E0"
    sign, figures, exponent = Decimal(digits or repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int), "finite"
    fraction = "".join(map(str, figures[1:])) or "0"
    power = exponent + len(figures) - 1
    return f"{'-' if sign else ''}{figures[0]}.{fraction}E{power}"
