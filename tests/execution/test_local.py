"""The local engine: the same results however the rows are cut, and a report that adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from obda_bm import compile_sql, load_setting
from obda_bm.execution.local import Arrival, Heartbeat, Limits, run_local
from obda_bm.execution.mistakes import ExecutionError
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.verdict import Bounded
from obda_bm.planning import build_plan
from obda_bm.setting import Setting

SETTING = """
[streams.s]
time = "ts"
columns = { a = "INTEGER", ts = "INTEGER" }
[streams.t]
time = "ts"
columns = { b = "INTEGER", ts = "INTEGER" }
[relations.r]
columns = { id = "INTEGER", name = "TEXT" }
"""
JOIN = "SELECT s.a FROM s, t WHERE s.a = t.b AND s.a BETWEEN 1 AND 3"


@dataclass(frozen=True)
class Planned:
    plan: SynopsisPlan | None


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    (tmp_path / "obda.toml").write_text(SETTING)
    return load_setting(tmp_path / "obda.toml")


def planned(sql: str, setting: Setting) -> Planned:
    compiled = compile_sql(sql, setting)
    assert isinstance(compiled.verdict, Bounded)
    return Planned(build_plan(compiled.query, compiled.verdict))


def found(batches: Iterator[pa.RecordBatch]) -> Counter[tuple[int, ...]]:
    rows = [row for batch in batches for row in batch.to_pylist()]
    counts: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        counts[(row["time"], row["a"])] += row["count"]
    return counts


def random_stream(rng: Random, column: str, size: int) -> pa.Table:
    times = sorted(rng.randrange(40) for _ in range(size))
    return pa.table({column: [rng.randrange(5) for _ in range(size)], "ts": times})


def joined(s: pa.Table, t: pa.Table) -> Counter[tuple[int, ...]]:
    """Every pair, at the marker of the later of its two rows."""
    return Counter(
        (max(x["ts"], y["ts"]), x["a"])
        for x in s.to_pylist()
        for y in t.to_pylist()
        if x["a"] == y["b"] and 1 <= x["a"] <= 3
    )


@pytest.mark.parametrize("seed", range(20))
def test_batches_do_not_matter(setting: Setting, seed: int) -> None:
    rng = Random(seed)
    s, t = random_stream(rng, "a", rng.randrange(60)), random_stream(rng, "b", rng.randrange(60))
    run = run_local(
        planned(JOIN, setting), {"S": s, "t": t}, limits=Limits(batch_rows=rng.randrange(1, 30))
    )
    results = found(iter(run))
    assert results == joined(s, t)
    assert run.report.rows_in == len(s) + len(t)
    assert run.report.results == results.total()
    assert run.report.late == 0
    assert run.report.bound_units is not None
    assert run.report.peak_units <= run.report.bound_units


def test_late_rows_are_handed_over_and_left_out(setting: Setting) -> None:
    s = pa.table({"a": [1, 1, 2, 1], "ts": [1, 5, 3, 6]})
    t = pa.table({"b": [1, 2], "ts": [9, 9]})
    handed: list[tuple[str, list[dict[str, int]]]] = []
    # t is at 9 from the start, so each new row of s closes what is before it.
    run = run_local(
        planned(JOIN, setting),
        {"s": s, "t": t},
        on_late=lambda name, rows: handed.append((name, rows.to_pylist())),
        limits=Limits(batch_rows=1),
    )
    assert found(iter(run)) == Counter({(9, 1): 3})
    assert handed == [("s", [{"a": 2, "ts": 3}])]
    assert (run.report.rows_in, run.report.late) == (6, 1)


def test_static_rows_and_reordered_columns(setting: Setting) -> None:
    sql = "SELECT s.a FROM s, r WHERE s.a = r.id AND r.name = 'x'"
    s = pa.table({"ts": [1, 2], "A": [7, 8]})
    r = pa.table({"name": ["x", "x", "y"], "id": [7, 7, 8]})
    assert found(iter(run_local(planned(sql, setting), {"s": s, "r": r}))) == Counter({(1, 7): 2})


def test_nothing_arrives(setting: Setting) -> None:
    empty = pa.table({"a": pa.array([], pa.int64()), "ts": pa.array([], pa.int64())})
    run = run_local(planned(JOIN, setting), {"s": empty, "t": []})
    assert not list(run)
    assert run.report.rows_in == 0


def test_heartbeats_move_the_frontier(setting: Setting) -> None:
    seen: list[str] = []

    def beats() -> Iterator[Arrival]:
        yield pa.table({"b": [1], "ts": [0]})
        yield Heartbeat(100)
        seen.append("t is exhausted")

    s = pa.table({"a": [1, 1], "ts": [1, 2]})
    results = iter(run_local(planned(JOIN, setting), {"s": s, "t": beats()}))
    assert found(results) == Counter({(1, 1): 1, (2, 1): 1})
    assert seen


def test_a_silent_stream_is_left_out_after_a_while(setting: Setting) -> None:
    ticks = iter(range(1000))
    spoken: list[int] = []

    def silent() -> Iterator[Arrival]:
        yield pa.table({"b": [1], "ts": [0]})
        for _ in range(30):
            yield None
        spoken.append(1)

    s = [pa.table({"a": [1], "ts": [n]}) for n in range(1, 20)]
    limits = Limits(idle_after=5.0, clock=lambda: float(next(ticks)))
    run = run_local(planned(JOIN, setting), {"s": s, "t": silent()}, limits=limits)
    first = next(iter(run))
    assert len(first)
    assert not spoken


def test_mistakes(setting: Setting) -> None:
    s = pa.table({"a": ["one"], "ts": [1]})
    with pytest.raises(ExecutionError, match="no rows are given for 't'"):
        list(run_local(planned(JOIN, setting), {"s": s}))
    with pytest.raises(ExecutionError, match="s, row 1, column 'a': 'one' is not an INTEGER"):
        list(run_local(planned(JOIN, setting), {"s": s, "t": []}))
    with pytest.raises(ExecutionError, match="not bounded"):
        run_local(Planned(None), {})


SCHIFF = """
[streams.S]
time = "I"
columns = { A = "INTEGER", I = "INTEGER" }
[streams.T]
time = "J"
columns = { B = "INTEGER", J = "INTEGER" }
[streams.U]
time = "K"
columns = { C = "INTEGER", K = "INTEGER" }
"""
SCHIFF_SQL = """
SELECT S.A, T.B FROM S, T, U
WHERE S.I > T.J AND T.J > U.K AND S.A > T.B AND 0 < T.B AND T.B < 5
"""


def test_an_open_timestamp_at_most_doubles_the_state(tmp_path: Path) -> None:
    """Thousands of ties, in small batches: counted, not kept. S only probes, its rows stay."""
    (tmp_path / "obda.toml").write_text(SCHIFF)
    plan = planned(SCHIFF_SQL, load_setting(tmp_path / "obda.toml"))
    rng = Random("ties")
    times = [n // 500 for n in range(2000)]
    tables = {
        "S": pa.table({"A": [rng.randrange(9) for _ in times], "I": times}),
        "T": pa.table({"B": [rng.randrange(-2, 9) for _ in times], "J": times}),
        "U": pa.table({"C": times, "K": times}),
    }
    whole = run_local(plan, tables)
    small = run_local(plan, tables, limits=Limits(batch_rows=7))
    expected, results = by_row(iter(whole)), by_row(iter(small))
    assert results == expected
    assert results
    assert small.report.peak_units == small.report.bound_units == 5
    assert 0 < small.report.open_units <= 5


def by_row(batches: Iterator[pa.RecordBatch]) -> Counter[tuple[int, ...]]:
    counts: Counter[tuple[int, ...]] = Counter()
    for batch in batches:
        for time, a, b, count in zip(*batch.to_pydict().values(), strict=True):
            counts[time, a, b] += count
    return counts
