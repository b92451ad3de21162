"""A small catalog, and what the tests ask of it."""

from __future__ import annotations

import pytest

from obda_bm.diagnostics import Diagnostic, ObdaError, SourceText
from obda_bm.ir.catalog import Catalog, Column, Extent, Relation
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.sqltypes import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    TEXT,
    TIMESTAMP,
    decimal,
    enumeration,
    instant,
)
from obda_bm.sql import parse_sql

S = Relation(
    "s",
    (
        Column("a", INTEGER),
        Column("b", INTEGER),
        Column("name", TEXT),
        Column("flag", BOOLEAN),
        Column("seen", TIMESTAMP),
        Column("ts", TIMESTAMP),
    ),
    Extent.INFINITE,
    time="ts",
)
T = Relation(
    "t",
    (
        Column("a", INTEGER),
        Column("c", decimal(5, 1)),
        Column("level", enumeration(("low", "high"))),
        Column("ts", TIMESTAMP),
    ),
    Extent.INFINITE,
    time="ts",
)
F = Relation(
    "f",
    (Column("a", INTEGER), Column("x", DOUBLE), Column("ts", TIMESTAMP)),
    Extent.FINITE,
    time="ts",
    end=instant("2026-01-01T00:00:00"),
)
TICK = Relation("tick", (Column("k", INTEGER), Column("n", INTEGER)), Extent.INFINITE, time="n")
TOCK = Relation("tock", (Column("k", INTEGER), Column("n", INTEGER)), Extent.INFINITE, time="n")
R = Relation(
    "R",
    (
        Column("id", INTEGER),
        Column("Kind", TEXT),
        Column("born", DATE),
        Column("order", INTEGER),
    ),
    Extent.STATIC,
    keys=(("id",),),
)

CATALOG = Catalog((S, T, F, TICK, TOCK, R))


def parse(sql: str, semantics: Semantics | None = None) -> SpjUnion:
    return parse_sql(SourceText("q.sql", sql), CATALOG, semantics=semantics)


def refused(sql: str, error: type[ObdaError], semantics: Semantics | None = None) -> Diagnostic:
    """The diagnostic with which `sql` is refused."""
    with pytest.raises(error) as caught:
        parse(sql, semantics)
    assert caught.type is error
    return caught.value.diagnostics[0]


def underlined(diagnostic: Diagnostic) -> str | None:
    return diagnostic.span.text if diagnostic.span else None
