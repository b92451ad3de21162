"""The formatter: one layout for a document, with every comment near what it was about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obda_bm.diagnostics import SourceText
from obda_bm.syntax.layout import Line, document_lines
from obda_bm.syntax.parse import read_document
from obda_bm.syntax.tokens import Token, Tokens, tokenize

# A line's place is its first keyword, not the first thing after it.
_LEADING = {"HAVING", "AGGREGATE", "FROM", "STREAM", "STATIC", "DATA", "ABOX", "ONTOLOGY", "TBOX"}
_LEADING |= {"USING", "PULSE", "WHERE", "SEQUENCE", "BY", "AND", "OR", "THEN", "FILTER"}

ROUNDS = 8


def format_starql(source: SourceText) -> str:
    """`source` in the usual layout; formatting it again changes nothing.

    Raises:
        StarqlError: the text cannot be parsed.
    """
    # A line opened for a comment may fit again once the comment stands at its end.
    for _ in range(ROUNDS):
        text = _laid_out(source)
        if text == source.text:
            break
        source = SourceText(source.name, text)
    return source.text


def _laid_out(source: SourceText) -> str:
    document = read_document(source)
    read = tokenize(source)
    comments = tuple(comment.span.start for comment in read.comments)
    lines = [_from_keyword(line, read) for line in document_lines(document, comments)]
    return "\n".join(_woven(lines, read)) + "\n"


def _from_keyword(line: Line, read: Tokens) -> Line:
    if line.start is None:
        return _base_line(line, read)
    before = [t for t in read.tokens if t.span.start < line.start]
    start = line.start
    while before and (before[-1].word in _LEADING or before[-1].text in ("&&", "||")):
        start = before.pop().span.start
    return replace(line, start=start)


def _base_line(line: Line, read: Tokens) -> Line:
    base = [t.span.start for t in read.tokens if t.word == "BASE"]
    return replace(line, start=base[0]) if line.text.startswith("BASE ") and base else line


def _woven(lines: list[Line], read: Tokens) -> Iterator[str]:
    """The lines with the comments above them, beside them, or after the last."""
    above: dict[int, list[str]] = {}
    beside: dict[int, list[str]] = {}
    for comment in read.comments:
        before = _token_before(comment, read)
        place = beside if before is not None else above
        at = _line_of(before, lines) if before is not None else _line_after(comment, lines)
        place.setdefault(at, []).append(comment.text.rstrip())
    for number, line in enumerate(lines):
        ends = beside.get(number, [])
        # Two comments cannot end one line, so both go above it.
        for text in [*above.get(number, []), *(ends if len(ends) > 1 else [])]:
            yield str(replace(line, text=text))
        yield f"{line}  {ends[0]}" if len(ends) == 1 else str(line)
    yield from above.get(len(lines), [])


def _token_before(comment: Token, read: Tokens) -> Token | None:
    """The last token on the line of `comment`, before it."""
    text, start = comment.span.source.text, comment.span.start
    begin = text.rfind("\n", 0, start) + 1
    on_line = [t for t in read.tokens[:-1] if begin <= t.span.start < start]
    return on_line[-1] if on_line else None


def _line_of(token: Token, lines: list[Line]) -> int:
    """The line that begins last at or before `token`."""
    known = [(line.start, n) for n, line in enumerate(lines) if line.start is not None]
    before = [(start, n) for start, n in known if start <= token.span.start]
    return max(before)[1] if before else 0


def _line_after(comment: Token, lines: list[Line]) -> int:
    """The line that begins first after `comment`; the end if there is none."""
    known = [(line.start, n) for n, line in enumerate(lines) if line.start is not None]
    after = [(start, n) for start, n in known if start > comment.span.start]
    return min(after)[1] if after else len(lines)
