"""Sources of different speed, windows, late rows, restarts, and directories that are refused."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from obda_bm.execution.mistakes import ExecutionError
from obda_bm.execution.spark.run import Every, Once, run_spark
from obda_bm.execution.spark.store import inspect_store
from obda_bm.pipeline import Compiled, compile_sql, load_setting
from obda_bm.planning.placement import placements
from tests.spark.runs import Collected, read_lines, run_once, total, write_parts

STREAMS = """
[streams.fast]
time = "ts"
columns = { ts = "INTEGER", id = "INTEGER" }
source = { format = "parquet", path = "fast", maxFilesPerTrigger = 1 }
[streams.slow]
time = "ts"
columns = { ts = "INTEGER", id = "INTEGER" }
source = { format = "parquet", path = "slow", maxFilesPerTrigger = 1 }
"""
AFTER = "SELECT s.id FROM fast f, slow s WHERE f.id = s.id AND f.id BETWEEN 0 AND 4 AND f.ts < s.ts"
WITHIN = """SELECT f.id AS one, s.id AS two FROM fast f, slow s
WHERE f.ts <= s.ts AND s.ts <= f.ts + 3 AND f.id = s.id"""


def compiled(directory: Path, sql: str = AFTER) -> Compiled:
    (directory / "s.toml").write_text(STREAMS)
    return compile_sql(sql, load_setting(directory / "s.toml"))


def rows(*pairs: tuple[int, int]) -> pa.Table:
    schema = pa.schema([("ts", pa.int64()), ("id", pa.int64())])
    return pa.Table.from_pylist([{"ts": ts, "id": id_} for ts, id_ in pairs], schema=schema)


FAST = [(t, t % 6) for t in range(60)]
SLOW = [(t, t % 4) for t in range(0, 60, 5)]


def answer(sql: str) -> Counter[tuple[int, ...]]:
    """Nested loops over FAST and SLOW: the two queries, written out."""
    pairs = [(f, s) for f in FAST for s in SLOW if f[1] == s[1]]
    if sql == AFTER:
        return Counter((s[1],) for f, s in pairs if f[1] <= 4 and f[0] < s[0])
    return Counter((f[1], s[1]) for f, s in pairs if f[0] <= s[0] <= f[0] + 3)


def in_parts(listed: list[tuple[int, int]], size: int) -> list[pa.Table]:
    return [rows(*listed[i : i + size]) for i in range(0, len(listed), size)]


@pytest.mark.parametrize("sql", [AFTER, WITHIN], ids=["after", "within"])
@pytest.mark.parametrize(("fast", "slow"), [(60, 2), (10, 12), (20, 3)])
def test_speed_does_not_matter(spark: Any, tmp_path: Path, sql: str, fast: int, slow: int) -> None:
    query = compiled(tmp_path, sql)
    write_parts(tmp_path / "fast", in_parts(FAST, fast))
    write_parts(tmp_path / "slow", in_parts(SLOW, slow))
    found = run_once(spark, query).emitted
    assert total(found) == answer(sql)


def test_goes_on_where_it_stopped(spark: Any, tmp_path: Path) -> None:
    """New files, another process's turn: the answer is that of one run over everything."""
    query = compiled(tmp_path)
    sink = Collected()
    state = tmp_path / "state"
    for i in range(3):
        write_parts(tmp_path / "fast", [rows(*FAST[20 * i : 20 * i + 20])])
        write_parts(tmp_path / "slow", [rows(*SLOW[4 * i : 4 * i + 4])])
        run = run_spark(query, spark, state=state, sink=sink, trigger=Once())
        run.awaitTermination()
    assert total(sink.emitted) == answer(AFTER)
    assert run.report.rows_in == len(FAST) + len(SLOW)
    assert run.report.late == 0
    again = run_once(spark, query, state)
    assert not again.batches, "nothing new came, so nothing is emitted again"


def test_rows_after_their_time_are_kept_apart(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    write_parts(tmp_path / "fast", [rows((5, 1)), rows((6, 2), (1, 3))])
    write_parts(tmp_path / "slow", [rows((5, 1)), rows((7, 3), (7, 1), (7, 2))])
    state = tmp_path / "state"
    sink = Collected()
    run = run_spark(query, spark, state=state, sink=sink, trigger=Once())
    run.awaitTermination()
    assert total(sink.emitted) == Counter({(1,): 1, (2,): 1})
    assert run.report.late == 1
    assert read_lines(state / "late") == Counter(
        [json.dumps({"stream": "fast", "row": {"ts": 1, "id": 3}})]
    )


def test_closed_end_makes_later_ties_late(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    state = tmp_path / "state"
    write_parts(tmp_path / "fast", [rows((1, 1))])
    write_parts(tmp_path / "slow", [rows((2, 1))])
    first = run_once(spark, query, state)
    assert total(first.emitted) == Counter({(1,): 1})
    write_parts(tmp_path / "slow", [rows((2, 1), (3, 1))])
    second = run_once(spark, query, state)
    assert total(second.emitted) == Counter({(1,): 1})
    assert inspect_store(state)["newest"]["report"]["late"] == 1


def test_files_of_results(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    write_parts(tmp_path / "fast", in_parts(FAST, 30))
    write_parts(tmp_path / "slow", in_parts(SLOW, 6))
    run = run_spark(query, spark, output=tmp_path / "out", trigger=Once())
    run.awaitTermination()
    lines = [json.loads(line) for line in read_lines(tmp_path / "out").elements()]
    found: Counter[tuple[int, ...]] = Counter()
    for line in lines:
        found[(line["row"]["id"],)] += line["count"]
    assert found == answer(AFTER)
    assert run.report.results == found.total()


def test_stops_and_goes_on(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    write_parts(tmp_path / "fast", in_parts(FAST, 6))
    write_parts(tmp_path / "slow", in_parts(SLOW, 2))
    sink, state = Collected(), tmp_path / "state"
    run = run_spark(query, spark, state=state, sink=sink, trigger=Every())
    while not sink.batches:
        assert not run.awaitTermination(0.05)
    run.stop()
    last = run_once(spark, query, state)
    assert total(sink.emitted) + total(last.emitted) == answer(AFTER)


def test_metrics_tell_every_batch(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    write_parts(tmp_path / "fast", in_parts(FAST, 30))
    write_parts(tmp_path / "slow", in_parts(SLOW, 6))
    lines: list[str] = []
    run_once(spark, query, metrics=lines.append)
    told = {record["batch"]: record for record in map(json.loads, lines)}
    assert sorted(told) == [0, 1]
    assert told[0]["frontier"] == {"fast": 29, "slow": 25}
    assert told[1]["rows_in"] == len(FAST) + len(SLOW)
    assert 0 < told[0]["units"] <= told[0]["bound_units"] == 5


def test_frames_of_the_caller(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    write_parts(tmp_path / "elsewhere", in_parts(FAST, 60))
    write_parts(tmp_path / "slow", in_parts(SLOW, 12))
    frame = spark.readStream.schema("ts LONG, ID LONG").parquet(str(tmp_path / "elsewhere"))
    with pytest.raises(ExecutionError, match="there is no file"):
        run_once(spark, query)
    found = run_once(spark, query, streams={"fast": frame})
    assert total(found.emitted) == answer(AFTER)


class TestRefused:
    """A directory is never used for what it does not belong to."""

    @pytest.fixture
    def job(self, spark: Any, tmp_path: Path) -> Path:
        write_parts(tmp_path / "fast", in_parts(FAST, 30))
        write_parts(tmp_path / "slow", in_parts(SLOW, 6))
        run_once(spark, compiled(tmp_path), tmp_path / "state")
        return tmp_path

    def refuse(self, spark: Any, job: Path, message: str, sql: str = AFTER) -> None:
        before = sorted(p for p in (job / "state").rglob("*"))
        with pytest.raises(ExecutionError, match=message) as raised:
            run_once(spark, compiled(job, sql), job / "state")
        assert all(d.hint for d in raised.value.diagnostics)
        assert sorted(p for p in (job / "state").rglob("*")) == before

    def test_another_query(self, spark: Any, job: Path) -> None:
        self.refuse(spark, job, "another query or plan", WITHIN)

    def test_lost_checkpoint(self, spark: Any, job: Path) -> None:
        shutil.rmtree(job / "state" / "checkpoint")
        self.refuse(spark, job, "checkpoint is missing")

    def test_lost_synopsis(self, spark: Any, job: Path) -> None:
        shutil.rmtree(job / "state" / "state")
        self.refuse(spark, job, "batch 1 was done, but its synopsis is missing")

    def test_old_synopsis(self, spark: Any, job: Path) -> None:
        for path in (job / "state" / "state").glob("00000001*"):
            path.unlink()
        self.refuse(spark, job, "the newest synopsis is of batch 0")

    def test_checkpoint_of_another_run(self, spark: Any, job: Path) -> None:
        shutil.rmtree(job / "state" / "checkpoint")
        run_once(spark, compiled(job), job / "other")
        shutil.copytree(job / "other" / "checkpoint", job / "state" / "checkpoint")
        self.refuse(spark, job, "of different runs")

    def test_damaged_synopsis(self, spark: Any, job: Path) -> None:
        newest = max((job / "state" / "state").iterdir(), key=lambda path: path.stem)
        data = bytearray(newest.read_bytes())
        data[-1] ^= 1
        newest.write_bytes(data)
        self.refuse(spark, job, "the file is damaged")

    def test_changed_static_relation(self, spark: Any, tmp_path: Path) -> None:
        """The state knows its rows by their place; in another order they are the same."""
        text = """[relations.known]
columns = { id = "INTEGER" }
source = { format = "csv", path = "known.csv" }
"""
        (tmp_path / "s.toml").write_text(STREAMS + text)
        sql = AFTER.replace("WHERE", ", known k WHERE k.id = f.id AND")
        query = compile_sql(sql, load_setting(tmp_path / "s.toml"))
        write_parts(tmp_path / "fast", in_parts(FAST, 60))
        write_parts(tmp_path / "slow", in_parts(SLOW, 12))
        (tmp_path / "known.csv").write_text("id\n1\n2\n3\n")
        run_once(spark, query, tmp_path / "state")
        (tmp_path / "known.csv").write_text("id\n3\n1\n2\n")
        run_once(spark, query, tmp_path / "state")
        (tmp_path / "known.csv").write_text("id\n3\n1\n4\n")
        with pytest.raises(ExecutionError, match="static relation 'known' is not the one"):
            run_once(spark, query, tmp_path / "state")

    def test_something_else(self, spark: Any, tmp_path: Path) -> None:
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / "thesis.tex").write_text("")
        write_parts(tmp_path / "fast", [])
        write_parts(tmp_path / "slow", [])
        self.refuse(spark, tmp_path, "is no state directory")

    def test_in_use(self, spark: Any, tmp_path: Path) -> None:
        write_parts(tmp_path / "fast", in_parts(FAST, 30))
        write_parts(tmp_path / "slow", in_parts(SLOW, 6))
        query = compiled(tmp_path)
        run = run_spark(query, spark, state=tmp_path / "state", sink=Collected())
        try:
            with pytest.raises(ExecutionError, match="in use"):
                run_spark(query, spark, state=tmp_path / "state", sink=Collected())
        finally:
            run.stop()


def test_misfit_is_a_diagnostic(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    write_parts(tmp_path / "fast", [pa.table({"ts": ["1", "x"], "id": ["1", "2"]})])
    write_parts(tmp_path / "slow", [rows((1, 1))])
    with pytest.raises(ExecutionError, match="fast, row 2, column 'ts': 'x' is not an INTEGER"):
        run_once(spark, query)


def test_misfit_on_an_executor_is_a_diagnostic(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    assert query.plan is not None
    write_parts(tmp_path / "fast", [pa.table({"ts": ["1", "x"], "id": ["1", "2"]})])
    write_parts(tmp_path / "slow", [rows((1, 1))])
    with pytest.raises(ExecutionError, match="'x' is not an INTEGER"):
        run_once(spark, query, placement=placements(query.plan)[0])


def test_source_that_spark_does_not_know(spark: Any, tmp_path: Path) -> None:
    query = compiled(tmp_path)
    write_parts(tmp_path / "slow", [rows((1, 1))])
    (tmp_path / "s.toml").write_text(STREAMS.replace("parquet", "kafka", 1))
    query = compile_sql(AFTER, load_setting(tmp_path / "s.toml"))
    with pytest.raises(ExecutionError, match="Spark cannot read 'kafka'"):
        run_once(spark, query)
