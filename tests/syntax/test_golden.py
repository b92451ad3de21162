"""Golden files: one per construct and one per mistake, as a user would write them.

Each case is a comment that says why it exists, a command, a STARQL text, `----`, and what is
expected: `parse` the canonical text, `format` the layout, `expand` the text without aggregates,
`union` the conjunctive queries or why there are none, `error` the diagnostics.
`pytest --update-golden` rewrites the expectations.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from obda_bm.diagnostics import SourceText, StarqlError
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.syntax import (
    NeedsWindow,
    expand_document,
    format_starql,
    monotone_union,
    parse_starql,
)
from obda_bm.syntax.mistakes import Mistake

FOLDER = Path(__file__).parents[1] / "golden" / "syntax"
FILES = sorted(FOLDER.glob("*/*.golden"))
CASE = re.compile(
    r"(?P<why>(?:#[^\n]*\n)+)(?P<command>parse|format|expand|union|error)\n"
    r"(?P<text>.*?)\n----\n(?P<expected>.*?)(?=\n\n(?:#[^\n]*\n)+(?:parse|format|expand|union|error)\n|\n*\Z)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Case:
    why: str
    command: str
    text: str
    expected: str

    def rewritten(self, actual: str) -> str:
        return f"{self.why}{self.command}\n{self.text}\n----\n{actual}\n"


def read(path: Path) -> list[Case]:
    return [Case(**match.groupdict()) for match in CASE.finditer(path.read_text("utf-8"))]


def error(source: SourceText) -> str:
    try:
        return str(parse_starql(source)) + "parsed without a mistake"
    except StarqlError as problem:
        return "\n".join(d.render() for d in problem.diagnostics)


def union(source: SourceText) -> str:
    try:
        document = expand_document(parse_starql(source))
        results = [monotone_union(stream.query) for stream in document.streams]
    except StarqlError as problem:
        return "\n".join(d.render() for d in problem.diagnostics)
    return "\n".join(map(shown, results))


def shown(result: UnionOfCQs | NeedsWindow) -> str:
    match result:
        case NeedsWindow(obstacle, span):
            return f"needs a window: {obstacle.value}: {span.text if span else 'everywhere'}"
        case UnionOfCQs(names):
            return f"columns {', '.join(names)}\n{result}"


COMMANDS: dict[str, Callable[[SourceText], str]] = {
    "parse": lambda source: str(parse_starql(source)),
    "format": format_starql,
    "expand": lambda source: str(expand_document(parse_starql(source))),
    "union": union,
    "error": error,
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path, request: pytest.FixtureRequest) -> None:
    cases = read(path)
    actual = [COMMANDS[c.command](SourceText("q.starql", c.text)).rstrip("\n") for c in cases]
    if request.config.getoption("--update-golden"):
        both = zip(cases, actual, strict=True)
        path.write_text("\n".join(c.rewritten(text) for c, text in both), "utf-8")
        return
    assert cases, f"{path.name} has no cases"
    for case, text in zip(cases, actual, strict=True):
        assert text == case.expected, f"{path.name}: {case.why}{case.text}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_parsing_and_printing_is_the_identity(path: Path) -> None:
    for case in read(path):
        if case.command == "parse":
            document = parse_starql(SourceText("q.starql", case.text))
            assert parse_starql(SourceText("q.starql", str(document))) == document
            laid_out = format_starql(SourceText("q.starql", case.text))
            assert parse_starql(SourceText("q.starql", laid_out)) == document


def test_every_mistake_has_a_golden_file() -> None:
    shown = "".join(path.read_text("utf-8") for path in FILES)
    assert [mistake.name for mistake in Mistake if f"[{mistake.value}]" not in shown] == []
