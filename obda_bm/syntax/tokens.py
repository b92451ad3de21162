"""The words of a STARQL text; comments are kept beside them, for the formatter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from obda_bm.diagnostics import Diagnostic, SourceText, Span
from obda_bm.syntax.mistakes import Mistake


class Kind(Enum):
    """What a token can be; the patterns are tried in this order."""

    SPACE = r"\s+"
    COMMENT = r"#[^\n]*"
    # `(i<j)AND(k>l)` must not be taken for an IRI: one has a colon, slash or hash, or is a name.
    IRI = r"<(?![?$=(])(?:[^\s<>\"{}|\\^`:/#]*[:/#][^\s<>\"{}|\\^`]*|[\w.%-]*)>"
    LONG_STRING = r"\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    STRING = r"\"(?:[^\"\\\n]|\\[^\n])*\"|'(?:[^'\\\n]|\\[^\n])*'"
    UNCLOSED_STRING = r"[\"'][^\n]*"
    VARIABLE = r"[?$]\w+"
    LANGUAGE = r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"
    NAME = r"(?:[^\W\d][\w-]*)?:(?:\w(?:[\w.:%-]*[\w%-])?)?"
    NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w|\.\d)"
    DURATION = r"(?:\d+(?:\.\d+)?[A-Za-z]+)+(?!\w)|P(?:T?\d+(?:\.\d+)?[A-Z])+(?!\w)"
    WORD = r"[^\W\d]\w*"
    SYMBOL = r"->|\^\^|&&|\|\||!=|<=|>=|[{}()\[\]<>,.;=+\-*/!]"
    STRAY = r"\d\w*|."
    END = r"\Z"


PATTERN = re.compile("|".join(f"(?P<{kind.name}>{kind.value})" for kind in Kind), re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    span: Span

    @property
    def word(self) -> str:
        """The keyword that this may be; empty when it cannot be one."""
        return self.text.upper() if self.kind is Kind.WORD else ""

    def __str__(self) -> str:
        return "the end of the text" if self.kind is Kind.END else f"'{self.text}'"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens, the last of which is the end; the comments; and what could not be read."""

    tokens: tuple[Token, ...]
    comments: tuple[Token, ...]
    diagnostics: tuple[Diagnostic, ...]


def tokenize(source: SourceText) -> Tokens:
    """The tokens of `source`.

    >>> [t.text for t in tokenize(SourceText("q", "?x a :Sensor . # all of them")).tokens]
    ['?x', 'a', ':Sensor', '.', '']
    """
    found = [_token(source, match) for match in PATTERN.finditer(source.text)]
    stray = [t for t in found if t.kind in (Kind.STRAY, Kind.UNCLOSED_STRING)]
    silent = (Kind.SPACE, Kind.COMMENT, Kind.STRAY)
    # The pattern of the end matches twice where the text ends with a token.
    body = [t for t in found if t.kind not in silent and t.kind is not Kind.END]
    end = Token(Kind.END, "", Span(source, len(source.text), len(source.text)))
    return Tokens(
        (*body, end),
        tuple(t for t in found if t.kind is Kind.COMMENT),
        tuple(map(_unreadable, stray)),
    )


def _token(source: SourceText, match: re.Match[str]) -> Token:
    return Token(Kind[match.lastgroup or "STRAY"], match[0], Span(source, *match.span()))


def _unreadable(token: Token) -> Diagnostic:
    if token.kind is Kind.UNCLOSED_STRING:
        hint = f"End it with {token.text[0]} on the same line."
        return Mistake.UNREADABLE.at(token.span, "the string does not end", hint)
    message = f"unexpected character {token.text!r}"
    if token.text[0] == "_" or token.text[0].isalnum():
        message = f"{token.text!r} is neither a number nor a name"
    return Mistake.UNREADABLE.at(token.span, message, "Remove it, or put it into quotes.")
