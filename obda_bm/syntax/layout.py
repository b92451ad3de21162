"""How a document is broken into lines: what fits stands on one line, the rest is opened up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from obda_bm.diagnostics import Span
from obda_bm.ir.formula_text import (
    Names,
    filter_texts,
    formula_text,
    needs_brackets,
    pattern_texts,
    quantifier_text,
    subject_of,
)
from obda_bm.ir.formulas import (
    And,
    Formula,
    GroupPattern,
    IfThen,
    Not,
    Or,
    Quantified,
    StatePattern,
)
from obda_bm.ir.starql import Construct, Pulse, Select, SourceStream, StarqlDocument
from obda_bm.ir.starql_text import (
    Clause,
    declaration_clauses,
    item_text,
    prologue_clauses,
    pulse_settings,
    stream_text,
)

WIDTH = 100
INDENT = "  "


@dataclass(frozen=True, slots=True)
class Line:
    """A line, and where in the text its content came from."""

    text: str
    start: int | None = None
    depth: int = 0

    def __str__(self) -> str:
        return INDENT * self.depth + self.text


@dataclass(frozen=True, slots=True)
class Layout:
    """How to write names, and the places of comments, around which lines must break."""

    names: Names
    comments: tuple[int, ...] = ()

    def fits(self, line: Line, span: Span | None) -> bool:
        crossed = span and any(span.start < comment < span.end for comment in self.comments)
        return not crossed and len(str(line)) <= WIDTH


def document_lines(document: StarqlDocument, comments: tuple[int, ...]) -> list[Line]:
    """The lines of `document`, an empty one between declarations."""
    layout = Layout(Names(document.prefixes, document.base), comments)
    blocks = [[line_of(clause) for clause in prologue_clauses(document)]]
    for declaration in document.declarations:
        clauses = declaration_clauses(declaration, layout.names)
        blocks.append([line for clause in clauses for line in clause_lines(clause, layout)])
    return [line for block in blocks if block for line in (*block, Line(""))][:-1]


def line_of(clause: Clause) -> Line:
    return Line(clause.text, clause.span.start if clause.span else None)


def clause_lines(clause: Clause, layout: Layout) -> Iterator[Line]:
    line = line_of(clause)
    if layout.fits(line, clause.span):
        yield line
        return
    opened = replace(line, text=clause.head)
    match clause.part:
        case None:
            yield line
        case Pulse():
            yield from _pulse_lines(clause.part, opened)
        case Select():
            yield from _select_lines(clause.part, opened, layout)
        case Construct(atoms):
            yield from _group_lines(GroupPattern(atoms, (), clause.span), opened, "", layout)
        case GroupPattern():
            yield from _group_lines(clause.part, opened, "", layout)
        case tuple():
            yield from _stream_lines(clause.part, opened)
        case formula:
            yield from formula_lines(formula, opened, "", layout)


def _pulse_lines(pulse: Pulse, opened: Line) -> Iterator[Line]:
    yield replace(opened, text=opened.text.rstrip())
    settings = pulse_settings(pulse)
    for number, setting in enumerate(settings, start=1):
        comma = "," if number < len(settings) else ""
        yield Line(setting + comma, _place(pulse.span, setting.split()[0]), 1)


def _place(span: Span | None, word: str) -> int | None:
    """Where `word` stands in `span`."""
    found = re.search(rf"\b{word}\b", span.text, re.IGNORECASE) if span else None
    return span.start + found.start() if span and found else None


def _select_lines(select: Select, opened: Line, layout: Layout) -> Iterator[Line]:
    yield replace(opened, text=opened.text + "{")
    for item in select.items:
        start = item.span.start if item.span else None
        yield Line(item_text(item, layout.names), start, 1)
    yield Line("}", _last(select.span))


def _stream_lines(streams: tuple[SourceStream, ...], opened: Line) -> Iterator[Line]:
    """Every stream on a line of its own, the first beside FROM STREAM."""
    for number, stream in enumerate(streams):
        comma = "," if number + 1 < len(streams) else ""
        start = stream.span.start if stream.span else None
        text = stream_text(stream) + comma
        yield replace(opened, text=opened.text + text) if number == 0 else Line(text, start, 1)


def _group_lines(group: GroupPattern, opened: Line, tail: str, layout: Layout) -> Iterator[Line]:
    yield replace(opened, text=opened.text + "{")
    runs = [list(run) for _, run in groupby(group.atoms, key=subject_of)]
    texts = pattern_texts(group.atoms, layout.names)
    for run, text in zip(runs, texts, strict=True):
        yield Line(text, run[0].span.start if run[0].span else None, opened.depth + 1)
    for condition, text in zip(
        group.filters, filter_texts(group.filters, layout.names), strict=True
    ):
        start = condition.span.start if condition.span else None
        yield Line(text, start, opened.depth + 1)
    yield Line("}" + tail, _last(group.span), opened.depth)


def _last(span: Span | None) -> int | None:
    return span.end - 1 if span else None


def formula_lines(formula: Formula, opened: Line, tail: str, layout: Layout) -> Iterator[Line]:
    """The lines of `formula` after what `opened` holds already, `tail` at the end of the last."""
    whole = replace(opened, text=opened.text + formula_text(formula, layout.names) + tail)
    if layout.fits(whole, formula.span):
        yield whole
        return
    match formula:
        case And(parts):
            yield from _joined_lines(parts, "AND ", opened, tail, layout)
        case Or(parts):
            yield from _joined_lines(parts, "OR ", opened, tail, layout)
        case Not(part):
            yield from part_lines(part, replace(opened, text=opened.text + "NOT "), tail, layout)
        case IfThen(guard, then):
            yield from part_lines(guard, replace(opened, text=opened.text + "IF "), "", layout)
            yield from part_lines(then, _at(then, "THEN ", opened.depth), tail, layout)
        case Quantified(body=body):
            yield replace(opened, text=f"{opened.text}{quantifier_text(formula)} (")
            yield from formula_lines(body, _at(body, "", opened.depth + 1), "", layout)
            yield Line(")" + tail, _last(formula.span), opened.depth)
        case StatePattern(state, pattern):
            head = replace(opened, text=f"{opened.text}GRAPH {state} ")
            yield from _group_lines(pattern, head, tail, layout)
        case _:
            yield whole


def part_lines(formula: Formula, opened: Line, tail: str, layout: Layout) -> Iterator[Line]:
    """The same for a part of another formula, in brackets where it needs them."""
    if not needs_brackets(formula):
        yield from formula_lines(formula, opened, tail, layout)
        return
    whole = replace(opened, text=f"{opened.text}({formula_text(formula, layout.names)}){tail}")
    if layout.fits(whole, formula.span):
        yield whole
        return
    yield replace(opened, text=opened.text + "(")
    yield from formula_lines(formula, _at(formula, "", opened.depth + 1), "", layout)
    yield Line(")" + tail, formula.span.end if formula.span else None, opened.depth)


def _joined_lines(
    parts: tuple[Formula, ...], word: str, opened: Line, tail: str, layout: Layout
) -> Iterator[Line]:
    """Each part on lines of its own, the word between them in front."""
    depth = opened.depth
    if opened.text:
        yield replace(opened, text=opened.text.rstrip())
        depth += 1
    for number, part in enumerate(parts):
        end = tail if number + 1 == len(parts) else ""
        start = _at(part, word if number else "", depth)
        yield from part_lines(part, start, end, layout)


def _at(formula: Formula, text: str, depth: int) -> Line:
    return Line(text, formula.span.start if formula.span else None, depth)
