"""Queries inside the fragment: text in, canonical text out."""

from __future__ import annotations

from fractions import Fraction

import pytest

from obda_bm.ir.spj import Semantics
from obda_bm.ir.sqltypes import DATE, INTEGER
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Membership

from .catalogs import T, parse

MINUTE = 60_000_000

CASES = [
    ("SELECT a FROM s", "π[s.a] σ[true] (s)"),
    ("SELECT x.A FROM S AS x", "π[x.a] σ[true] (s x)"),
    ("SELECT kind FROM r", "π[R.Kind] σ[true] (R)"),
    ("SELECT R.* FROM R", "π[R.id, R.Kind, R.born, R.order] σ[true] (R)"),
    (
        "SELECT r.*, s.a FROM R JOIN s ON id = a",
        "π[R.id, R.Kind, R.born, R.order, s.a] σ[R.id = s.a] (R × s)",
    ),
    (
        "SELECT s.a FROM s, s AS u WHERE s.a < u.b AND s.a <> 3 AND s.a != 4",
        "π[s.a] σ[s.a < u.b ∧ s.a <> 3 ∧ s.a <> 4] (s × s u)",
    ),
    (
        "SELECT a, c FROM s JOIN t USING (a, ts) JOIN f USING (a)",
        "π[s.a, t.c] σ[s.a = t.a ∧ s.ts = t.ts ∧ s.a = f.a] (s × t × f)",
    ),
    (
        "SELECT id FROM R CROSS JOIN (s INNER JOIN t ON s.a = t.a) WHERE c = 1.50",
        "π[R.id] σ[s.a = t.a ∧ t.c = 1.5] (R × s × t)",
    ),
    ("SELECT 1", "π[1] σ[true] (())"),
    (
        "SELECT 1, -2.50, 'it''s', DATE '2020-01-31', TRUE, 1e-3, 2 + 3 * 4 FROM s",
        "π[1, -2.5, 'it''s', DATE '2020-01-31', TRUE, 0.001, 14] σ[true] (s)",
    ),
    ("SELECT a FROM s WHERE a BETWEEN 1 AND b", "π[s.a] σ[s.a >= 1 ∧ s.a <= s.b] (s)"),
    ("SELECT a FROM s WHERE a IN (1, 2, 1, 2.0)", "π[s.a] σ[s.a IN (1, 2)] (s)"),
    ("SELECT a FROM s WHERE a IN (1, NULL)", "π[s.a] σ[s.a IN (1)] (s)"),
    ("SELECT a FROM s WHERE name IN ('x')", "π[s.a] σ[s.name IN ('x')] (s)"),
    (
        "SELECT a FROM s WHERE a = 1 OR (2 = a OR a IN (3, 1)) OR FALSE",
        "π[s.a] σ[s.a IN (1, 2, 3)] (s)",
    ),
    ("SELECT a FROM s WHERE a = 1 OR TRUE", "π[s.a] σ[true] (s)"),
    ("SELECT a FROM s WHERE a = 1 OR 1 > 2", "π[s.a] σ[s.a = 1] (s)"),
    (
        "SELECT a FROM s WHERE flag AND a IS NOT NULL",
        "π[s.a] σ[s.flag = TRUE ∧ s.a IS NOT NULL] (s)",
    ),
    ("SELECT a FROM s WHERE flag IS FALSE", "π[s.a] σ[s.flag = FALSE] (s)"),
    ("SELECT a FROM s WHERE TRUE AND 1 < 2 AND 'x' = 'x'", "π[s.a] σ[true] (s)"),
    ("SELECT a FROM s WHERE 2 < 1 AND FALSE", "π[s.a] σ[2 < 1 ∧ 1 = 0] (s)"),
    ("SELECT a FROM s WHERE a = NULL", "π[s.a] σ[1 = 0] (s)"),
    ("SELECT a FROM s WHERE NULL IS NOT NULL", "π[s.a] σ[1 = 0] (s)"),
    ("SELECT a FROM s WHERE a = a", "π[s.a] σ[s.a = s.a] (s)"),
    (
        "SELECT id FROM R WHERE born < '2020-01-31' AND born = CAST('2020-01-01' AS TIMESTAMP)",
        "π[R.id] σ[R.born < DATE '2020-01-31' ∧ R.born = DATE '2020-01-01'] (R)",
    ),
    (
        "SELECT a FROM s WHERE seen > DATE '2020-01-01' + INTERVAL '12' HOUR",
        "π[s.a] σ[s.seen > TIMESTAMP '2020-01-01 12:00:00'] (s)",
    ),
    (
        "SELECT a FROM s WHERE ts - INTERVAL '1' DAY >= '2020-01-01'",
        "π[s.a] σ[s.ts >= TIMESTAMP '2020-01-02 00:00:00'] (s)",
    ),
    (
        "SELECT k FROM tick WHERE n + 5 <= 10 AND 2.5 < n",
        "π[tick.k] σ[tick.n <= 5 ∧ 2.5 < tick.n] (tick)",
    ),
    (
        "SELECT tick.k FROM tick, tock WHERE tick.n <= tock.n + 5 AND tick.n - tock.n > -2",
        "π[tick.k] σ[tick.n <= tock.n + 5 ∧ tick.n > tock.n - 2] (tick × tock)",
    ),
]


@pytest.mark.parametrize(("sql", "expected"), CASES)
def test_canonical_text(sql: str, expected: str) -> None:
    query = parse(sql)
    assert str(query) == expected
    assert query.semantics is Semantics.BAG


TIMES = [
    ("s.ts <= t.ts + INTERVAL '5' MINUTE", "s.ts <= t.ts", 5 * MINUTE),
    ("s.ts - t.ts <= INTERVAL '5' MINUTE", "s.ts <= t.ts", 5 * MINUTE),
    ("INTERVAL '5' MINUTE >= s.ts - t.ts", "t.ts >= s.ts", -5 * MINUTE),
    ("s.ts + INTERVAL '1 hour' < t.ts", "s.ts < t.ts", -60 * MINUTE),
    ("s.ts < t.ts - INTERVAL '1 hour 5 minutes'", "s.ts < t.ts", -65 * MINUTE),
    ("s.ts < t.ts + 2 * INTERVAL '1' WEEK", "s.ts < t.ts", 2 * 7 * 24 * 60 * MINUTE),
    ("s.ts = t.ts + INTERVAL '1.5' SECOND", "s.ts = t.ts", 1_500_000),
    ("s.ts = t.ts + INTERVAL '-3' MICROSECOND", "s.ts = t.ts", -3),
    ("s.ts = t.ts + INTERVAL '7 milliseconds'", "s.ts = t.ts", 7_000),
    ("s.ts - t.ts = INTERVAL '2' DAY - INTERVAL '1' DAY", "s.ts = t.ts", 24 * 60 * MINUTE),
]


@pytest.mark.parametrize(("condition", "sides", "offset"), TIMES)
def test_offset_of_times_in_microseconds(condition: str, sides: str, offset: int) -> None:
    (branch,) = parse(f"SELECT s.a FROM s, t WHERE {condition}").branches
    (comparison,) = branch.predicates
    assert isinstance(comparison, Comparison)
    assert f"{comparison.left} {comparison.op.value} {comparison.right}" == sides
    assert comparison.offset == offset


def test_between_times() -> None:
    text = "SELECT s.a FROM s, t WHERE s.ts BETWEEN t.ts - INTERVAL '1' HOUR AND t.ts"
    assert str(parse(text)) == "π[s.a] σ[s.ts >= t.ts - 3600000000 ∧ s.ts <= t.ts] (s × t)"


MERGED = [
    (
        "SELECT x.a FROM (SELECT a, ts FROM s WHERE b > 1) AS x, s WHERE x.ts < s.ts",
        "π[s_2.a] σ[s_2.b > 1 ∧ s_2.ts < s.ts] (s s_2 × s)",
    ),
    (
        "WITH v(p) AS (SELECT a FROM s) SELECT x.p, y.p FROM v x, v AS y",
        "π[s.a, s_2.a] σ[true] (s × s s_2)",
    ),
    (
        "WITH s AS (SELECT a FROM s WHERE a > 1) SELECT s.a FROM s",
        "π[s.a] σ[s.a > 1] (s)",
    ),
    (
        "CREATE VIEW v AS SELECT a FROM s;"
        "CREATE TEMPORARY VIEW w(q) AS SELECT a FROM v WHERE a < 9;"
        "SELECT q FROM w",
        "π[s.a] σ[s.a < 9] (s)",
    ),
    (
        "SELECT id FROM R, (SELECT a AS x FROM s UNION ALL SELECT a FROM t) u WHERE u.x = id",
        "π[R.id] σ[s.a = R.id] (R × s)\n⊎ π[R.id] σ[t.a = R.id] (R × t)",
    ),
    (
        "SELECT t.a FROM (SELECT 5 AS k, 'low' AS l FROM s) v JOIN t ON t.a = v.k AND level = l",
        "π[t.a] σ[t.a = 5 ∧ t.level = 'low'] (s × t)",
    ),
    ("SELECT x FROM (SELECT a FROM s) AS v(x)", "π[s.a] σ[true] (s)"),
    ("SELECT a FROM ((SELECT a FROM (SELECT * FROM s) i)) o", "π[s.a] σ[true] (s)"),
    (
        # The fresh alias must not be one that the user gave.
        "SELECT x.a FROM (SELECT a FROM s) x, s, t AS s_2",
        "π[s_3.a] σ[true] (s s_3 × s × t s_2)",
    ),
]


@pytest.mark.parametrize(("sql", "expected"), MERGED)
def test_views_are_merged(sql: str, expected: str) -> None:
    assert str(parse(sql)) == expected


@pytest.mark.parametrize(
    ("sql", "semantics", "branches"),
    [
        ("SELECT a FROM s", Semantics.BAG, 1),
        ("SELECT DISTINCT a FROM s", Semantics.SET, 1),
        ("(SELECT DISTINCT a FROM s)", Semantics.SET, 1),
        ("SELECT a FROM s UNION ALL SELECT a FROM t", Semantics.BAG, 2),
        ("SELECT a FROM s UNION ALL SELECT a FROM t UNION SELECT id FROM R", Semantics.SET, 3),
        ("SELECT DISTINCT a FROM (SELECT DISTINCT a FROM s) x", Semantics.SET, 1),
        ("SELECT DISTINCT a FROM s WHERE a < 1 OR b > 2 OR name = 'x'", Semantics.SET, 3),
        ("SELECT DISTINCT a FROM s WHERE (a < 1 OR b > 2) AND (a > 3 OR flag)", Semantics.SET, 4),
        ("SELECT DISTINCT s.a FROM s JOIN t ON s.a = t.a OR s.b = t.a", Semantics.SET, 2),
        ("WITH v AS (SELECT a FROM s) SELECT a FROM v UNION SELECT a FROM v", Semantics.SET, 2),
    ],
)
def test_own_semantics(sql: str, semantics: Semantics, branches: int) -> None:
    query = parse(sql)
    assert query.semantics is semantics
    assert len(query.branches) == branches


def test_given_semantics_overrides_every_mark() -> None:
    mixed = "SELECT DISTINCT a FROM s UNION SELECT a FROM (SELECT DISTINCT a FROM t) x"
    assert parse(mixed, Semantics.BAG).semantics is Semantics.BAG
    assert len(parse("SELECT a FROM s WHERE a = 1 OR b = 2", Semantics.SET).branches) == 2


def test_output_names() -> None:
    sql = "SELECT s.A, b AS x, 5, 'y' AS z, t.LEVEL FROM s, t UNION ALL SELECT 1, 2, 3, 'p', 'q'"
    names = [[output.name for output in branch.projection] for branch in parse(sql).branches]
    assert names == [["a", "x", "col3", "z", "level"]] * 2


def test_constants_take_the_type_of_the_column_but_numbers_keep_theirs() -> None:
    (branch,) = parse(
        "SELECT id FROM R, t WHERE born = '2020-01-01' AND level = 'low' AND c < 2 AND id > 2.5"
    ).branches
    constants = [p.right for p in branch.predicates if isinstance(p, Comparison)]
    assert all(isinstance(constant, Constant) for constant in constants)
    types = [constant.type for constant in constants if isinstance(constant, Constant)]
    assert types[:3] == [DATE, T.column("level").type, INTEGER]
    assert constants[3] == Constant(Fraction(5, 2), types[3])
    assert types[3].name == "DECIMAL(2,1)"


def test_every_part_knows_its_place() -> None:
    sql = (
        "SELECT x.a AS p, 7\nFROM s AS x JOIN t ON x.a = t.a\n"
        "WHERE x.ts <= t.ts + INTERVAL '5' MINUTE AND flag = TRUE AND x.b IN (1, -2)"
        " AND seen > DATE '2020-01-01'"
    )
    (branch,) = parse(sql).branches
    assert [o.span.text for o in branch.occurrences if o.span] == ["s AS x", "t"]
    assert [o.span.text for o in branch.projection if o.span] == ["x.a AS p", "7"]
    assert [o.term.span.text for o in branch.projection if o.term.span] == ["x.a", "7"]
    assert [p.span.text for p in branch.predicates if p.span] == [
        "x.a = t.a",
        "x.ts <= t.ts + INTERVAL '5' MINUTE",
        "flag = TRUE",
        "x.b IN (1, -2)",
        "seen > DATE '2020-01-01'",
    ]
    sides = [
        (p.left.span.text, p.right.span.text)
        for p in branch.predicates
        if isinstance(p, Comparison) and p.left.span and p.right.span
    ]
    assert sides == [
        ("x.a", "t.a"),
        ("x.ts", "t.ts"),
        ("flag", "TRUE"),
        ("seen", "DATE '2020-01-01'"),
    ]
    (membership,) = [p for p in branch.predicates if isinstance(p, Membership)]
    assert membership.column == ColumnRef("x", "b")
    assert [v.span.text for v in membership.values if v.span] == ["1", "-2"]


def test_long_conjunctions_and_unions_are_no_deep_nesting() -> None:
    many = " AND ".join(f"a <> {n}" for n in range(2000))
    assert len(parse(f"SELECT a FROM s WHERE {many}").branches[0].predicates) == 2000
    union = " UNION ALL ".join("SELECT a FROM s" for _ in range(500))
    assert len(parse(union).branches) == 500
