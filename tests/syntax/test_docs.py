"""What docs/starql.md says is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from obda_bm.diagnostics import SourceText
from obda_bm.ir.formulas import AggregateFunction, Function
from obda_bm.syntax import format_starql, parse_starql
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.times import ZONES

TEXT = (Path(__file__).parents[2] / "docs" / "starql.md").read_text("utf-8")
EXAMPLES = re.findall(r"```starql\n(.*?)```", TEXT, re.DOTALL)
GRAMMAR = "".join(re.findall(r"```ebnf\n(.*?)```", TEXT, re.DOTALL))


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_parse(text: str) -> None:
    document = parse_starql(SourceText("docs/starql.md", text))
    assert parse_starql(SourceText("again", str(document))) == document
    assert parse_starql(SourceText("again", format_starql(SourceText("docs", text)))) == document


def test_every_construct_has_an_example() -> None:
    keywords = set(re.findall(r'"([A-Z]{2,})"', GRAMMAR))
    spoken = set(re.findall(r"[A-Z]+", "\n".join(EXAMPLES).upper()))
    assert keywords - spoken == {"TBOX", "ABOX"}  # other words for ONTOLOGY and DATA


def test_the_grammar_defines_what_it_uses() -> None:
    bare = re.sub(r'"[^"]*"|\(\*.*?\*\)', "", GRAMMAR)
    defined = set(re.findall(r"(?m)^(\w+) +=", bare))
    assert len(defined) == len(re.findall(r"(?m)^\w+ +=", bare))
    words = {"name", "iri", "variable", "parameter", "literal", "string", "number", "isoDuration"}
    assert set(re.findall(r"[a-zA-Z]\w+", bare)) - defined == words | {
        "function",
        "aggregateFunction",
    }


def test_zones_are_those_of_the_table() -> None:
    rows = re.findall(r"(?m)^\| ([A-Z, ]+) \| ([+-]\d\d):00 \|$", TEXT)
    assert {zone: int(hours) for zones, hours in rows for zone in zones.split(", ")} == ZONES


def test_functions_are_listed() -> None:
    listed = set(re.findall(r"[A-Z]+", TEXT))
    assert {f.value for f in Function} | {a.value for a in AggregateFunction} <= listed


def test_codes_are_in_the_ranges_told() -> None:
    ranges = [range(int(a), int(b) + 1) for a, b in re.findall(r"(4\d\d)–(4\d\d)", TEXT)]
    codes = [int(mistake.value.removeprefix("OBM")) for mistake in Mistake]
    assert all(any(code in told for told in ranges) for code in codes)
