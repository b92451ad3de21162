"""The kernel on the executors, by key: the same answers as DuckDB's, and as the driver's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from obda_bm.execution.local import Limits
from obda_bm.execution.mistakes import ExecutionError
from obda_bm.execution.spark.run import Once, run_spark
from obda_bm.execution.spark.store import inspect_store
from obda_bm.interfaces.cli.state import as_text
from obda_bm.pipeline import Compiled, compile_sql, load_setting
from obda_bm.planning.placement import Aggregated, Keyed, OnDriver, find_key, placements
from tests.spark.runs import Collected, read_lines, run_once, total, write_parts

SETTING = """
[streams.reading]
time = "ts"
columns = { ts = "INTEGER", sensor = "INTEGER", value = "INTEGER" }
check = ["value BETWEEN 0 AND 5", "sensor BETWEEN 0 AND 30"]
source = { format = "parquet", path = "reading", maxFilesPerTrigger = 1 }
[streams.alarm]
time = "ts"
columns = { ts = "INTEGER", sensor = "INTEGER", severity = "INTEGER" }
check = ["severity BETWEEN 1 AND 3", "sensor BETWEEN 0 AND 30"]
source = { format = "parquet", path = "alarm", maxFilesPerTrigger = 1 }
[streams.service]
time = "ts"
columns = { ts = "INTEGER", sensor = "INTEGER", kind = "TEXT" }
check = ["sensor BETWEEN 0 AND 30"]
source = { format = "parquet", path = "service", maxFilesPerTrigger = 1 }
[relations.known]
columns = { id = "INTEGER", turbine = "INTEGER" }
key = ["id"]
source = { format = "parquet", path = "known" }
"""
QUERIES = {
    "after": "SELECT r.sensor FROM reading r, alarm a WHERE r.sensor = a.sensor AND r.ts < a.ts",
    "not projected": "SELECT a.severity FROM reading r, alarm a "
    "WHERE r.sensor = a.sensor AND r.ts < a.ts",
    "same time": "SELECT r.value FROM reading r, alarm a WHERE r.sensor = a.sensor AND r.ts = a.ts",
    "set": "SELECT DISTINCT a.sensor, a.severity FROM reading r, alarm a "
    "WHERE r.sensor = a.sensor AND r.ts < a.ts AND r.value >= a.severity",
    "window": "SELECT r.sensor, r.value FROM reading r, alarm a "
    "WHERE r.sensor = a.sensor AND r.ts <= a.ts AND a.ts <= r.ts + 4",
    "three": "SELECT a.sensor FROM reading r, alarm a, service s "
    "WHERE r.sensor = a.sensor AND a.sensor = s.sensor AND r.ts < a.ts AND a.ts < s.ts",
    "any order": "SELECT r.sensor, a.severity FROM reading r, alarm a WHERE r.sensor = a.sensor",
    "static": "SELECT k.turbine FROM reading r, alarm a, known k "
    "WHERE r.sensor = a.sensor AND a.sensor = k.id AND r.ts < a.ts",
    "union": "SELECT r.sensor FROM reading r, alarm a WHERE r.sensor = a.sensor AND r.ts < a.ts "
    "UNION ALL SELECT s.sensor FROM service s WHERE s.kind = 'oil'",
    "compared": "SELECT a.sensor FROM reading r, alarm a "
    "WHERE r.sensor = a.sensor AND r.ts < a.ts AND r.value < a.severity",
}


def write_data(directory: Path, parts: int = 3) -> dict[str, pa.Table]:
    rng = Random("keyed")
    ticks = [sorted(rng.randint(0, 40) for _ in range(n)) for n in (150, 40, 25)]
    tables = {
        "reading": _table(rng, ticks[0], value=range(6)),
        "alarm": _table(rng, ticks[1], severity=range(1, 4)),
        "service": _table(rng, ticks[2], kind=["oil", "bolt", None]),
        "known": pa.table({"id": list(range(20)), "turbine": [i % 4 for i in range(20)]}),
    }
    for name, table in tables.items():
        size = -(-len(table) // parts) if name != "known" else len(table)
        write_parts(directory / name, [table.slice(i, size) for i in range(0, len(table), size)])
    (directory / "s.toml").write_text(SETTING)
    return tables


def _table(rng: Random, ticks: list[int], **values: Any) -> pa.Table:
    sensors = [rng.choice([*range(12), None]) for _ in ticks]
    rest = {name: [rng.choice(list(pool)) for _ in ticks] for name, pool in values.items()}
    return pa.table({"ts": ticks, "sensor": sensors, **rest})


def key_of(compiled: Compiled) -> Keyed:
    assert compiled.plan is not None
    key = find_key(compiled.plan)
    assert key is not None
    return key


def answer(sql: str, tables: dict[str, pa.Table]) -> Counter[tuple[Any, ...]]:
    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register(name, table)
    return Counter(connection.execute(sql).fetchall())


@pytest.mark.parametrize("name", QUERIES)
def test_agrees_with_duckdb_and_the_driver(spark: Any, tmp_path: Path, name: str) -> None:
    tables = write_data(tmp_path, 2)
    compiled = compile_sql(QUERIES[name], load_setting(tmp_path / "s.toml"))
    found = run_once(spark, compiled, placement=key_of(compiled)).emitted
    assert total(found) == answer(QUERIES[name], tables)
    assert found == run_once(spark, compiled, placement=OnDriver()).emitted


def test_goes_on_after_the_end(spark: Any, tmp_path: Path) -> None:
    """Ended twice, with ties across the ends late, as on the driver."""
    (tmp_path / "s.toml").write_text(SETTING)
    compiled = compile_sql(QUERIES["after"], load_setting(tmp_path / "s.toml"))
    emitted: dict[str, Any] = {}
    for placement in (key_of(compiled), Aggregated(), OnDriver()):
        place, sink = tmp_path / type(placement).__name__, Collected()
        place.mkdir()
        frames = {}
        for name, schema in (("reading", "value"), ("alarm", "severity")):
            (place / name).mkdir()
            frames[name] = spark.readStream.schema(f"ts LONG, sensor LONG, {schema} LONG").parquet(
                str(place / name)
            )
        for i in range(3):
            ticks = list(range(10 * i, 10 * i + 11))
            sensors = [(3 * t) % 7 for t in ticks]
            ones = [1] * len(ticks)
            write_parts(
                place / "reading", [pa.table({"ts": ticks, "sensor": sensors, "value": ones})]
            )
            write_parts(
                place / "alarm",
                [pa.table({"ts": ticks, "sensor": sensors[::-1], "severity": ones})],
            )
            run = run_spark(
                compiled,
                spark,
                state=place / "state",
                sink=sink,
                streams=frames,
                trigger=Once(),
                placement=placement,
            )
            run.awaitTermination()
        late = read_lines(place / "state" / "late")
        emitted[str(placement)] = (sink.emitted, late, run.report.late, run.report.results)
        assert late.total() == run.report.late > 0
        assert inspect_store(place / "state")["newest"]["ended"]
    keyed, aggregated, driver = emitted.values()
    assert keyed == aggregated == driver


def test_path_that_the_state_reader_cannot_read(spark: Any, tmp_path: Path) -> None:
    write_data(tmp_path)
    compiled = compile_sql(QUERIES["after"], load_setting(tmp_path / "s.toml"))
    with pytest.raises(ExecutionError, match="has ' ' in its path"):
        run_once(spark, compiled, tmp_path / "a b", placement=key_of(compiled))


def test_waiting_rows_have_a_cap(spark: Any, tmp_path: Path) -> None:
    """Alarms never come, so readings wait."""
    write_data(tmp_path)
    for path in (tmp_path / "alarm").iterdir():
        path.unlink()
    compiled = compile_sql(QUERIES["after"], load_setting(tmp_path / "s.toml"))
    with pytest.raises(ExecutionError, match="rows wait, at most 60 may"):
        run_once(spark, compiled, placement=key_of(compiled), limits=Limits(max_pending=60))


def test_state_is_shown(spark: Any, tmp_path: Path) -> None:
    write_data(tmp_path)
    compiled = compile_sql(QUERIES["after"], load_setting(tmp_path / "s.toml"))
    run_once(spark, compiled, tmp_path / "state", placement=key_of(compiled))
    shown = as_text(inspect_store(tmp_path / "state"))
    assert "source    alarm: at " in shown
    assert "batch     3, then the input ended" in shown


def test_set_query_needs_its_key(tmp_path: Path) -> None:
    """Two buckets could emit the same result, and neither would know."""
    write_data(tmp_path)
    sql = QUERIES["not projected"].replace("SELECT", "SELECT DISTINCT")
    compiled = compile_sql(sql, load_setting(tmp_path / "s.toml"))
    assert compiled.plan is not None
    assert placements(compiled.plan) == (Aggregated(), OnDriver())


def test_self_join_on_two_columns_has_no_key(tmp_path: Path) -> None:
    write_data(tmp_path)
    sql = """SELECT r.sensor FROM reading r, reading q
             WHERE r.sensor = q.value AND r.ts < q.ts"""
    compiled = compile_sql(sql, load_setting(tmp_path / "s.toml"))
    assert compiled.plan is not None
    assert find_key(compiled.plan) is None
