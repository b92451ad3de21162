"""Our plan on Spark, beside Spark's own stream-stream join and a job that only reads.

`python benchmarks/spark.py [--rows N …] [--rounds N] [--jobs NAME …]` prints one table; all jobs
run in one session, interleaved, so that what else the machine does is the same for all.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from obda_bm.execution.spark.run import Once, run_spark
from obda_bm.execution.spark.session import open_session
from obda_bm.execution.spark.store import snapshot_files
from obda_bm.pipeline import Compiled, compile_sql, load_setting
from obda_bm.planning.placement import placements

SETTING = """
[streams.reading]
time = "ts"
columns = { ts = "INTEGER", sensor = "INTEGER", value = "INTEGER" }
check = ["value BETWEEN 0 AND 99", "sensor BETWEEN 0 AND 999"]
source = { format = "parquet", path = "reading", maxFilesPerTrigger = FILES }
[streams.alarm]
time = "ts"
columns = { ts = "INTEGER", sensor = "INTEGER", severity = "INTEGER" }
check = ["severity BETWEEN 1 AND 5", "sensor BETWEEN 0 AND 999"]
source = { format = "parquet", path = "alarm", maxFilesPerTrigger = FILES }
"""
QUERY = """SELECT a.sensor, a.severity FROM reading r, alarm a
WHERE r.sensor = a.sensor AND r.value > 90 AND r.ts < a.ts"""
ROWS_PER_FILE = 100_000


def write_streams(directory: Path, rows: int, files_per_batch: int) -> Compiled:
    """Readings, and a tenth as many alarms, cut at the same times."""
    rng = np.random.default_rng(1)
    for name, share, column, top in (("reading", 1, "value", 100), ("alarm", 10, "severity", 5)):
        (directory / name).mkdir(parents=True)
        size = ROWS_PER_FILE // share
        for i in range(-(-rows // ROWS_PER_FILE)):
            ticks = np.sort(rng.integers(0, 1000, size)) + 1000 * i
            table = pa.table(
                {
                    "ts": ticks,
                    "sensor": rng.integers(0, 1000, size),
                    column: rng.integers(1, top, size),
                }
            )
            path = directory / name / f"{i:05d}.parquet"
            pq.write_table(table, path)
            os.utime(path, (1_700_000_000 + i, 1_700_000_000 + i))  # Spark reads by age
    (directory / "s.toml").write_text(SETTING.replace("FILES", str(files_per_batch)))
    return compile_sql(QUERY, load_setting(directory / "s.toml"))


def ours(spark: Any, compiled: Compiled, scratch: Path, **options: Any) -> dict[str, Any]:
    run = run_spark(
        compiled,
        spark,
        state=scratch / "state",
        output=scratch / "out",
        trigger=Once(),
        **options,
    )
    run.awaitTermination()
    assert run.query is not None
    newest = snapshot_files(scratch / "state")[-1].stat().st_size
    return {"results": run.report.results, "state": newest, **_durations(run.query)}


def read_only(spark: Any, directory: Path, files: int, scratch: Path) -> dict[str, Any]:
    """Both streams to Spark's sink that forgets everything."""
    query = (
        _frame(spark, directory, "reading", "value", files)
        .union(_frame(spark, directory, "alarm", "severity", files))
        .writeStream.format("noop")
        .option("checkpointLocation", str(scratch / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return _durations(query)


def native_join(spark: Any, directory: Path, files: int, scratch: Path) -> dict[str, Any]:
    """The same query as Spark's own join, which keeps all readings forever."""
    readings = _frame(spark, directory, "reading", "value", files).alias("r")
    alarms = _frame(spark, directory, "alarm", "severity", files).alias("a")
    joined = readings.join(alarms, on=_condition()).selectExpr("a.sensor", "a.severity")
    query = (
        joined.writeStream.format("noop")
        .option("checkpointLocation", str(scratch / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    last = query.lastProgress
    state = sum(p.stat().st_size for p in (scratch / "checkpoint" / "state").rglob("*.*"))
    rows = last.stateOperators[0].numRowsTotal if last and last.stateOperators else None
    return {"state": state, "state_rows": rows, **_durations(query)}


def _condition() -> Any:
    from pyspark.sql.functions import expr

    return expr("r.sensor = a.sensor AND r.value > 90 AND r.ts < a.ts")


def _frame(spark: Any, directory: Path, name: str, column: str, files: int) -> Any:
    schema = f"ts LONG, sensor LONG, {column} LONG"
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", files)
    return reader.parquet(str(directory / name))


def _durations(query: Any) -> dict[str, Any]:
    batches = [p.durationMs["triggerExecution"] for p in query.recentProgress if p.numInputRows]
    return {"batches": len(batches), "p50_ms": statistics.median(batches) if batches else None}


def timed(job: Callable[[Path], dict[str, Any]]) -> tuple[float, dict[str, Any]]:
    scratch = Path(tempfile.mkdtemp(prefix="bench-"))
    begun = time.perf_counter()
    try:
        found = job(scratch)
        return time.perf_counter() - begun, found
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


Job = Callable[[Path], dict[str, Any]]
JOBS = ["read only", "ours, driver", "ours, aggregated", "ours, keyed", "Spark's join"]


def jobs_of(spark: Any, directory: Path, compiled: Compiled, files: int) -> dict[str, Job]:
    assert compiled.plan is not None
    places = {f"ours, {type(p).__name__}": p for p in placements(compiled.plan)}
    names = {"ours, driver": "OnDriver", "ours, aggregated": "Aggregated", "ours, keyed": "Keyed"}
    mine: dict[str, Job] = {
        name: partial(ours, spark, compiled, placement=places[f"ours, {kind}"])
        for name, kind in names.items()
    }
    return {
        "read only": partial(read_only, spark, directory, files),
        **mine,
        "Spark's join": partial(native_join, spark, directory, files),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[300_000, 3_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files-per-batch", type=int, default=10)
    parser.add_argument("--jobs", nargs="+", default=JOBS, choices=JOBS)
    args = parser.parse_args()
    spark = open_session()
    with tempfile.TemporaryDirectory() as place:
        for rows in args.rows:
            directory = Path(place) / str(rows)
            compiled = write_streams(directory, rows, args.files_per_batch)
            jobs = jobs_of(spark, directory, compiled, args.files_per_batch)
            jobs = {name: jobs[name] for name in args.jobs}
            _warm(jobs)
            _compare(jobs, rows, args.rounds)
    spark.stop()


def _warm(jobs: dict[str, Job]) -> None:
    for job in jobs.values():
        timed(job)


def _compare(jobs: dict[str, Job], rows: int, rounds: int) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    figures: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for name, job in jobs.items():
            elapsed, figures[name] = timed(job)
            seconds[name].append(elapsed)
    base = statistics.median(seconds["read only"])
    print(f"{rows:,} readings, {rows // 10:,} alarms, {rounds} rounds, interleaved")
    for name, times in seconds.items():
        median = statistics.median(times)
        print(
            f"  {name:16} {median:7.2f} s  {base / median:5.2f} of reading  "
            f"{json.dumps(figures[name])}",
            flush=True,
        )


if __name__ == "__main__":
    main()
