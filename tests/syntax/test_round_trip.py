"""Text and document are two forms of one thing."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obda_bm.diagnostics import SourceText
from obda_bm.ir.starql import StarqlDocument
from obda_bm.syntax import format_starql, parse_starql
from obda_bm.syntax.parse import read_document
from obda_bm.syntax.tokens import tokenize
from tests.syntax.documents import documents


def source(text: str) -> SourceText:
    return SourceText("q.starql", text)


@settings(max_examples=500)
@given(documents)
def test_text_parses_to_the_document(document: StarqlDocument) -> None:
    assert read_document(source(str(document))) == document


@settings(max_examples=300)
@given(documents)
def test_the_formatter_changes_the_layout_only(document: StarqlDocument) -> None:
    text = format_starql(source(str(document)))
    assert read_document(source(text)) == document
    assert format_starql(source(text)) == text


@settings(max_examples=300)
@given(documents, st.integers(0, 10**9))
def test_the_formatter_keeps_every_comment(document: StarqlDocument, seed: int) -> None:
    commented, comments = with_comments(str(document), random.Random(seed))
    once = format_starql(source(commented))
    assert read_document(source(once)) == document
    assert Counter(t.text for t in tokenize(source(once)).comments) == comments
    assert format_starql(source(once)) == once


def with_comments(text: str, generator: random.Random) -> tuple[str, Counter[str]]:
    """`text` with comments at random places between its tokens, at most five of them."""
    tokens = tokenize(source(text)).tokens
    places = sorted(generator.choices([t.span.start for t in tokens], k=generator.randrange(6)))
    written: Counter[str] = Counter()
    for number, place in reversed(list(enumerate(places))):
        comment = f'# {number} of them: <a> "b" ?c'
        before = generator.choice([" ", "\n", "\n\n  "])
        text = f"{text[:place]}{before}{comment}\n{text[place:]}"
        written[comment] += 1
    return text, written


@pytest.mark.parametrize("number", range(1, 5))
def test_published_queries(reference: Path, number: int) -> None:
    text = (reference / "starql" / f"Example{number}.txt").read_text("utf-8")
    document = parse_starql(source(text))
    assert parse_starql(source(str(document))) == document
    assert parse_starql(source(format_starql(source(text)))) == document
