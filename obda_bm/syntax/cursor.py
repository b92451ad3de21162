"""A place in the tokens, and the mistakes met on the way there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from obda_bm.diagnostics import Diagnostic, Span, StarqlError, did_you_mean
from obda_bm.ir.starql import Prefix
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.tokens import Kind, Token

T = TypeVar("T")

DECLARATIONS = ("PREFIX", "BASE", "CREATE", "SELECT", "CONSTRUCT")
CLAUSES = (
    *("FROM", "STATIC", "ABOX", "ONTOLOGY", "TBOX", "USING", "WHERE"),
    *("SEQUENCE", "HAVING", "GROUP"),
)
DEEPEST = 40
CONNECTIVES = ("AND", "OR", "THEN")
BEGINNINGS = (*DECLARATIONS, *CLAUSES, *CONNECTIVES, "START", "END", "FREQUENCY")


@dataclass(slots=True)
class Cursor:
    """The one thing that changes while a text is parsed.

    `parameters` are those of the aggregate whose body is being read.
    """

    tokens: tuple[Token, ...]
    index: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)
    prefixes: list[Prefix] = field(default_factory=list)
    base: str = ""
    parameters: tuple[str, ...] | None = None
    depth: int = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def following(self) -> Token:
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level of nesting; nobody writes as many as Python's stack would have to hold."""
        if self.depth == DEEPEST:
            message, hint = "this is nested too deeply", "Name parts of it with CREATE AGGREGATE."
            raise Mistake.UNEXPECTED.error(self.token.span, message, hint)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def take(self) -> Token:
        """The token here; the cursor moves on, but never past the end."""
        token = self.token
        self.index = min(self.index + 1, len(self.tokens) - 1)
        return token

    def at_word(self, *words: str) -> bool:
        return self.token.word in words

    def at_symbol(self, *symbols: str) -> bool:
        return self.token.kind is Kind.SYMBOL and self.token.text in symbols

    def accept_word(self, *words: str) -> Token | None:
        return self.take() if self.at_word(*words) else None

    def accept_symbol(self, *symbols: str) -> Token | None:
        return self.take() if self.at_symbol(*symbols) else None

    def accept(self, kind: Kind) -> Token | None:
        return self.take() if self.token.kind is kind else None

    def expect_word(self, *words: str, hint: str = "") -> Token:
        """The keyword; a misspelt one is a mistake, but parsing goes on as if it were right."""
        if self.at_word(*words):
            return self.take()
        near = nearest(self.token, words)
        if near is None:
            raise self.unexpected(" or ".join(words), hint)
        self.misspelt(near)
        return self.take()

    def misspelt(self, keyword: str) -> None:
        message = f"unknown keyword {self.token}"
        self.note(Mistake.UNKNOWN_KEYWORD, self.token.span, message, f"Did you mean {keyword}?")

    def expect_symbol(self, symbol: str, hint: str = "") -> Token:
        if self.at_symbol(symbol):
            return self.take()
        if near := nearest(self.token, CONNECTIVES):
            message = f"unknown keyword {self.token}"
            hint = f"Did you mean {near}?"
            raise Mistake.UNKNOWN_KEYWORD.error(self.token.span, message, hint)
        raise self.unexpected(f"'{symbol}'", hint)

    def expect(self, kind: Kind, what: str, hint: str = "") -> Token:
        if self.token.kind is kind:
            return self.take()
        raise self.unexpected(what, hint)

    def note(self, mistake: Mistake, span: Span | None, message: str, hint: str) -> None:
        """Remember a mistake that parsing can go on after."""
        self.diagnostics.append(mistake.at(span, message, hint))

    def unexpected(self, what: str, hint: str = "") -> StarqlError:
        """The error that something else than `what` stands here."""
        message = f"expected {what}, found {self.token}"
        return Mistake.UNEXPECTED.error(self.place(), message, hint or f"Write {what} here.")

    def place(self) -> Span:
        """Where something is missing: here, or at the end of the line before.

        A token that can begin a line is hardly to blame; then something is missing before it.
        """
        here = self.token.span
        begins = self.token.kind is Kind.END or self.at_word(*BEGINNINGS)
        if self.index == 0 or not (begins or self.at_symbol(")", "}", "]")):
            return here
        before = self.tokens[self.index - 1].span
        between = here.source.text[before.end : here.start]
        return Span(here.source, before.end, before.end) if "\n" in between else here

    def span_from(self, start: Token) -> Span:
        """From `start` to the last token taken."""
        last = self.tokens[max(self.index - 1, 0)].span
        return Span(start.span.source, start.span.start, max(last.end, start.span.end))

    def attempt(self, parse: Callable[[Cursor], T], *stops: str) -> T | None:
        """What `parse` gives; after a mistake None, with the cursor at a clause or at a stop."""
        try:
            return parse(self)
        except StarqlError as error:
            self.diagnostics += error.diagnostics
            self.skip_to(*stops)
            return None

    def skip_to(self, *stops: str) -> None:
        """Move to the next clause or declaration, or to a symbol of `stops` outside of braces."""
        depth = 0
        while self.token.kind is not Kind.END:
            if self.at_word(*DECLARATIONS, *CLAUSES) or (depth == 0 and self.at_symbol(*stops)):
                return
            depth += {"{": 1, "}": -1}.get(self.token.text, 0)
            self.take()


def nearest(token: Token, words: Iterable[str]) -> str | None:
    """The one of `words` that a misspelt `token` most likely means, or None."""
    if len(token.word) < 2:
        return None
    hint = did_you_mean(token.word, words)
    return hint.split("'")[1] if hint else None
