"""Well-formed SQL outside the fragment: refused with a reason, a caret and a hint."""

from __future__ import annotations

import pytest

from obda_bm.diagnostics import OutsideFragment, SourceText
from obda_bm.ir.spj import Semantics
from obda_bm.sql import parse_sql

from .catalogs import CATALOG, refused, underlined

CASES = [
    ("INSERT INTO s SELECT 1", "OBM301", "INSERT"),
    ("DROP TABLE s", "OBM301", "DROP"),
    ("CREATE TABLE x AS SELECT 1; SELECT 1", "OBM301", "CREATE"),
    ("CREATE FUNCTION f() AS 1", "OBM301", "CREATE"),
    ("EXPLAIN SELECT 1", "OBM301", "EXPLAIN"),
    ("BEGIN; SELECT 1; END", "OBM301", "BEGIN"),
    ("VALUES (1)", "OBM301", "VALUES (1)"),
    ("SELECT 1; SELECT 2", "OBM302", "SELECT 2"),
    ("SELECT 1; CREATE VIEW v AS SELECT 1", "OBM302", "SELECT 1"),
    ("SELECT a FROM s GROUP BY a", "OBM303", "GROUP BY a"),
    ("SELECT a FROM s HAVING a > 1", "OBM303", "HAVING a > 1"),
    ("SELECT a FROM s ORDER BY a", "OBM303", "ORDER BY a"),
    ("SELECT a FROM s UNION SELECT a FROM t ORDER BY 1", "OBM303", "ORDER BY 1"),
    ("SELECT a FROM s LIMIT 5", "OBM303", "LIMIT 5"),
    ("SELECT a FROM (SELECT a FROM s LIMIT 5) x", "OBM303", "LIMIT 5"),
    ("SELECT a FROM s OFFSET 5", "OBM303", "OFFSET 5"),
    ("SELECT a FROM s FETCH FIRST 5 ROWS ONLY", "OBM303", "FETCH FIRST 5 ROWS ONLY"),
    ("SELECT DISTINCT ON (a) a FROM s", "OBM303", "DISTINCT ON (a)"),
    ("SELECT a FROM s QUALIFY rank() OVER () = 1", "OBM303", "QUALIFY rank() OVER () = 1"),
    ("SELECT a FROM s TABLESAMPLE (10 PERCENT)", "OBM303", "TABLESAMPLE (10 PERCENT)"),
    ("SELECT * FROM s PIVOT (SUM(a) FOR b IN (1))", "OBM303", "PIVOT (SUM(a) FOR b IN (1))"),
    ("SELECT a FROM s WHERE a BETWEEN SYMMETRIC 2 AND 1", "OBM303", "a BETWEEN SYMMETRIC 2 AND 1"),
    ("SELECT * EXCEPT (a) FROM R", "OBM303", "a"),
    ("SELECT a FROM s UNION BY NAME SELECT a FROM t", "OBM303", None),
    ("SELECT count(*) FROM s", "OBM304", "count(*)"),
    ("SELECT a FROM s WHERE a = max(b)", "OBM304", "max(b)"),
    ("SELECT sum(a) OVER (PARTITION BY b) FROM s", "OBM304", "sum(a) OVER (PARTITION BY b)"),
    ("SELECT upper(name) FROM s", "OBM305", "upper(name)"),
    ("SELECT a FROM s WHERE ts > now()", "OBM305", "now()"),
    ("SELECT CASE WHEN a > 1 THEN 2 END FROM s", "OBM305", "CASE WHEN a > 1 THEN 2 END"),
    ("SELECT a FROM s WHERE name LIKE 'x%'", "OBM305", "name LIKE 'x%'"),
    ("SELECT a FROM s WHERE name || 'x' = 'y'", "OBM305", "name || 'x'"),
    ("SELECT CAST(a AS TEXT) FROM s", "OBM305", "CAST(a AS TEXT)"),
    ("SELECT a FROM s WHERE (a, b) = (1, 2)", "OBM305", "(a, b)"),
    ("SELECT a < b FROM s", "OBM305", "a < b"),
    ("SELECT a FROM s WHERE (a = b) = flag", "OBM305", "a = b"),
    ("SELECT a FROM s LEFT JOIN R ON a = id", "OBM306", "LEFT JOIN R ON a = id"),
    ("SELECT a FROM s FULL OUTER JOIN R ON a = id", "OBM306", "FULL OUTER JOIN R ON a = id"),
    ("SELECT a FROM s SEMI JOIN R ON a = id", "OBM306", "SEMI JOIN R ON a = id"),
    ("SELECT a FROM s ANTI JOIN R ON a = id", "OBM306", "ANTI JOIN R ON a = id"),
    ("SELECT a FROM s NATURAL JOIN t", "OBM306", "NATURAL JOIN t"),
    ("SELECT a FROM s WHERE NOT a = 1", "OBM307", "NOT a = 1"),
    ("SELECT a FROM s WHERE a NOT IN (1)", "OBM307", "a NOT IN (1)"),
    ("SELECT a FROM s WHERE a NOT BETWEEN 1 AND 2", "OBM307", "a NOT BETWEEN 1 AND 2"),
    ("SELECT a FROM s WHERE NOT EXISTS (SELECT 1)", "OBM307", "NOT EXISTS (SELECT 1)"),
    ("SELECT a FROM s WHERE a IS NULL", "OBM307", "a IS NULL"),
    ("SELECT a FROM s WHERE a IS NOT DISTINCT FROM b", "OBM307", "a IS NOT DISTINCT FROM b"),
    ("SELECT a FROM s WHERE EXISTS (SELECT 1 FROM t)", "OBM308", "EXISTS (SELECT 1 FROM t)"),
    ("SELECT a FROM s WHERE a IN (SELECT a FROM t)", "OBM308", "a IN (SELECT a FROM t)"),
    ("SELECT a FROM s WHERE a = (SELECT 1)", "OBM308", "(SELECT 1)"),
    ("SELECT (SELECT 1) FROM s", "OBM308", "(SELECT 1)"),
    ("SELECT a FROM s EXCEPT SELECT a FROM t", "OBM309", "EXCEPT"),
    ("(SELECT a FROM s) INTERSECT SELECT a FROM t", "OBM309", "INTERSECT"),
    ("WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x", "OBM310", "x"),
    ("SELECT x FROM (VALUES (1)) AS v(x)", "OBM311", "(VALUES (1)) AS v(x)"),
    ("SELECT a FROM s, LATERAL (SELECT 1) x", "OBM311", "LATERAL (SELECT 1) x"),
    ("SELECT a FROM UNNEST(x)", "OBM311", "UNNEST(x)"),
    ("SELECT a FROM range(5)", "OBM311", "range(5)"),
    ("SELECT a FROM s WHERE a + 1 < b", "OBM312", "a + 1"),
    ("SELECT a * 2 FROM s", "OBM312", "a * 2"),
    ("SELECT a FROM s WHERE -a < b", "OBM312", "-a"),
    ("SELECT a FROM s WHERE seen + INTERVAL '1' DAY < seen", "OBM312", "seen + INTERVAL '1' DAY"),
    ("SELECT a FROM s WHERE a < INTERVAL '1 day'", "OBM312", "INTERVAL '1 day'"),
    ("SELECT s.a FROM s, t WHERE s.ts + t.ts < t.ts", "OBM312", "s.ts + t.ts"),
    ("SELECT a FROM s WHERE name < 'x'", "OBM313", "name < 'x'"),
    ("SELECT Kind FROM R, s WHERE name >= Kind", "OBM313", "name >= Kind"),
    ("SELECT a FROM s WHERE a = 1 OR b = 2", "OBM314", "a = 1 OR b = 2"),
    ("SELECT a FROM s WHERE a < 1 OR a > 2", "OBM314", "a < 1 OR a > 2"),
    ("SELECT a FROM s WHERE a IN (b, 1)", "OBM314", "a IN (b, 1)"),
    ("SELECT id FROM R JOIN (SELECT DISTINCT a FROM s) u ON a = id", "OBM316", "DISTINCT"),
    ("SELECT a FROM s UNION SELECT a FROM t UNION ALL SELECT id FROM R", "OBM316", "UNION"),
    ("SELECT a FROM s UNION ALL SELECT DISTINCT a FROM t", "OBM316", "DISTINCT"),
    ("SELECT a FROM s WHERE ts > seen", "OBM317", "seen"),
    ("SELECT a FROM s, R WHERE ts > born", "OBM317", "born"),
    ("SELECT a FROM s, R WHERE seen < ts - INTERVAL '1' DAY", "OBM317", "seen"),
    ("SELECT k FROM tick WHERE n < k", "OBM317", "k"),
    ("SELECT s.a FROM s JOIN (SELECT seen AS ts FROM s) x USING (ts)", "OBM317", "ts"),
    ("SELECT a, ts AS t FROM s", "OBM318", "ts AS t"),
    ("SELECT * FROM s", "OBM318", "*"),
    ("SELECT w FROM (SELECT ts AS w FROM s) x", "OBM318", "w"),
    ("SELECT s.a FROM s, t WHERE s.ts < t.ts + INTERVAL '1' MONTH", "OBM319", "INTERVAL '1' MONTH"),
    ("SELECT s.a FROM s, t WHERE s.ts < t.ts + INTERVAL '2 years'", "OBM319", "INTERVAL '2 years'"),
    ("SELECT s.a FROM s, t WHERE s.ts < t.ts + INTERVAL a DAY", "OBM319", "INTERVAL a DAY"),
    ("SELECT a FROM s WHERE a = ?", "OBM320", "?"),
    ("SELECT a FROM s WHERE a = :p", "OBM320", ":p"),
    ("SELECT a FROM s WHERE a = @p", "OBM320", "@p"),
    ("SELECT NULL FROM s", "OBM321", "NULL"),
]


@pytest.mark.parametrize(("sql", "code", "caret"), CASES)
def test_refused_with_a_reason(sql: str, code: str, caret: str | None) -> None:
    diagnostic = refused(sql, OutsideFragment)
    assert diagnostic.code == code
    if caret is not None:
        assert underlined(diagnostic) == caret
    assert code in diagnostic.render()


def test_normal_form_has_a_limit() -> None:
    ors = " AND ".join("(a < 1 OR b > 2)" for _ in range(7))
    assert refused(f"SELECT DISTINCT a FROM s WHERE {ors}", OutsideFragment).code == "OBM315"


def test_views_of_views_have_a_limit() -> None:
    views = "CREATE VIEW v0 AS SELECT 1 AS c0, a FROM s;" + "".join(
        f"CREATE VIEW v{n} AS SELECT x.a FROM v{n - 1} x, v{n - 1} y;" for n in range(1, 40)
    )
    assert refused(views + "SELECT a FROM v39", OutsideFragment).code == "OBM315"


def test_views_without_tables_have_a_limit_too() -> None:
    views = "CREATE VIEW v0 AS SELECT 1 AS a;" + "".join(
        f"CREATE VIEW v{n} AS SELECT * FROM v{n - 1} x, v{n - 1} y;" for n in range(1, 40)
    )
    assert refused(views + "SELECT 1 FROM v39", OutsideFragment).code == "OBM315"


def test_given_bag_semantics_still_refuses_or() -> None:
    sql = "SELECT DISTINCT a FROM s WHERE a = 1 OR b = 2"
    assert refused(sql, OutsideFragment, Semantics.BAG).code == "OBM314"


def test_the_hint_for_or_says_what_to_write() -> None:
    diagnostic = refused("SELECT a FROM s WHERE a = 1 OR b = 2", OutsideFragment)
    assert diagnostic.hint == "Write a UNION, or SELECT DISTINCT."


@pytest.mark.parametrize(
    ("sql", "dialect", "code"),
    [
        ("SELECT a FROM s WHERE NOT (a IS NOT NULL)", "postgres", "OBM307"),
        ("SELECT a FROM s WHERE NOT a IS NOT NULL", "postgres", "OBM307"),
        ("SELECT a FROM s WHERE flag IS NOT TRUE", "postgres", "OBM307"),
        ("SELECT s.a FROM s, t WHERE s.a = t.a (+)", "oracle", "OBM303"),
        ("SELECT a FROM s WHERE a ~ 'x'", "postgres", "OBM305"),
        ("SELECT TOP 5 a FROM s", "tsql", "OBM303"),
    ],
)
def test_negations_and_joins_that_dialects_hide(sql: str, dialect: str, code: str) -> None:
    with pytest.raises(OutsideFragment) as caught:
        parse_sql(SourceText("q.sql", sql), CATALOG, dialect)
    assert caught.value.diagnostics[0].code == code
