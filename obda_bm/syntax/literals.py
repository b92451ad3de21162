"""Strings, numbers, durations and timestamps."""

from __future__ import annotations

import re
from datetime import datetime

from obda_bm.diagnostics import Span, did_you_mean
from obda_bm.ir.formulas import DURATION, Duration
from obda_bm.ir.rdf import RDF, XSD, Literal
from obda_bm.ir.starql_text import iso_text
from obda_bm.syntax.cursor import Cursor
from obda_bm.syntax.iris import resolve
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.times import UNITS, ZONES, UnknownZone, parse_duration, parse_timestamp
from obda_bm.syntax.tokens import Kind, Token

STRINGS = (Kind.STRING, Kind.LONG_STRING, Kind.UNCLOSED_STRING)
DATE_TIME = XSD + "dateTime"
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_NO_TIME = datetime(1970, 1, 1)


def parse_literal(cursor: Cursor) -> Literal | Duration:
    """The literal at the cursor; a duration is a value of its own."""
    token = cursor.take()
    if token.kind is Kind.NUMBER:
        return number(token.text)
    if token.kind is Kind.DURATION:
        return duration(cursor, token.text, token.span)
    text = unquote(token)
    if language := cursor.accept(Kind.LANGUAGE):
        return Literal(text, RDF + "langString", language.text[1:].lower())
    if not cursor.accept_symbol("^^"):
        return Literal(text)
    if cursor.token.kind not in (Kind.IRI, Kind.NAME):
        raise cursor.unexpected("a datatype", "Write a datatype after ^^, as in ^^xsd:double.")
    return typed(cursor, text, resolve(cursor, cursor.take()), cursor.span_from(token))


def typed(cursor: Cursor, text: str, datatype: str, span: Span) -> Literal | Duration:
    match datatype:
        case str() if datatype in (DURATION, XSD + "dayTimeDuration"):
            return duration(cursor, text, span)
        case str() if datatype == DATE_TIME:
            return Literal(iso_text(timestamp(cursor, text, span)), DATE_TIME)
        case _ if datatype == RDF + "langString":
            hint = 'Write the language after @, as in "text"@en.'
            cursor.note(Mistake.UNKNOWN_DATATYPE, span, "the language of the text is missing", hint)
            return Literal(text)
        case _:
            return Literal(text, datatype)


def number(text: str) -> Literal:
    """The literal that the digits stand for.

    >>> print(number("5"), number("0.5").datatype.rsplit("#")[1])
    "5"^^<http://www.w3.org/2001/XMLSchema#integer> decimal
    """
    kind = "double" if "e" in text.lower() else "decimal" if "." in text else "integer"
    return Literal(text, XSD + kind)


def duration(cursor: Cursor, text: str, span: Span) -> Duration:
    try:
        return Duration(parse_duration(text), span)
    except ValueError as error:
        hint = 'Write, for instance, "PT10M"^^xsd:duration or 10m; the units are d, h, m, s and ms.'
        unit = re.sub(r"[^A-Za-z]", "", text)
        near = did_you_mean(unit, UNITS) if len(unit) > 2 else None
        message = f"bad duration '{text}': {error}"
        cursor.note(Mistake.BAD_DURATION, span, message, near or hint)
        return Duration(1, span)


def timestamp(cursor: Cursor, text: str, span: Span) -> datetime:
    try:
        return parse_timestamp(text)
    except UnknownZone as zone:
        hint = did_you_mean(str(zone), ZONES) or "Write the offset itself, as in +02:00."
        cursor.note(Mistake.UNKNOWN_ZONE, span, f"unknown time zone '{zone}'", hint)
    except ValueError as error:
        message = f"bad timestamp '{text}': {error}"
        hint = 'Write, for instance, "2026-01-31T12:00:00Z"^^xsd:dateTime.'
        cursor.note(Mistake.BAD_TIMESTAMP, span, message, hint)
    return _NO_TIME


def unquote(token: Token) -> str:
    """The text inside the quotes, with its escapes replaced."""
    width = 3 if token.kind is Kind.LONG_STRING else 1
    end = None if token.kind is Kind.UNCLOSED_STRING else -width
    return _ESCAPE.sub(_unescape, token.text[width:end])


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1 and int(code[1:], 16) < 0x110000:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code)
