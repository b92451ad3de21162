"""A query with its data in a directory, run by a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow as pa

from tests.spark.runs import read_lines, write_parts

ROOT = Path(__file__).parents[2]
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


def child(
    directory: Path, placement: str, *point: str, master: str = "local[2]"
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.spark.child", str(directory), placement, *point],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=ROOT,
        env=environment() | {"MASTER": master},
    )


def environment() -> dict[str, str]:
    """Executors, too, must find the package that is tested."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}


def reap(process: subprocess.Popen[str]) -> int:
    """Kill what is left of the process and of its Java; what the process returned."""
    code = process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    return code


def complete(directory: Path, placement: str) -> None:
    assert reap(child(directory, placement)) == 0


def written(directory: Path) -> tuple[Counter[str], Counter[str]]:
    """The results and the late rows."""
    return read_lines(directory / "output"), read_lines(directory / "state" / "late")


def copy_job(source: Path, target: Path) -> Path:
    """The data of a job, without what it has written."""
    return Path(shutil.copytree(source, target, ignore=shutil.ignore_patterns("state", "output")))
