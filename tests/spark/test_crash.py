"""Killed anywhere, a run goes on with nothing lost and nothing twice."""

from __future__ import annotations

import json
import os
import signal
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
from tests.spark.jobs import QUERY, child, complete, copy_job, reap, write_job, written

pytest.importorskip("pyspark", reason="pyspark is not installed")

ON_DRIVER = [
    "state:query.json:amid",
    "output:part-00000000:before",
    "output:part-00000000:amid",
    "output:part-00000000:after",
    "late:00000001:amid",
    "late:00000001:after",
    "state:00000002:before",
    "state:00000002:amid",
    "state:00000002:after",
    "output:part-00000003.end:amid",
    "output:part-00000003.end:after",
    "state:00000003.end:after",
]


# Results come a batch later, when the watermark has moved; batch 4 has no rows, only that.
KEYED = [
    "output:part-00000001:before",
    "output:part-00000001:amid",
    "output:part-00000001:after",
    "late:00000001:amid",
    "late:00000001:after",
    "state:00000002:before",
    "state:00000002:amid",
    "state:00000002:after",
    "state:00000004:after",
    "output:part-00000004.end:amid",
    "output:part-00000004.end:after",
    "state:00000004.end:after",
]
POINTS = {"OnDriver": ON_DRIVER, "Keyed": KEYED}
PLACEMENTS = list(POINTS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("undisturbed") / "job"
    write_job(directory, 4)
    complete(directory, "OnDriver")
    return directory


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


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_killed_at_every_write(undisturbed: Path, tmp_path: Path, placement: str) -> None:
    job = copy_job(undisturbed, tmp_path / "job")
    for point in POINTS[placement]:
        assert reap(child(job, placement, point)) == -signal.SIGKILL, f"not killed at {point}"
    complete(job, placement)
    assert written(job) == written(undisturbed)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_killed_at_random_times(tmp_path: Path, placement: str) -> None:
    rng = Random("times")
    straight, job = tmp_path / "straight", tmp_path / "job"
    write_job(straight, 24)
    copy_job(straight, job)
    complete(straight, "OnDriver")
    killed = 0
    for _ in range(8):
        process = child(job, placement)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(rng.uniform(0.1, 2.0))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        killed += reap(process) == -signal.SIGKILL
    assert killed == 8, "some runs were done before they could be killed"
    complete(job, placement)
    assert written(job) == written(straight)
