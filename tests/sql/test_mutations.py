"""Damaged queries: each is read, or refused with a diagnostic that can be shown."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from obda_bm.diagnostics import OutsideFragment, SourceText, SqlError
from obda_bm.sql import parse_check, parse_sql

from .catalogs import CATALOG, S
from .test_outside import CASES as OUTSIDE
from .test_render import QUERIES

WORDS = re.findall(
    r"\S+",
    "SELECT FROM WHERE AND OR NOT IN BETWEEN NULL INTERVAL DATE UNION ALL WITH AS ( ) , ; . * + - /"
    " ' \" ` -- /* = < > <> 5 1e9 a s.ts \x00 é CASE END OVER :: ? $1 @ [ ] { } \\ CREATE VIEW",
)


def mutate(text: str, chance: random.Random) -> str:
    """`text` with a word or a character removed, doubled, swapped or inserted."""
    pieces: list[str] = text.split(" ") if chance.random() < 0.6 else list(text)
    glue = " " if len(pieces) < len(text) else ""
    for _ in range(chance.randint(1, 3)):
        at, other = chance.randrange(len(pieces)), chance.randrange(len(pieces))
        match chance.randrange(4):
            case 0 if len(pieces) > 1:
                del pieces[at]
            case 1:
                pieces.insert(at, pieces[other])
            case 2:
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case _:
                pieces.insert(at, chance.choice(WORDS))
    return glue.join(pieces)


def outcome(read: Callable[[], object]) -> str:
    """What happens to a text: any error but these two passes through, and fails the test."""
    try:
        return "read" if str(read()) else "nothing"
    except (SqlError, OutsideFragment) as error:
        shown = all(d.code in d.render() for d in error.diagnostics)
        return type(error).__name__ if error.diagnostics and shown else "not shown"


@pytest.mark.parametrize("dialect", [None, "duckdb", "spark"])
def test_mutations(dialect: str | None) -> None:
    chance = random.Random(20260101)
    good = QUERIES + [sql for sql, _, _ in OUTSIDE]
    texts = [mutate(chance.choice(good), chance) for _ in range(500)]
    seen = Counter(
        outcome(partial(parse_sql, SourceText("q.sql", text), CATALOG, dialect)) for text in texts
    )
    assert set(seen) == {"read", "SqlError", "OutsideFragment"}, seen


def test_mutated_checks() -> None:
    chance = random.Random(20260102)
    good = ["a BETWEEN -5 AND 5 AND b < a", "name IN ('x', 'y')", "a = 1 OR a = 2", "flag"]
    texts = [mutate(chance.choice(good), chance) for _ in range(500)]
    seen = Counter(outcome(partial(parse_check, text, S, None)) for text in texts)
    assert set(seen) == {"read", "SqlError", "OutsideFragment"}, seen
