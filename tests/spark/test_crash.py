"""Killed anywhere, a run goes on with nothing lost and nothing twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from obda_bm.execution.local import run_local
from obda_bm.execution.sources import read_static
from obda_bm.pipeline import compile_sql, load_setting
from tests.spark.runs import read_lines, write_parts

pytest.importorskip("pyspark", reason="pyspark is not installed")

SETTING = """
[streams.reading]
time = "ts"
columns = { ts = "INTEGER", sensor = "INTEGER", value = "INTEGER" }
source = { format = "parquet", path = "reading", maxFilesPerTrigger = 1 }
[streams.alarm]
time = "ts"
columns = { ts = "INTEGER", sensor = "INTEGER" }
source = { format = "parquet", path = "alarm", maxFilesPerTrigger = 1 }
[relations.known]
columns = { id = "INTEGER", turbine = "INTEGER" }
source = { format = "csv", path = "known.csv" }
"""
QUERY = """
SELECT a.sensor, k.turbine FROM reading r, alarm a, known k
WHERE r.sensor = k.id AND a.sensor = k.id AND r.ts < a.ts AND r.value > 2
"""

POINTS = [
    "state:query.json:amid",
    "state:query.json:after",
    "output:part-00000000:before",
    "output:part-00000000:amid",
    "output:part-00000000:after",
    "late:00000001:before",
    "late:00000001:amid",
    "late:00000001:after",
    "state:00000002:before",
    "state:00000002:amid",
    "state:00000002:after",
    "output:part-00000003.end:amid",
    "output:part-00000003.end:after",
    "state:00000003.end:before",
    "state:00000003.end:after",
]


def write_job(directory: Path, files: int) -> None:
    """Streams in so many files; the second file of each has a row that is too late."""
    rng = Random("crash")
    directory.mkdir()
    (directory / "s.toml").write_text(SETTING)
    (directory / "query.sql").write_text(QUERY)
    (directory / "known.csv").write_text(
        "id,turbine\n" + "".join(f"{i},{i % 3}\n" for i in range(9))
    )
    readings, alarms = [], []
    for i in range(files):
        ticks = sorted(rng.randint(10 * i, 10 * i + 10) for _ in range(30)) + [2] * (i == 1)
        sensors = [rng.randint(0, 11) for _ in ticks]
        values = [rng.randint(0, 5) for _ in ticks]
        readings.append(pa.table({"ts": ticks, "sensor": sensors, "value": values}))
        alarms.append(pa.table({"ts": ticks[::3], "sensor": sensors[::-3]}))
    last = {"ts": [10 * files] * 9, "sensor": list(range(9))}  # only the end closes these
    alarms[-1] = pa.concat_tables([alarms[-1], pa.table(last)])
    write_parts(directory / "reading", readings)
    write_parts(directory / "alarm", alarms)


def child(directory: Path, *point: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.spark.child", str(directory), *point],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(__file__).parents[2],
    )


def reap(process: subprocess.Popen[str]) -> int:
    """Kill what is left of the process and of its Java; what the process returned."""
    code = process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    return code


def complete(directory: Path) -> None:
    assert reap(child(directory)) == 0


def written(directory: Path) -> tuple[Counter[str], Counter[str]]:
    """The results and the late rows."""
    return read_lines(directory / "output"), read_lines(directory / "state" / "late")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("undisturbed") / "job"
    write_job(directory, 4)
    complete(directory)
    return directory


def copy_job(source: Path, target: Path) -> Path:
    """The data of a job, without what it has written."""
    return Path(shutil.copytree(source, target, ignore=shutil.ignore_patterns("state", "output")))


def test_undisturbed_run_is_the_local_one(undisturbed: Path) -> None:
    compiled = compile_sql(QUERY, load_setting(undisturbed / "s.toml"))
    rows = {
        relation.name: read_static(relation, undisturbed)
        for relation in compiled.setting.catalog.relations
    }
    on_time = {name: _without_late(table) for name, table in rows.items()}
    expected = Counter(
        (row["time"], row["sensor"], row["turbine"], int(row["count"]))
        for batch in run_local(compiled, on_time)
        for row in batch.to_pylist()
    )
    results, late = written(undisturbed)
    found = Counter(
        (line["time"], line["row"]["sensor"], line["row"]["turbine"], line["count"])
        for line in map(json.loads, results.elements())
    )
    assert found == expected
    assert late.total() == sum(map(len, rows.values())) - sum(map(len, on_time.values())) == 2


def _without_late(table: pa.Table) -> pa.Table:
    """The one row of the second file that comes after its time."""
    if "ts" not in table.column_names:
        return table
    ticks = table.column("ts").to_pylist()
    backwards = [i for i in range(1, len(ticks)) if ticks[i] < ticks[i - 1]]
    return table.take([i for i in range(len(ticks)) if i not in backwards])


def test_killed_at_every_write(undisturbed: Path, tmp_path: Path) -> None:
    job = copy_job(undisturbed, tmp_path / "job")
    for point in POINTS:
        assert reap(child(job, point)) == -signal.SIGKILL, f"not killed at {point}"
    complete(job)
    assert written(job) == written(undisturbed)


def test_killed_at_random_times(tmp_path: Path) -> None:
    rng = Random("times")
    straight, job = tmp_path / "straight", tmp_path / "job"
    write_job(straight, 24)
    copy_job(straight, job)
    complete(straight)
    killed = 0
    for _ in range(8):
        process = child(job)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(rng.uniform(0.1, 2.0))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        killed += reap(process) == -signal.SIGKILL
    assert killed == 8, "some runs were done before they could be killed"
    complete(job)
    assert written(job) == written(straight)
