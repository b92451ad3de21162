"""Joins within a budget: exact where it suffices, a part of the answer where it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from obda_bm import compile_sql, load_setting
from obda_bm.diagnostics import BudgetError
from obda_bm.execution.budgeted import BudgetReport, budgeted_steps
from obda_bm.execution.local import Limits
from obda_bm.execution.reference import emit_reference
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.verdict import Unbounded
from obda_bm.setting import Setting

SETTING = """
[streams.s]
time = "ts"
columns = { a = "INTEGER", x = "INTEGER", name = "TEXT", ts = "INTEGER" }
[streams.t]
time = "ts"
columns = { b = "INTEGER", y = "DECIMAL(6,1)", name = "TEXT", ts = "INTEGER" }
[relations.r]
columns = { id = "INTEGER" }
"""
EQUAL = "SELECT s.a, t.y FROM s, t WHERE s.a = t.b"
QUERIES = [
    EQUAL,
    "SELECT s.x, t.y, 7 AS seven FROM s, t WHERE t.b = s.a AND s.x < 5",
    "SELECT s.a FROM s, t WHERE s.a < t.y",
    "SELECT t.y FROM s, t WHERE s.x >= t.b AND s.ts < t.ts",
    "SELECT s.x, t.b FROM s, t WHERE s.name = t.name AND s.x <> t.b",
    "SELECT s.x, t.b FROM s, t WHERE s.a = t.b AND t.ts <= s.ts + 5 AND t.ts >= s.ts",
    "SELECT one.x, two.x AS z FROM s one, s two WHERE one.a = two.x",
]


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    (tmp_path / "obda.toml").write_text(SETTING)
    return load_setting(tmp_path / "obda.toml")


def random_tables(rng: Random, size: int) -> dict[str, pa.Table]:
    """NULLs included; ties in time, too."""

    def numbers(high: int) -> list[int | None]:
        return [rng.choice([*range(high)] * 4 + [None]) for _ in range(size)]

    def times() -> list[int]:
        return sorted(rng.randrange(size) for _ in range(size))

    def names() -> list[str]:
        return [rng.choice("abcdef") for _ in range(size)]

    s = {"a": numbers(9), "x": numbers(9), "name": names(), "ts": times()}
    t = {"b": numbers(9), "y": numbers(9), "name": names(), "ts": times()}
    return {"s": pa.table(s), "t": pa.table(t)}


def run(
    query: SpjUnion, tables: Mapping[str, pa.Table], budget: int, batch_rows: int = 10
) -> tuple[Counter[tuple[object, ...]], BudgetReport]:
    found: Counter[tuple[object, ...]] = Counter()
    report = BudgetReport(budget)
    for step in budgeted_steps(query, tables, budget, limits=Limits(batch_rows=batch_rows)):
        for row in step.results.to_pylist():
            count = row.pop("count")
            found[tuple(row.values())] += count
        report = step.report
    return found, report


def expected(query: SpjUnion, tables: Mapping[str, pa.Table]) -> Counter[tuple[object, ...]]:
    tuples = {name: table.to_pylist() for name, table in tables.items()}
    emitted = emit_reference(query, tuples)
    return Counter({(time, *row): n for time, rows in emitted.items() for row, n in rows.items()})


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("seed", range(4))
def test_a_budget_that_suffices_is_exact(setting: Setting, sql: str, seed: int) -> None:
    tables = random_tables(Random(seed), 60)
    query = compile_sql(sql, setting).query
    found, report = run(query, tables, budget=1000)
    assert found == expected(query, tables)
    assert report.exact
    assert (report.recall.low, report.recall.high) == (1, 1)
    assert report.results == found.total()
    assert "exact" in str(report)


@pytest.mark.parametrize("sql", QUERIES)
def test_a_small_budget_gives_a_part_and_says_so(setting: Setting, sql: str) -> None:
    tables = random_tables(Random(5), 300)
    query = compile_sql(sql, setting).query
    found, report = run(query, tables, budget=20)
    whole = expected(query, tables)
    assert found <= whole
    assert report.peak_units <= 20
    truth = found.total() / whole.total()
    # Fewer evictions than ghosts: the estimate is exact.
    assert report.recall.estimate == pytest.approx(truth)
    assert truth == 1 or not report.exact


def test_batches_do_not_matter_and_the_seed_repeats(setting: Setting) -> None:
    tables = random_tables(Random(6), 200)
    query = compile_sql(EQUAL, setting).query
    first = run(query, tables, budget=25, batch_rows=200)
    for batch_rows in (3, 17, 200):
        assert run(query, tables, budget=25, batch_rows=batch_rows) == first


def test_time_limits_cost_no_budget(setting: Setting) -> None:
    """What has left the window goes first, without loss."""
    sql = QUERIES[5]
    tables = random_tables(Random(7), 400)
    query = compile_sql(sql, setting).query
    found, report = run(query, tables, budget=60)
    assert found == expected(query, tables)
    assert report.exact


def test_trend_is_learnt_and_recall_estimated(setting: Setting) -> None:
    """The keys rise, so that old ones are worth nothing: few places find almost all."""
    rng = Random(8)
    keys = {name: [i // 3 + rng.randrange(-4, 5) for i in range(2400)] for name in "ab"}
    s = pa.table({"a": keys["a"], "x": keys["a"], "name": ["n"] * 2400, "ts": [*range(2400)]})
    t = pa.table({"b": keys["b"], "y": keys["b"], "name": ["n"] * 2400, "ts": [*range(2400)]})
    compiled = compile_sql(EQUAL, setting)
    assert isinstance(compiled.verdict, Unbounded)
    found, report = run(compiled.query, {"s": s, "t": t}, budget=50, batch_rows=500)
    counts = Counter(keys["a"])
    total = sum(counts[key] for key in keys["b"])
    assert report.recall.low <= found.total() / total <= report.recall.high
    assert found.total() / total > 0.9
    assert report.evicted > 2000
    assert "approximate, recall" in str(report)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT s.a FROM s, t WHERE s.a = t.b",
        "SELECT s.a FROM s, t WHERE s.ts < t.ts",
        "SELECT s.a FROM s, r WHERE s.a = r.id",
        "SELECT s.a FROM s",
    ],
)
def test_other_queries_are_refused(setting: Setting, sql: str) -> None:
    query = compile_sql(sql, setting).query
    with pytest.raises(BudgetError) as refused:
        run(query, random_tables(Random(1), 5), budget=5)
    assert refused.value.diagnostics[0].code == "OBM810"
