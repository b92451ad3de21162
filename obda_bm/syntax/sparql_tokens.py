"""Tokens of SPARQL and of datalog-like queries, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from obda_bm.diagnostics import Diagnostic, SourceText, Span, SparqlError


class Kind(Enum):
    IRI = "an IRI"
    VARIABLE = "a variable"
    STRING = "a string"
    LANGUAGE = "a language tag"
    NUMBER = "a number"
    BLANK = "a blank node"
    NAME = "a prefixed name"
    WORD = "a word"
    SYMBOL = "a symbol"
    END = "the end of the query"


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    span: Span

    def is_word(self, word: str) -> bool:
        return self.kind is Kind.WORD and self.text.upper() == word

    def __str__(self) -> str:
        return self.kind.value if self.kind is Kind.END else repr(self.text)


_ESCAPED = r"\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:(?:[\w%:]|{_ESCAPED})(?:[\w%:-]|{_ESCAPED}|\.+(?=[\w%:\\-]))*)?"
_TOKENS = (
    (None, r"\s+|#[^\n]*"),
    (Kind.IRI, r"<[^<>\"{}|^`\\\s]*>"),
    (Kind.VARIABLE, r"[?$]\w+"),
    (Kind.STRING, r'"""(?:[^"\\]|\\.|"(?!""))*+"""|' + r"'''(?:[^'\\]|\\.|'(?!''))*+'''"),
    (Kind.STRING, r'"(?:[^"\\\n]|\\.)*+"|' + r"'(?:[^'\\\n]|\\.)*+'"),
    (Kind.LANGUAGE, r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"),
    (Kind.NUMBER, r"[+-]?(?:\d+\.\d*|\.\d+|\d+)[eE][+-]?\d+|[+-]?(?:\d*\.\d+|\d+)"),
    (Kind.BLANK, r"_:\w[\w.-]*(?<!\.)|\[\s*\]"),
    (Kind.SYMBOL, ":-"),  # before names, which may be nothing but a colon
    (Kind.NAME, r"(?:[^\W\d_][\w.-]*)?:" + _LOCAL),
    (Kind.WORD, r"[^\W\d]\w*(?:-\w+)*"),
    (Kind.SYMBOL, r"\^\^|&&|\|\||!=|<=|>=|<-|[{}()\[\].;,*+/|^!<>=?]"),
)
_PATTERN = re.compile(
    "|".join(f"(?P<t{i}>{pattern})" for i, (_, pattern) in enumerate(_TOKENS)), re.DOTALL
)


def tokenize(source: SourceText) -> Iterator[Token]:
    """The tokens of `source`, an END last.

    Raises:
        SparqlError: at the first character that begins no token.
    """
    position = 0
    while position < len(source.text):
        match = _PATTERN.match(source.text, position)
        if match is None or match.end() == position:
            raise _no_token(source, position)
        kind = _TOKENS[int((match.lastgroup or "t0")[1:])][0]
        if kind is not None:
            yield Token(kind, match[0], Span(source, match.start(), match.end()))
        position = match.end()
    end = len(source.text.rstrip())
    yield Token(Kind.END, "", Span(source, end, end + 1))


def _no_token(source: SourceText, position: int) -> SparqlError:
    character = source.text[position]
    span = Span(source, position, position + 1)
    if character in "\"'":
        return SparqlError(
            Diagnostic("OBM641", "the string does not end", span, "Close it with the same quote.")
        )
    message = f"unexpected character {character!r}"
    return SparqlError(Diagnostic("OBM641", message, span, "Remove it."))


class Cursor:
    """A place in a row of tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position = 0

    @property
    def here(self) -> Token:
        return self._tokens[self._position]

    @property
    def next(self) -> Token:
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        token = self.here
        if token.kind is not Kind.END:
            self._position += 1
        return token

    def at(self, *symbols: str) -> bool:
        return self.here.kind is Kind.SYMBOL and self.here.text in symbols

    def take(self, *symbols: str) -> Token | None:
        """The next token if it is one of `symbols`."""
        return self.advance() if self.at(*symbols) else None

    def take_word(self, *words: str) -> Token | None:
        """The next token if it is one of the keywords, in any case."""
        return self.advance() if any(map(self.here.is_word, words)) else None

    def expect(self, symbol: str, hint: str) -> Token:
        token = self.take(symbol)
        if token is None:
            raise self.unexpected(f"{symbol!r}", hint)
        return token

    def unexpected(self, wanted: str, hint: str) -> SparqlError:
        message = f"expected {wanted}, found {self.here}"
        return SparqlError(Diagnostic("OBM641", message, self.here.span, hint))
