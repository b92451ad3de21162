"""Texts inside literals: SQL identifiers and string templates ([R2RML] sections 5.1 and 7.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from obda_bm.diagnostics import Diagnostic, Span
from obda_bm.ir.mapping import Identifier, Template
from obda_bm.r2rml.mistakes import Mistake

_DELIMITED = re.compile(r'"((?:[^"]|"")+)"')
_BACKTICKED = re.compile(r"`([^`]+)`")
_REGULAR = re.compile(r'[^\s"`.]+(?: +[^\s"`.]+)*')


class NotAName(ValueError):
    """The text is no SQL identifier."""


def read_identifier(text: str) -> Identifier:
    """The name that `text` writes.

    >>> read_identifier('"Country Code"'), read_identifier("id")
    (Identifier(name='Country Code', delimited=True), Identifier(name='id', delimited=False))

    Raises:
        NotAName: where it is none.
    """
    text = text.strip()
    if quoted := _DELIMITED.fullmatch(text):
        return Identifier(quoted[1].replace('""', '"'), delimited=True)
    if ticked := _BACKTICKED.fullmatch(text):
        return Identifier(ticked[1], delimited=True)
    if _REGULAR.fullmatch(text):
        return Identifier(text)
    raise NotAName(text)


def read_table_name(text: str) -> tuple[Identifier, ...]:
    """A table's name with the schema that qualifies it.

    >>> [str(part) for part in read_table_name('"HR"."EMP.X"')]
    ['"HR"', '"EMP.X"']
    """
    parts = re.findall(r'(?:"(?:[^"]|"")*"|`[^`]*`|[^."`])+', text)
    if not parts or ".".join(parts) != text:
        raise NotAName(text)
    return tuple(map(read_identifier, parts))


def read_template(text: str, inside: Span | None) -> Template | Diagnostic:
    """The template, or what is wrong with it.

    >>> print(read_template('http://example.com/{"ID"}', None))
    http://example.com/{"ID"}
    """
    parts: list[str | Identifier] = []
    for piece, start in _pieces(text):
        if not piece.startswith("{"):
            parts.append(re.sub(r"\\([\\{}])", r"\1", piece))
            continue
        try:
            parts.append(read_identifier(piece[1:-1]))
        except NotAName:
            return _bad(text, inside, start, start + len(piece))
    problem = next((p for p in parts if isinstance(p, str) and p in {"{", "}"}), None)
    if problem is not None and f"\\{problem}" not in text:
        at = text.index(problem)
        return _bad(text, inside, at, at + 1)
    return Template(_merged(parts))


_PIECE = re.compile(r"(?:[^\\{}]|\\[\\{}]|\\(?![\\{}]))+|\{[^{}]*\}|[{}]", re.DOTALL)


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    for piece in _PIECE.finditer(text):
        yield piece[0], piece.start()


def _merged(parts: list[str | Identifier]) -> tuple[str | Identifier, ...]:
    """The parts with neighbouring texts joined."""
    merged: list[str | Identifier] = []
    for part in parts:
        if merged and isinstance(part, str) and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return tuple(merged)


def _bad(text: str, inside: Span | None, start: int, end: int) -> Diagnostic:
    piece = text[start:end]
    lone = piece in {"{", "}"}
    message = f"a brace without its pair: {piece!r}" if lone else f"{piece!r} names no column"
    hint = "Write {column}, and \\\\{ or \\\\} for a brace itself."
    literal = inside is not None and len(inside.text) == len(text)
    if inside is not None and literal:
        inside = Span(inside.source, inside.start + start, inside.start + end)
    return Mistake.BAD_TEMPLATE.at(inside, message, hint)
