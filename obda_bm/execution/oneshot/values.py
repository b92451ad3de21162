"""Values of a database -> RDF terms ([R2RML] sections 10 and 11)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from obda_bm.execution.mistakes import Mistake
from obda_bm.ir.lexical import NUMERIC_DATATYPES, iri_safe, write_double
from obda_bm.ir.rdf import RDF, STRING, XSD, Iri, Literal

SqlValue = object
"""What a driver returns: None, bool, int, float, Decimal, str, bytes, date, datetime, time …"""


@dataclass(frozen=True, slots=True, order=True)
class BlankNode:
    label: str

    def __str__(self) -> str:
        return f"_:{self.label}"


Resource = Iri | Literal | BlankNode


def natural_literal(value: SqlValue) -> Literal:
    """The literal that [R2RML] Table in section 10.2 gives a SQL value.

    >>> print(natural_literal(Decimal("12.50")))
    "12.5"^^<http://www.w3.org/2001/XMLSchema#decimal>
    """
    match value:
        case bool():
            return Literal("true" if value else "false", XSD + "boolean")
        case int():
            return Literal(str(value), XSD + "integer")
        case float():
            return Literal(write_double(value), XSD + "double")
        case Decimal():
            return Literal(_decimal(value), XSD + "decimal")
        case datetime():
            return Literal(_timestamp(value), XSD + "dateTime")
        case date():
            return Literal(value.isoformat(), XSD + "date")
        case time():
            return Literal(value.isoformat(), XSD + "time")
        case timedelta():
            return Literal(f"PT{value.total_seconds():g}S", XSD + "dayTimeDuration")
        case bytes() | bytearray() | memoryview():
            return Literal(bytes(value).hex().upper(), XSD + "hexBinary")
        case _:
            return Literal(str(value), STRING)


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        return str(value)
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text


def _timestamp(value: datetime) -> str:
    text = value.isoformat()
    text = re.sub(r"(\.\d*?)0+(?=$|[+-])", r"\1", text)
    return text.replace("+00:00", "Z")


def literal(value: SqlValue, datatype: str, language: str) -> Literal:
    """A literal with the datatype or language that the mapping gives; the natural one without.

    Numbers are written canonically for a numeric datatype, so that equal values make equal terms.
    """
    natural = natural_literal(value)
    if language:
        return Literal(natural.lexical, RDF + "langString", language)
    if not datatype or datatype == natural.datatype:
        return natural
    return Literal(_canonical(value, natural.lexical, datatype), datatype)


def _canonical(value: SqlValue, lexical: str, datatype: str) -> str:
    if datatype in {XSD + "double", XSD + "float"} and isinstance(value, int | Decimal):
        return write_double(float(value))
    if datatype in NUMERIC_DATATYPES and isinstance(value, float) and value == int(value):
        return str(int(value))
    if datatype in NUMERIC_DATATYPES and isinstance(value, float):
        return _decimal(Decimal(repr(value)))
    if datatype == XSD + "boolean" and isinstance(value, int):
        return "true" if value else "false"
    return lexical


_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_NOT_IN_IRIS = re.compile(r'[\x00-\x20<>"{}|\\^`]')


def iri(text: str, base: str) -> Iri:
    """The IRI that a column or template gives; relative ones stand below `base`.

    Raises:
        ExecutionError: where the text is none: a data error ([R2RML] section 11.2).
    """
    full = text if _ABSOLUTE.match(text) else base + text
    relative_steps = full is not text and any(s in {".", ".."} for s in text.split("/"))
    if _NOT_IN_IRIS.search(full) or relative_steps:
        hint = "Correct the data, or make the term by a template, which encodes what it inserts."
        raise Mistake.BAD_IRI.error(f"{full!r} is not an IRI", hint)
    return Iri(full)


def blank_node(text: str) -> BlankNode:
    """A blank node, the same for the same text.

    >>> print(blank_node("Bob Smith"))
    _:bBob_20_Smith
    """
    safe = re.sub(r"[^A-Za-z0-9]", lambda char: f"_{ord(char[0]):x}_", text)
    return BlankNode(f"b{safe}")


def encoded(value: SqlValue) -> str:
    """The percent-encoded natural lexical form."""
    return iri_safe(natural_literal(value).lexical)
