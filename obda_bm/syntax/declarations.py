"""The document: PREFIX, BASE, CREATE PULSE, CREATE AGGREGATE, CREATE STREAM, and a bare query."""

from __future__ import annotations

from collections.abc import Callable

from obda_bm.diagnostics import StarqlError
from obda_bm.ir.starql import AggregateMacro, Declaration, OutputStream, Prefix, Pulse
from obda_bm.syntax.cursor import DECLARATIONS, Cursor, nearest
from obda_bm.syntax.having import parse_condition
from obda_bm.syntax.iris import resolve
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.queries import parse_query
from obda_bm.syntax.tokens import Kind, Token
from obda_bm.syntax.windows import parse_pulse_settings

_CREATE_HINT = "Write CREATE STREAM, CREATE PULSE or CREATE AGGREGATE."


def parse_declarations(cursor: Cursor) -> tuple[Declaration, ...]:
    """All declarations, with as many mistakes noted as there are."""
    declarations: list[Declaration] = []
    while cursor.token.kind is not Kind.END:
        found = cursor.attempt(parse_declaration)
        declarations += [found] if found is not None else []
    return tuple(declarations)


def parse_declaration(cursor: Cursor) -> Declaration | None:
    """One declaration; None for PREFIX and BASE, which the cursor remembers."""
    token = cursor.token
    keyword = token.word if token.word in DECLARATIONS else nearest(token, DECLARATIONS)
    if keyword is None:
        raise _lost(cursor)
    if keyword != token.word:
        cursor.misspelt(keyword)
    match keyword:
        case "PREFIX":
            _parse_prefix(cursor)
        case "BASE":
            _parse_base(cursor)
        case "CREATE":
            return _parse_create(cursor)
        case _:
            query = parse_query(cursor)
            return OutputStream("", query, query.span)
    return None


def _lost(cursor: Cursor) -> StarqlError:
    token = cursor.take()
    message = f"expected a declaration, found {token}"
    hint = "A text consists of PREFIX, CREATE PULSE, CREATE AGGREGATE and CREATE STREAM ... AS."
    return Mistake.UNEXPECTED.error(token.span, message, hint)


def _parse_prefix(cursor: Cursor) -> None:
    start = cursor.take()
    hint = "Write PREFIX name: <namespace>."
    name = cursor.expect(Kind.NAME, "a prefix with a colon", hint)
    prefix, _, local = name.text.partition(":")
    if local:
        message = f"the prefix '{name.text}' does not end with its colon"
        raise Mistake.UNEXPECTED.error(name.span, message, hint)
    namespace = cursor.expect(Kind.IRI, "an IRI in angle brackets", hint)
    if any(known.name == prefix for known in cursor.prefixes):
        message = f"prefix '{prefix}:' is declared twice"
        cursor.note(Mistake.REPEATED, name.span, message, "Keep one of them.")
    iri = resolve(cursor, namespace)
    cursor.prefixes.append(Prefix(prefix, iri, cursor.span_from(start)))


def _parse_base(cursor: Cursor) -> None:
    cursor.take()
    token = cursor.expect(Kind.IRI, "an IRI in angle brackets", "Write BASE <namespace>.")
    cursor.base = resolve(cursor, token)


def _parse_create(cursor: Cursor) -> Declaration:
    start = cursor.take()
    kinds = tuple(_KINDS)
    word = cursor.token
    keyword = word.word if word.word in kinds else nearest(word, kinds)
    cursor.expect_word(*kinds, hint=_CREATE_HINT)
    return _KINDS[keyword or "STREAM"](cursor, start)


def _parse_create_pulse(cursor: Cursor, start: Token) -> Pulse:
    """`name WITH ...`; the name may be missing where there is one pulse only."""
    name = "" if cursor.at_word("WITH") else cursor.expect(Kind.WORD, "a name for the pulse").text
    return parse_pulse_settings(cursor, name, start)


def _parse_create_stream(cursor: Cursor, start: Token) -> OutputStream:
    """`name AS query`."""
    hint = "Write CREATE STREAM name AS, then the query."
    name = cursor.expect(Kind.WORD, "a name for the stream", hint)
    cursor.expect_word("AS", hint=hint)
    span = cursor.span_from(start)
    return OutputStream(name.text, parse_query(cursor), span)


def _parse_create_aggregate(cursor: Cursor, start: Token) -> AggregateMacro:
    """`name ($p, $q) AS condition`; some publications write HAVING before the condition."""
    hint = "Write CREATE AGGREGATE name ($p, $q) AS condition."
    if cursor.following.text != "(":
        cursor.accept_word("OF", "OUTPUT")
    name = _parse_macro_name(cursor, hint)
    parameters = _parse_parameters(cursor, hint)
    cursor.expect_word("AS", hint=hint)
    cursor.accept_word("HAVING")
    cursor.parameters = parameters
    try:
        body = parse_condition(cursor)
    finally:
        cursor.parameters = None
    return AggregateMacro(name, parameters, body, cursor.span_from(start))


def _parse_macro_name(cursor: Cursor, hint: str) -> str:
    """A word, or two with a colon or a dot between them, as in `MONOTONIC:HAVING`."""
    if cursor.token.kind is Kind.NAME:
        return cursor.take().text
    name = cursor.expect(Kind.WORD, "a name for the aggregate", hint).text
    if cursor.accept_symbol("."):
        name += "." + cursor.expect(Kind.WORD, "the rest of the name", hint).text
    return name


def _parse_parameters(cursor: Cursor, hint: str) -> tuple[str, ...]:
    cursor.expect_symbol("(", hint)
    parameters: list[str] = []
    while not cursor.accept_symbol(")"):
        token = cursor.token
        if token.kind is not Kind.VARIABLE or not token.text.startswith("$"):
            raise cursor.unexpected("a parameter such as $p", hint)
        if token.text in parameters:
            message = f"parameter {token.text} is declared twice"
            cursor.note(Mistake.REPEATED, token.span, message, "Give it another name.")
        parameters.append(cursor.take().text)
        if not cursor.at_symbol(")"):
            cursor.expect_symbol(",", hint)
    return tuple(parameters)


_KINDS: dict[str, Callable[[Cursor, Token], Declaration]] = {
    "PULSE": _parse_create_pulse,
    "STREAM": _parse_create_stream,
    "AGGREGATE": _parse_create_aggregate,
}
