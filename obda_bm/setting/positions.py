"""Where the keys and values of a TOML document stand in its text.

The standard library parses TOML but forgets positions. This scanner finds them again, and only
them: it runs on text that `tomllib` accepted, so it may take every token for what it seems to be.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

from obda_bm.diagnostics import SourceText, Span

TomlPath = tuple[str | int, ...]
"""Keys and array indices from the root of the document."""


@dataclass(frozen=True, slots=True)
class Located:
    """The key of a value, and the value itself.

    A table or array of tables that is made by headers or dotted keys has no value in one place. An
    element of an array has no key; its value stands in for it.
    """

    key: Span
    value: Span | None

    @property
    def place(self) -> Span:
        return self.value or self.key


def locate(source: SourceText) -> dict[TomlPath, Located]:
    """The position of every table, key, value and array element of a TOML document.

    >>> found = locate(SourceText("obda.toml", "[a]\\nb.c = [1, 'x'] # d"))
    >>> for path, located in sorted(found.items(), key=str):
    ...     print(path, located.key.text, located.value and located.value.text)
    ('a', 'b') b None
    ('a', 'b', 'c') c [1, 'x']
    ('a', 'b', 'c', 0) 1 1
    ('a', 'b', 'c', 1) 'x' 'x'
    ('a',) a None
    """
    scanner = _Scanner(source)
    while scanner.reaches_token():
        scanner.step()
    return scanner.found


def inside_quotes(string: Span) -> Span:
    """The span of what a TOML string says, without its quotes.

    >>> inside_quotes(Span(SourceText("obda.toml", "'a > 1'"), 0, 7)).text
    'a > 1'
    """
    opening = _OPENING_QUOTES.match(string.text)
    assert opening is not None, "a TOML string begins with a quote"
    width = 3 if opening["long"] else 1
    return Span(string.source, string.start + opening.end(), string.end - width)


_BASIC = r'"(?:[^"\\\n]|\\.)*"'
_LITERAL = r"'[^'\n]*'"
# The quotes that close a multi-line string may follow up to two that belong to it.
_LONG_BASIC = r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})'
_LONG_LITERAL = r"'''.*?'''(?:'{0,2})"
# A date and its time may be apart by a space, which ends every other unquoted value.
_UNQUOTED = r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]+|[^\s,\]}#]+"

# Commas separate elements and nothing else, so they can be passed over like blanks.
_GAP = re.compile(r"(?:[ \t\r\n,]+|#[^\n]*)*")
_KEY_PART = re.compile(rf"[ \t]*(?P<part>{_BASIC}|{_LITERAL}|[A-Za-z0-9_-]+)[ \t]*(?P<dot>\.?)")
_EQUALS = re.compile(r"=[ \t]*")
_SCALAR = re.compile(f"{_LONG_BASIC}|{_LONG_LITERAL}|{_BASIC}|{_LITERAL}|{_UNQUOTED}", re.DOTALL)
# A line break right after the opening quotes of a multi-line string does not belong to it.
_OPENING_QUOTES = re.compile(r"""(?P<long>\"{3}|'{3})(?:\r?\n)?|["']""")


@dataclass(slots=True)
class _Open:
    """An array or inline table whose end is not reached yet."""

    path: TomlPath
    key: Span | None
    start: int
    elements: int | None  # seen so far; None in an inline table


@dataclass(slots=True)
class _Scanner:
    # The open containers are a list, not recursive calls: nesting that tomllib just bears must not
    # overflow the stack here.
    source: SourceText
    at: int = 0
    table: TomlPath = ()
    open: list[_Open] = field(default_factory=list)
    tables_in_array: dict[TomlPath, int] = field(default_factory=dict)
    found: dict[TomlPath, Located] = field(default_factory=dict)

    def reaches_token(self) -> bool:
        self.take(_GAP)
        return self.at < len(self.source.text)

    def step(self) -> None:
        char = self.source.text[self.at]
        if not self.open:
            if char == "[":
                self.header()
            else:
                self.pair(self.table)
        elif char in "]}":
            self.close(self.open.pop())
        else:
            self.member(self.open[-1])

    def header(self) -> None:
        brackets = 2 if self.source.text.startswith("[[", self.at) else 1
        self.at += brackets
        *outer, (name, key) = self.key_parts()
        path: TomlPath = ()
        for part, span in outer:
            path = self.newest((*path, part), span)
        path = (*path, name)
        if brackets == 2:
            self.tables_in_array[path] = self.tables_in_array.get(path, 0) + 1
            path = self.newest(path, key)
        self.found[path] = Located(key, None)
        self.table = path
        self.at += brackets

    def newest(self, path: TomlPath, key: Span) -> TomlPath:
        """Where a header that goes through `path` leads: an array of tables means its last one."""
        self.found.setdefault(path, Located(key, None))
        count = self.tables_in_array.get(path)
        return path if count is None else (*path, count - 1)

    def pair(self, path: TomlPath) -> None:
        for name, key in self.key_parts():
            path = (*path, name)
            self.found.setdefault(path, Located(key, None))
        self.take(_EQUALS)
        self.value(path, key)

    def member(self, container: _Open) -> None:
        if container.elements is None:
            self.pair(container.path)
        else:
            container.elements += 1
            self.value((*container.path, container.elements - 1), None)

    def value(self, path: TomlPath, key: Span | None) -> None:
        char = self.source.text[self.at]
        if char in "[{":
            self.open.append(_Open(path, key, self.at, 0 if char == "[" else None))
            self.at += 1
        else:
            self.record(path, key, self.at, self.take(_SCALAR).end())

    def close(self, container: _Open) -> None:
        self.at += 1
        self.record(container.path, container.key, container.start, self.at)

    def record(self, path: TomlPath, key: Span | None, start: int, end: int) -> None:
        value = Span(self.source, start, end)
        self.found[path] = Located(key or value, value)

    def key_parts(self) -> list[tuple[str, Span]]:
        parts = []
        dot = "."
        while dot:
            match = self.take(_KEY_PART)
            dot = match["dot"]
            parts.append((_unquoted(match["part"]), Span(self.source, *match.span("part"))))
        return parts

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.source.text, self.at)
        assert match is not None, f"not TOML at offset {self.at}"
        self.at = match.end()
        return match


def _unquoted(part: str) -> str:
    if part[0] not in "\"'":
        return part
    name = tomllib.loads(f"name = {part}")["name"]
    assert isinstance(name, str)
    return name
