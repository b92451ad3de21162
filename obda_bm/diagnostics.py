"""Positions in the user's text, and what is said about them.

A diagnostic is data; only the command line and the server render it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that the user wrote, and the name under which they know it."""

    name: str
    text: str = field(repr=False)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`, both counted from 1.

        >>> SourceText("q.sql", "SELECT\\n  a").position(9)
        (2, 3)
        """
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def line(self, number: int) -> str:
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` to `end` (exclusive) of a source text."""

    source: SourceText
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"


def cover(spans: Iterable[Span | None]) -> Span | None:
    """The smallest span around all of `spans`, which lie in one text."""
    known = [span for span in spans if span is not None]
    if not known:
        return None
    return Span(known[0].source, min(s.start for s in known), max(s.end for s in known))


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What is wrong, where, and what to do about it.

    The message is short, in lower case and without a full stop; the hint is a sentence.
    """

    code: str
    message: str
    span: Span | None = None
    hint: str | None = None
    severity: Severity = Severity.ERROR

    def render(self) -> str:
        """The diagnostic as shown on a terminal, with the line and a caret.

        >>> text = SourceText("q.sql", "SELECT a FORM s")
        >>> where = Span(text, 9, 13)
        >>> print(Diagnostic("OBM201", "expected FROM", where, "Check the spelling.").render())
        error[OBM201]: expected FROM
          --> q.sql:1:10
           |
         1 | SELECT a FORM s
           |          ^^^^
        hint: Check the spelling.
        """
        lines = [f"{self.severity.value}[{self.code}]: {self.message}"]
        if self.span is not None:
            lines += excerpt(self.span)
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


def excerpt(span: Span) -> list[str]:
    """The line of `span`, with its place above it and a caret below."""
    line, column = span.line, span.column
    text = span.source.line(line)
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    gutter = " " * (len(str(line)) + 2)
    # A tab must stay a tab in the caret line, or the caret stands in the wrong place.
    indent = "".join("\t" if char == "\t" else " " for char in text[: column - 1])
    return [
        f"{gutter[:-1]}--> {span}",
        f"{gutter}|",
        f" {line} | {text}",
        f"{gutter}| {indent}{'^' * width}",
    ]


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint naming the known word nearest to `word`, or None.

    >>> did_you_mean("colums", ["columns", "time"])
    "Did you mean 'columns'?"
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"Did you mean '{by_lower[near[0]]}'?" if near else None


class ObdaError(Exception):
    """Something in the user's input is wrong; `diagnostics` says what and where."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics


class SettingError(ObdaError):
    """The setting file cannot be used."""


class SqlError(ObdaError):
    """The SQL text is malformed or does not fit the catalog."""


class BudgetError(ObdaError):
    """The query cannot be run within a memory budget."""


class OutsideFragment(ObdaError):
    """The query is well-formed but not a union of select-project-join queries."""


class MappingError(ObdaError):
    """A mapping cannot be read, or does not fit what it maps."""


class UnfoldingError(ObdaError):
    """The mappings give no select-project-join query for what is asked."""


class OntologyError(ObdaError):
    """The ontology cannot be read, or leaves OWL 2 QL where that is refused."""


class RewritingError(ObdaError):
    """The rewriting would be too large to be of use."""


class SparqlError(ObdaError):
    """The SPARQL or datalog text is malformed, or no union of basic graph patterns."""


class StarqlError(ObdaError):
    """The STARQL text is malformed, or not safe; every mistake found is among `diagnostics`."""


class WindowError(ObdaError):
    """The query is well-formed, but cannot be evaluated window by window."""
