"""FROM STREAM, windows, slack, pulses and sequencing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from obda_bm.ir.formulas import Duration
from obda_bm.ir.starql import Pulse, PulseName, SequenceBy, SourceStream, Window
from obda_bm.syntax.cursor import Cursor
from obda_bm.syntax.literals import STRINGS, duration, parse_literal, timestamp, unquote
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.tokens import Kind, Token

_WINDOW_HINT = "A window reads [NOW - 10m, NOW] -> 1m."
_PULSE_WORDS = ("START", "END", "FREQUENCY")


def parse_streams(cursor: Cursor) -> tuple[SourceStream, ...]:
    """Streams between commas; STREAM may be written once or before each."""
    streams = [parse_stream(cursor)]
    while cursor.accept_symbol(","):
        cursor.accept_word("STREAM")
        streams.append(parse_stream(cursor))
    return tuple(streams)


def parse_stream(cursor: Cursor) -> SourceStream:
    """`name [window] -> slide WITH SLACK d`."""
    start = cursor.expect(Kind.WORD, "the name of a stream", "Name the stream after FROM STREAM.")
    window = parse_window(cursor) if cursor.at_symbol("[") else None
    slack = _parse_slack(cursor)
    return SourceStream(start.text, window, slack, cursor.span_from(start))


def _parse_slack(cursor: Cursor) -> Duration | None:
    if cursor.at_word("WITH") and cursor.following.word == "SLACK":
        cursor.take()
    if not cursor.accept_word("SLACK"):
        return None
    cursor.accept_symbol("=")
    return parse_duration_literal(cursor)


def parse_window(cursor: Cursor) -> Window:
    """`[NOW - begin, NOW - end] -> slide`."""
    opening = cursor.expect_symbol("[")
    begin = _parse_edge(cursor)
    cursor.expect_symbol(",", _WINDOW_HINT)
    end = _parse_edge(cursor)
    cursor.expect_symbol("]", _WINDOW_HINT)
    slide = parse_duration_literal(cursor) if cursor.accept_symbol("->") else None
    return Window(begin, end, slide, cursor.span_from(opening))


def _parse_edge(cursor: Cursor) -> Duration:
    """How long before now: `NOW` or `NOW - d`."""
    start = cursor.expect_word("NOW", hint=_WINDOW_HINT)
    if cursor.at_symbol("+"):
        message, hint = "a window cannot look into the future", "Write NOW - d, or NOW."
        raise Mistake.BAD_WINDOW.error(cursor.token.span, message, hint)
    if not cursor.accept_symbol("-"):
        return Duration(0, start.span)
    length = parse_duration_literal(cursor)
    return replace(length, span=cursor.span_from(start))


def parse_duration_literal(cursor: Cursor) -> Duration:
    """`"PT10M"^^xsd:duration`, `"PT10M"`, `PT10M`, `10m` or `10 min`."""
    start = cursor.token
    if start.kind is Kind.NUMBER and cursor.following.kind is Kind.WORD:
        text = cursor.take().text + cursor.take().text
        return duration(cursor, text, cursor.span_from(start))
    if start.kind in STRINGS and cursor.following.text != "^^":
        return duration(cursor, unquote(cursor.take()), start.span)
    if start.kind is Kind.DURATION or start.kind in STRINGS:
        value = parse_literal(cursor)
        if isinstance(value, Duration):
            return replace(value, span=cursor.span_from(start))
        message = f"'{start.text}' is not a duration"
        hint = 'Give it the datatype xsd:duration, as in "PT10M"^^xsd:duration.'
        raise Mistake.BAD_DURATION.error(cursor.span_from(start), message, hint)
    raise cursor.unexpected("a duration", 'Write "PT10M"^^xsd:duration, or short 10m.')


def parse_timestamp_literal(cursor: Cursor) -> datetime:
    """`"2026-01-31T12:00:00Z"^^xsd:dateTime`; the datatype may be left out."""
    start = cursor.token
    if start.kind not in STRINGS:
        hint = 'Write "2026-01-31T12:00:00Z"^^xsd:dateTime.'
        raise cursor.unexpected("a timestamp", hint)
    text = unquote(start)
    if cursor.following.text != "^^":
        cursor.take()
        return timestamp(cursor, text, start.span)
    noted = len(cursor.diagnostics)
    parse_literal(cursor)
    if len(cursor.diagnostics) > noted:
        return datetime(1970, 1, 1)
    return timestamp(cursor, text, cursor.span_from(start))


def parse_pulse_settings(cursor: Cursor, name: str, start: Token) -> Pulse:
    """`WITH START = t, END = t, FREQUENCY = d`, in any order, commas optional."""
    cursor.expect_word("WITH", hint="A pulse reads WITH START = ..., FREQUENCY = ...")
    pulse = _parse_setting(cursor, Pulse(name))
    while cursor.accept_symbol(",") or cursor.at_word(*_PULSE_WORDS):
        pulse = _parse_setting(cursor, pulse)
    return replace(pulse, span=cursor.span_from(start))


def _parse_setting(cursor: Cursor, pulse: Pulse) -> Pulse:
    key = cursor.token
    word = cursor.expect_word(*_PULSE_WORDS, hint="A pulse has START, END and FREQUENCY.")
    cursor.expect_symbol("=")
    match word.word:
        case "START":
            _once(cursor, key, pulse.start)
            return replace(pulse, start=parse_timestamp_literal(cursor))
        case "END":
            _once(cursor, key, pulse.end)
            return replace(pulse, end=parse_timestamp_literal(cursor))
        case "FREQUENCY":
            _once(cursor, key, pulse.frequency)
            return replace(pulse, frequency=parse_duration_literal(cursor))
        case _:  # misspelt, and noted so
            cursor.take()
            return pulse


def _once(cursor: Cursor, key: Token, value: object) -> None:
    if value is not None:
        message, hint = f"{key.text} is given twice", "Keep one of them."
        cursor.note(Mistake.REPEATED, key.span, message, hint)


def parse_using(cursor: Cursor) -> Pulse | PulseName:
    """`PULSE name` or `PULSE WITH ...`, after USING."""
    start = cursor.expect_word("PULSE", hint="Write USING PULSE and the name of a pulse.")
    if cursor.at_word("WITH"):
        return parse_pulse_settings(cursor, "", start)
    hint = "Name a pulse, or write WITH START = ..."
    name = cursor.expect(Kind.WORD, "the name of a pulse", hint)
    return PulseName(name.text, name.span)


def parse_sequence_by(cursor: Cursor) -> SequenceBy:
    """`BY method AS name`, after SEQUENCE."""
    hint = "Write SEQUENCE BY StdSeq AS seq."
    cursor.expect_word("BY", hint=hint)
    method = cursor.expect(Kind.WORD, "a way of sequencing", hint)
    cursor.expect_word("AS", hint=hint)
    name = cursor.expect(Kind.WORD, "a name for the sequence", hint)
    return SequenceBy(method.text, name.text, cursor.span_from(method))
