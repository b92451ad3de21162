"""SQL text -> sqlglot's syntax trees, with its errors turned into diagnostics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token

from obda_bm.diagnostics import Diagnostic, Span, SqlError
from obda_bm.sql.spans import SqlText, mark_positions

# Raised inside sqlglot by some malformed texts, where a ParseError is meant.
_PARSER_SLIPS = (ValueError, IndexError, KeyError, AttributeError, TypeError, AssertionError)


def find_dialect(name: str | None) -> Dialect:
    try:
        return Dialect.get_or_raise(name)
    except ValueError:
        raise SqlError(
            Diagnostic(
                "OBM213",
                f"unknown SQL dialect '{name}'",
                None,
                "Name a dialect that sqlglot knows, such as postgres, spark or duckdb.",
            )
        ) from None


def tokenize(text: SqlText, dialect: Dialect) -> SqlText:
    """`text` with its tokens, each marked with its position."""
    try:
        tokens = dialect.tokenize(text.sql)
    except (SqlglotError, *_PARSER_SLIPS):
        end = len(text.sql.rstrip())
        raise SqlError(
            Diagnostic(
                "OBM201",
                "the text ends inside a string, a quoted name or a comment",
                text.at(max(0, end - 1), end),
                "Close the quotation mark or the comment.",
            )
        ) from None
    mark_positions(tokens)
    return replace(text, tokens=tuple(tokens))


def parse_query(tokens: Sequence[Token], text: SqlText, dialect: Dialect) -> exp.Expr:
    """The query that is all of `tokens`, which are some of those of `text`."""
    try:
        parsed = dialect.parser().parse(list(tokens), text.sql)
    except (SqlglotError, *_PARSER_SLIPS) as error:
        raise SqlError(syntax_error(error, text)) from None
    return _only(parsed, text)


def parse_condition(text: SqlText, dialect: Dialect) -> exp.Expr:
    """The condition that is all of `text`."""
    try:
        parsed = dialect.parser().parse_into(exp.Condition, list(text.tokens))
    except (SqlglotError, *_PARSER_SLIPS) as error:
        raise SqlError(syntax_error(error, text)) from None
    return _only(parsed, text)


def _only(parsed: Sequence[exp.Expr | None], text: SqlText) -> exp.Expr:
    match [node for node in parsed if node is not None]:
        case [node]:
            return node
        case _:
            raise SqlError(Diagnostic("OBM201", "not well-formed SQL", _everything(text)))


def syntax_error(error: Exception, text: SqlText) -> Diagnostic:
    found = error.errors[0] if isinstance(error, ParseError) and error.errors else None
    if found is None or not found.get("line"):
        return Diagnostic("OBM201", "not well-formed SQL", _everything(text))
    description = str(found.get("description") or "not well-formed SQL")
    span = _highlighted(found["line"], found["col"], str(found.get("highlight") or ""), text)
    return Diagnostic("OBM201", _message(description, span), span)


def _message(description: str, span: Span) -> str:
    shown = span.text if 0 < len(span.text) <= 40 and span.text.isprintable() else "this"
    if "Unexpected token" in description:
        return f"unexpected '{shown}'"
    if description.startswith("Required keyword"):
        return f"something is missing at '{shown}'"
    # What follows is of use to sqlglot's developers only: tokens, classes, the text once more.
    first = re.split(r"\. | but got |\n|<", description, maxsplit=1)[0].strip(" .")
    return first[:1].lower() + first[1:]


def _highlighted(line: int, column: int, highlight: str, text: SqlText) -> Span:
    """sqlglot gives the line and column of the *end* of the token it stumbled over."""
    for token in text.tokens:
        if (token.line, token.col) == (line, column):
            return text.at(token.start, token.end + 1)
    lines = text.sql.split("\n")
    end = sum(len(before) + 1 for before in lines[: line - 1]) + column
    return text.at(max(0, end - max(1, len(highlight))), end)


def _everything(text: SqlText) -> Span:
    if not text.tokens:
        return text.at(0, len(text.sql))
    return text.tokens_span(0, len(text.tokens) - 1)
