"""The statements of a script: CREATE VIEW statements, and the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from obda_bm.diagnostics import Diagnostic, OutsideFragment, Span, SqlError
from obda_bm.sql.spans import SqlText
from obda_bm.sql.syntax import parse_query

_QUERY_STARTS = frozenset(
    {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM, TokenType.VALUES}
)
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_OPTIONAL = (("OR", "REPLACE"), ("TEMPORARY",), ("TEMP",))


@dataclass(frozen=True, slots=True)
class ViewHead:
    """The head of CREATE VIEW: `name (columns) AS`."""

    name: str
    columns: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    query: exp.Expr
    view: ViewHead | None


def read_statements(text: SqlText, dialect: Dialect) -> tuple[Statement, ...]:
    """The statements of `text`; empty ones, between semicolons, are left out."""
    return tuple(_read(tokens, text, dialect) for tokens in _split(text.tokens) if tokens)


def _split(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = 0
    for number, token in enumerate(tokens):
        if token.token_type is TokenType.SEMICOLON:
            yield tokens[start:number]
            start = number + 1
    yield tokens[start:]


def _read(tokens: Sequence[Token], text: SqlText, dialect: Dialect) -> Statement:
    """One statement.

    We read the head of CREATE VIEW ourselves, and refuse other statements by their first word:
    where sqlglot stumbles over these, it makes an opaque Command and logs a warning.
    """
    first = tokens[0]
    words = [token.text.upper() for token in tokens[:8]]
    if first.token_type is TokenType.CREATE and "VIEW" in words:
        view, body = _read_head(tokens, text)
        return Statement(parse_query(body, text, dialect), view)
    if first.token_type in _QUERY_STARTS:
        return Statement(parse_query(tokens, text, dialect), None)
    span = text.at(first.start, first.end + 1)
    if first.token_type is TokenType.VAR or not first.text.isalpha():
        raise SqlError(Diagnostic("OBM201", "expected a SELECT statement", span))
    raise OutsideFragment(not_a_query(span))


def not_a_query(span: Span | None) -> Diagnostic:
    return Diagnostic(
        "OBM301",
        "not a query",
        span,
        "Write one SELECT, with CREATE VIEW statements before it where they help.",
    )


def _read_head(tokens: Sequence[Token], text: SqlText) -> tuple[ViewHead, Sequence[Token]]:
    rest = tokens[1:]
    for words in _OPTIONAL:
        rest = _skip(rest, words) or rest
    rest = _skip(rest, ("VIEW",)) or ()
    rest = _skip(rest, ("IF", "NOT", "EXISTS")) or rest
    if rest and rest[0].token_type in _NAMES:
        name = rest[0]
        columns, rest = _read_columns(rest[1:])
        body = _skip(rest, ("AS",))
        if body:
            return ViewHead(name.text, columns, text.at(name.start, name.end + 1)), body
    raise SqlError(
        Diagnostic(
            "OBM201",
            "malformed CREATE VIEW",
            text.at(tokens[0].start, tokens[-1].end + 1),
            "Write CREATE VIEW name AS SELECT ….",
        )
    )


def _skip(tokens: Sequence[Token], words: tuple[str, ...]) -> Sequence[Token] | None:
    """`tokens` after `words`, or None where they start otherwise."""
    found = tuple(token.text.upper() for token in tokens[: len(words)])
    return tokens[len(words) :] if found == words else None


def _read_columns(tokens: Sequence[Token]) -> tuple[tuple[str, ...], Sequence[Token]]:
    """The names in parentheses at the start of `tokens`, if any, and what follows them."""
    if not tokens or tokens[0].token_type is not TokenType.L_PAREN:
        return (), tokens
    names: list[str] = []
    rest = tokens[1:]
    while len(rest) > 1 and rest[0].token_type in _NAMES:
        names.append(rest[0].text)
        separator, rest = rest[1].token_type, rest[2:]
        if separator is TokenType.R_PAREN:
            return tuple(names), rest
        if separator is not TokenType.COMMA:
            break
    return (), ()
