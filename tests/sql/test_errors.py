"""Malformed SQL, unknown names, types that do not fit; and CHECK constraints."""

from __future__ import annotations

import pytest

from obda_bm.diagnostics import ObdaError, OutsideFragment, SourceText, Span, SqlError
from obda_bm.sql import parse_check, parse_sql, render_sql

from .catalogs import CATALOG, S, parse, refused, underlined

CASES = [
    ("SELECT a b FORM s", "OBM201", "FORM"),
    ("SELECT a FROM s WHERE", "OBM201", "WHERE"),
    ("SELECT a FROM s WHERE (a = 1", "OBM201", None),
    ("SELECT a FROM s WHERE name = 'x", "OBM201", "x"),
    ("hello world", "OBM201", "hello"),
    ("SELECT FROM s", "OBM201", None),
    ("SELECT *", "OBM201", "SELECT *"),
    ("SELECT a FROM sensor", "OBM202", "sensor"),
    ("SELECT x.a FROM s", "OBM202", "x"),
    ("SELECT s.a FROM s AS x", "OBM202", "s"),
    ("SELECT s.a FROM s JOIN t ON s.a = f.a JOIN f ON TRUE", "OBM202", "f"),
    ("SELECT nme FROM s", "OBM203", "nme"),
    ("SELECT x.b FROM (SELECT a FROM s) x", "OBM203", "b"),
    ("SELECT a FROM s WHERE name = 5", "OBM204", "name = 5"),
    ("SELECT a FROM s WHERE flag = 1", "OBM204", "flag = 1"),
    ("SELECT a FROM s WHERE a > '5'", "OBM204", "a > '5'"),
    ("SELECT a FROM s WHERE name IN ('x', 5)", "OBM204", "name IN ('x', 5)"),
    ("SELECT a FROM s WHERE seen = name", "OBM204", "seen = name"),
    ("SELECT a FROM s WHERE ts < 5", "OBM204", "5"),
    ("SELECT a FROM s WHERE ts < INTERVAL '5' DAY", "OBM204", "ts < INTERVAL '5' DAY"),
    ("SELECT s.a FROM s, t WHERE s.ts < t.ts + 5", "OBM204", "t.ts + 5"),
    ("SELECT k FROM tick WHERE n < n + INTERVAL '5' DAY", "OBM204", "n + INTERVAL '5' DAY"),
    ("SELECT a FROM s, t", "OBM205", "a"),
    ("SELECT a, c FROM s JOIN t USING (a) JOIN f USING (a, ts)", "OBM205", "ts"),
    ("SELECT x.a FROM (SELECT s.a, t.a FROM s, t) x", "OBM205", "x.a"),
    ("SELECT 1 FROM s, s", "OBM206", "s"),
    ("SELECT 1 FROM s, t AS S", "OBM206", "t AS S"),
    ("SELECT 1 FROM s, (SELECT 1) s", "OBM206", "(SELECT 1) s"),
    ("CREATE VIEW s AS SELECT 1; SELECT 1", "OBM206", "s"),
    ("SELECT a FROM s WHERE seen > '2020-13-01'", "OBM207", "'2020-13-01'"),
    ("SELECT DATE '2020-01-01 10:00:00'", "OBM207", "DATE '2020-01-01 10:00:00'"),
    ("SELECT DATE '9999-12-31' + INTERVAL '1' DAY", "OBM207", None),
    ("SELECT a FROM s WHERE a = 1e999", "OBM207", "1e999"),
    ("SELECT s.a FROM s, t WHERE s.ts < t.ts + INTERVAL '5'", "OBM207", "INTERVAL '5'"),
    ("SELECT s.a FROM s, t WHERE s.ts < t.ts + INTERVAL '5 moons'", "OBM207", None),
    ("SELECT tick.k FROM tick, tock WHERE tick.n < tock.n + 0.5", "OBM207", None),
    ("SELECT a FROM s UNION ALL SELECT a, c FROM t", "OBM208", "c"),
    ("SELECT a FROM s UNION ALL SELECT name FROM s", "OBM208", "name"),
    ("WITH v(p, q) AS (SELECT a FROM s) SELECT p FROM v", "OBM208", "v(p, q)"),
    ("CREATE VIEW v(p, q) AS SELECT a FROM s; SELECT p FROM v", "OBM208", "v"),
    ("CREATE VIEW v AS SELECT a FROM s WHERE; SELECT a FROM v", "OBM201", "WHERE"),
    ("CREATE VIEW v(a, AS SELECT 1; SELECT 1", "OBM201", "CREATE VIEW v(a, AS SELECT 1"),
    ("SELECT a FROM - s", "OBM201", None),
    ("SELECT x FROM (SELECT a FROM s) AS v(x, y)", "OBM208", None),
    ("SELECT a FROM s WHERE b", "OBM209", "b"),
    ("SELECT a FROM s WHERE 1", "OBM209", "1"),
    ("SELECT 1 FROM tick, s", "OBM210", "s"),
    ("SELECT a FROM s UNION ALL SELECT k FROM tick", "OBM210", "tick"),
    (" -- nothing", "OBM211", " -- nothing"),
    (";", "OBM211", ";"),
    ("CREATE VIEW v AS SELECT 1", "OBM211", "CREATE VIEW v AS SELECT 1"),
]


@pytest.mark.parametrize(("sql", "code", "caret"), CASES)
def test_refused_with_a_caret(sql: str, code: str, caret: str | None) -> None:
    diagnostic = refused(sql, SqlError)
    assert diagnostic.code == code
    if caret is not None:
        assert underlined(diagnostic) == caret
    assert code in diagnostic.render()


@pytest.mark.parametrize(
    "text", ["", "   \n", "/* unclosed", "\x00\x01\xff", "'", '"', "`", "((((", "$$"]
)
def test_texts_that_are_no_sql(text: str) -> None:
    assert refused(text, SqlError).render()


@pytest.mark.parametrize("nested", ["(" * 3000 + "1" + ")" * 3000, "- " * 5000 + "1"])
def test_deep_nesting_is_an_error_of_the_text(nested: str) -> None:
    assert refused(f"SELECT {nested}", SqlError).code in {"OBM201", "OBM212"}


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT nme FROM s", "Did you mean 'name'?"),
        ("SELECT x FROM tik", "Did you mean 'tick'?"),
        ("SELECT a FROM s, t", "Write one of s.a, t.a."),
    ],
)
def test_hints(sql: str, hint: str) -> None:
    assert refused(sql, SqlError).hint == hint


def test_unknown_dialect() -> None:
    with pytest.raises(SqlError) as caught:
        parse_sql(SourceText("q", "SELECT 1"), CATALOG, "klingon")
    assert caught.value.diagnostics[0].code == "OBM213"
    with pytest.raises(SqlError):
        render_sql(parse("SELECT 1"), "klingon")


def test_line_and_column_of_a_syntax_error() -> None:
    diagnostic = refused("SELECT a\nFROM s\nWHERE a = = 2", SqlError)
    assert str(diagnostic.span) in {"q.sql:3:9", "q.sql:3:11"}


CHECKS = [
    ("a BETWEEN -50 AND 150", ["a >= -50", "a <= 150"]),
    ("a > 1 AND b <= a", ["a > 1", "b <= a"]),
    ("name IN ('x', 'y')", ["name IN ('x', 'y')"]),
    ("A = 1 OR a = 2", ["a IN (1, 2)"]),
    ("name IS NOT NULL", ["name IS NOT NULL"]),
    ("seen >= '2020-01-01'", ["seen >= TIMESTAMP '2020-01-01 00:00:00'"]),
    ("TRUE", []),
]


@pytest.mark.parametrize(("text", "expected"), CHECKS)
def test_checks(text: str, expected: list[str]) -> None:
    assert [str(p) for p in parse_check(text, S, None)] == expected


@pytest.mark.parametrize(
    ("text", "error", "code"),
    [
        ("z > 1", SqlError, "OBM203"),
        ("a > 'x'", SqlError, "OBM204"),
        ("a >", SqlError, "OBM201"),
        ("a > 1 garbage", SqlError, "OBM201"),
        ("a > 1; b > 2", SqlError, "OBM201"),
        ("", SqlError, "OBM201"),
        ("SELECT 1", SqlError, "OBM201"),
        ("a = 1 OR b = 2", OutsideFragment, "OBM314"),
        ("length(name) > 3", OutsideFragment, "OBM305"),
        ("NOT a = 1", OutsideFragment, "OBM307"),
        ("a IN (SELECT 1)", OutsideFragment, "OBM308"),
    ],
)
def test_checks_that_are_refused(text: str, error: type[ObdaError], code: str) -> None:
    with pytest.raises(error) as caught:
        parse_check(text, S, None)
    assert caught.value.diagnostics[0].code == code
    assert caught.value.diagnostics[0].render()


def test_a_check_points_into_the_setting_file() -> None:
    file = SourceText("obda.toml", 'check = ["a > 1 AND zz < 2"]')
    start = file.text.index("a > 1")
    span = Span(file, start, start + len("a > 1 AND zz < 2"))
    with pytest.raises(SqlError) as caught:
        parse_check("a > 1 AND zz < 2", S, span)
    assert underlined(caught.value.diagnostics[0]) == "zz"
    (first, _) = parse_check("a > 1 AND b < 2", S, Span(file, start, start + 15))
    assert first.span is not None
    assert first.span.text == "a > 1"


def test_a_check_with_escapes_points_at_all_of_it() -> None:
    file = SourceText("obda.toml", r'check = ["zz = \"x\""]')
    span = Span(file, 9, 21)
    with pytest.raises(SqlError) as caught:
        parse_check('zz = "x"', S, span)
    assert caught.value.diagnostics[0].span == span
