"""Rendering: what is rendered parses to the same query, and DuckDB gives it the same answers.

DuckDB is the oracle for the merging of views: it runs the user's text and our flat form of it over
the same random tables.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from obda_bm.diagnostics import OutsideFragment, SourceText
from obda_bm.ir.catalog import Catalog, Column, Extent, Relation
from obda_bm.ir.spj import Occurrence, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import DAY, INTEGER, Family, SqlType, instant
from obda_bm.sql import parse_sql, render_sql

from .catalogs import CATALOG, S, parse
from .queries import queries

QUERIES = [
    "SELECT a FROM s",
    "SELECT 1 WHERE 2 < 1",
    "SELECT r.*, s.a FROM R JOIN s ON id = a WHERE born > '2020-01-01' OR FALSE",
    'SELECT "order" AS "from", id AS "x y", Kind AS id FROM R AS "select"',
    "SELECT x.a, 5, 'it''s' AS q, DATE '2020-01-02', TRUE FROM s x, s y WHERE x.a < y.b",
    "SELECT a FROM s WHERE a IN (1, -2, 2.5) AND name IN ('x', 'y') AND flag AND b IS NOT NULL",
    "SELECT a FROM s WHERE seen BETWEEN '2020-01-01' AND TIMESTAMP '2020-01-02 03:04:05.000006'",
    "SELECT s.a FROM s, t WHERE s.ts <= t.ts + INTERVAL '5' MINUTE"
    " AND s.ts >= t.ts - INTERVAL '1' DAY",
    "SELECT tick.k FROM tick, tock WHERE tick.n <= tock.n + 5"
    " AND tick.n > tock.n - 3 AND 7 > tick.n",
    "SELECT DISTINCT s.a FROM s JOIN t USING (a) JOIN f USING (a) WHERE c <> 1.5 OR x < 1e-3",
    "WITH v(p, w) AS (SELECT a, ts FROM s WHERE b > 0) "
    "SELECT l.p, r.p FROM v l JOIN v r ON l.w < r.w JOIN s ON s.a = r.p",
    "CREATE VIEW v AS SELECT a, ts FROM s UNION ALL SELECT a, ts FROM t; "
    "SELECT x.a FROM v x, v y WHERE x.a = y.a AND x.ts < y.ts",
    "SELECT a FROM s UNION ALL SELECT a FROM t UNION ALL SELECT id FROM R",
    "SELECT a FROM s UNION SELECT a FROM (SELECT DISTINCT a FROM t) x",
    "SELECT DISTINCT a, flag FROM s WHERE (a = 1 OR b = 2) AND (name = 'x' OR a > b)",
    "SELECT x.k, a FROM (SELECT 5 AS k, 'x' AS l FROM f) x, s WHERE s.a < x.k AND s.name = l",
    "SELECT a FROM s WHERE a = NULL OR b = 1",
    "SELECT a FROM s WHERE 5 BETWEEN a AND b AND 1 + 1 < 3 AND a < 2 * 3 - 1",
]


@pytest.mark.parametrize("sql", QUERIES)
def test_round_trip(sql: str) -> None:
    query = parse(sql)
    assert parse(render_sql(query)) == query


def parse_within_limits(sql: str) -> SpjUnion:
    """`sql`, if its ORs and unions multiply to few enough branches."""
    try:
        return parse(sql)
    except OutsideFragment as error:
        assume(error.diagnostics[0].code != "OBM315")
        raise


@settings(max_examples=300, deadline=None)
@given(queries())
def test_round_trip_of_random_queries(sql: str) -> None:
    query = parse_within_limits(sql)
    assert parse(render_sql(query)) == query


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark", "mysql", "bigquery"])
@pytest.mark.parametrize("sql", QUERIES)
def test_round_trip_in_other_dialects(sql: str, dialect: str) -> None:
    query = parse(sql)
    text = SourceText("q.sql", render_sql(query, dialect))
    assert parse_sql(text, CATALOG, dialect) == query


def test_layout() -> None:
    sql = "select x.a, b as c from s x, t where x.a = t.a and x.ts < t.ts + interval '90' second"
    assert render_sql(parse(f"{sql} union all select 1, 2")) == (
        "SELECT x.a, x.b AS c\n"
        "FROM s AS x, t\n"
        "WHERE x.a = t.a\n"
        "  AND x.ts < t.ts + INTERVAL '90' SECOND\n"
        "UNION ALL\n"
        "SELECT 1 AS a, 2 AS c"
    )


def test_a_query_that_only_asks_whether() -> None:
    asked = SpjUnion((SpjQuery((Occurrence("s", S),), (), ()),), Semantics.SET)
    assert render_sql(asked) == "SELECT DISTINCT 1\nFROM s"


def test_names_are_quoted_only_where_they_must_be() -> None:
    names = ("plain", "Group", "two words", 'q"q', "näme", "1st", "_x1")
    odd = Relation("odd", tuple(Column(n, INTEGER) for n in names), Extent.STATIC)
    query = parse_sql(SourceText("q", "SELECT * FROM odd"), Catalog((odd,)))
    rendered = render_sql(query)
    assert rendered.split("\n")[0] == (
        'SELECT odd.plain, odd."Group", odd."two words", odd."q""q", odd."näme", odd."1st", odd._x1'
    )
    assert parse_sql(SourceText("q", rendered), Catalog((odd,))) == query


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        chance = random.Random(7)
        for relation in CATALOG.relations:
            fill(connection, relation, chance)
        yield connection


def fill(connection: duckdb.DuckDBPyConnection, relation: Relation, chance: random.Random) -> None:
    columns = ", ".join(
        f'"{c.name}" {"TEXT" if c.type.family is Family.TEXT else c.type.name}'
        for c in relation.columns
    )
    connection.execute(f'CREATE TABLE "{relation.name}" ({columns})')
    for _ in range(6):
        cells = ", ".join(cell(c.type, chance, c.name != relation.time) for c in relation.columns)
        connection.execute(f'INSERT INTO "{relation.name}" VALUES ({cells})')


def cell(type_: SqlType, chance: random.Random, nullable: bool) -> str:
    if nullable and chance.random() < 0.15:
        return "NULL"
    match type_.family:
        case Family.NUMBER:
            return type_.literal(chance.choice([0, 1, 2, 3, 5]))
        case Family.INSTANT:
            steps = chance.randrange(4)
            return type_.literal(instant("2020-01-01") + steps * DAY // 2)
        case Family.BOOLEAN:
            return type_.literal(chance.randrange(2))
        case Family.TEXT:
            return type_.literal(chance.choice(["x", "y", "low", "high"]))


def answers(connection: duckdb.DuckDBPyConnection, sql: str) -> Counter[tuple[object, ...]]:
    return Counter(connection.execute(sql).fetchall())


def counted(sql: str) -> str:
    """The different rows of `sql` and how often each occurs: joins of eight tables have many."""
    return f"SELECT k, count(*) FROM ({sql}) GROUP BY k"


@pytest.mark.parametrize("sql", QUERIES)
def test_duckdb_gives_the_same_answers(sql: str, database: duckdb.DuckDBPyConnection) -> None:
    rendered = render_sql(parse(sql), "duckdb")
    try:
        assert answers(database, rendered) == answers(database, sql)
    finally:
        database.execute("DROP VIEW IF EXISTS v")


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(queries())
def test_duckdb_gives_the_same_answers_to_random_queries(
    database: duckdb.DuckDBPyConnection, sql: str
) -> None:
    rendered = render_sql(parse_within_limits(sql), "duckdb")
    assert answers(database, counted(rendered)) == answers(database, counted(sql))


@settings(max_examples=60, deadline=None)
@given(st.integers(min_value=-(10**15), max_value=10**15).filter(bool))
def test_every_offset_survives(ticks: int) -> None:
    sign = "+" if ticks > 0 else "-"
    sql = f"SELECT s.a FROM s, t WHERE s.ts < t.ts {sign} INTERVAL '{abs(ticks)}' MICROSECOND"
    assert parse(render_sql(parse(sql))) == parse(sql)
