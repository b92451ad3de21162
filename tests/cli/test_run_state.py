"""obda-bm run --engine local --state DIR: stopped, killed or finished, the same command goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.test_run_local import (
    alarms,
    by_duckdb,
    command,
    from_csv,
    from_jsonl,
    prepare,
    readings,
    run,
)

READ = {"jsonl": from_jsonl, "csv": from_csv}


def durable(folder: Path, format_: str = "jsonl") -> tuple[str, ...]:
    return (
        *("--state", str(folder / "state"), "--output", str(folder / "results")),
        *("--format", format_, "--batch-rows", "50", "--report", str(folder / "report.json")),
    )


def report(folder: Path) -> dict[str, int]:
    read: dict[str, int] = json.loads((folder / "report.json").read_text())
    return read


@pytest.mark.parametrize("format_", READ)
def test_a_finished_run_goes_on_with_what_is_new(format_: str, tmp_path: Path) -> None:
    query = prepare(tmp_path, "parquet", n=400)
    whole = {name: pq.read_table(tmp_path / f"{name}.parquet") for name in ("reading", "alarm")}
    for name, table in whole.items():
        pq.write_table(table.slice(0, 300), tmp_path / f"{name}.parquet")
    assert run(query, *durable(tmp_path, format_)).code == 0
    first = report(tmp_path)
    for name, table in whole.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    assert run(query, *durable(tmp_path, format_)).code == 0
    assert READ[format_]((tmp_path / "results").read_text("utf-8")) == by_duckdb(
        tmp_path, "parquet"
    )
    second = report(tmp_path)
    assert (first["rows_in"], second["rows_in"]) == (600, 800)
    assert second["results"] > first["results"]
    assert second["late"] == 0


def test_nothing_new_changes_nothing(tmp_path: Path) -> None:
    query = prepare(tmp_path, "csv", n=100)
    assert run(query, *durable(tmp_path)).code == 0
    results, first = (tmp_path / "results").read_bytes(), report(tmp_path)
    assert run(query, *durable(tmp_path)).code == 0
    assert (tmp_path / "results").read_bytes() == results
    assert report(tmp_path) == first


def until_some_results(process: subprocess.Popen[bytes], results: Path, size: int) -> None:
    while process.poll() is None and (not results.exists() or results.stat().st_size < size):
        time.sleep(0.005)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_stopped_at_any_time_it_ends_like_one_run(how: signal.Signals, tmp_path: Path) -> None:
    """Whatever was written when it died, each result is there exactly once at the end."""
    query = prepare(tmp_path, "parquet", n=5000)
    arguments = command(query, *durable(tmp_path))
    stopped = 0
    for megabytes in (1, 8, 14):
        process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
        until_some_results(process, tmp_path / "results", megabytes << 20)
        process.send_signal(how)
        process.wait()
        stopped += process.returncode != 0
        assert process.returncode in (0, 130, -signal.SIGKILL)
    assert stopped >= 2
    assert run(query, *durable(tmp_path)).code == 0
    found = from_jsonl((tmp_path / "results").read_text("utf-8"))
    assert found == by_duckdb(tmp_path, "parquet")
    assert report(tmp_path)["results"] == sum(found.values())
    assert report(tmp_path)["rows_in"] == 10000


def test_rows_at_a_closed_time_are_late(tmp_path: Path) -> None:
    query = prepare(tmp_path, "csv", n=100)
    options = (*durable(tmp_path), "--late", str(tmp_path / "late"))
    assert run(query, *options).code == 0
    with (tmp_path / "alarm.csv").open("a") as file:
        file.write("1,2024-01-01 00:10:00.000000\n")
    results = (tmp_path / "results").read_bytes()
    assert run(query, *options).code == 0
    assert report(tmp_path)["late"] == 1
    assert (tmp_path / "results").read_bytes() == results
    (line,) = (tmp_path / "late").read_text().splitlines()
    assert json.loads(line)["stream"] == "alarm"
    assert run(query, *options).code == 0
    assert report(tmp_path)["late"] == 1


def refused(folder: Path, code: str, *options: str) -> None:
    before = (folder / "results").read_bytes()
    result = run(folder / "query.sql", *options)
    assert result.code == 2
    assert f"error[{code}]" in result.err
    assert "Traceback" not in result.err
    assert (folder / "results").read_bytes() == before


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """A folder in which a run has been."""
    assert run(prepare(tmp_path, "parquet", n=100), *durable(tmp_path)).code == 0
    return tmp_path


def test_another_query_is_refused(done: Path) -> None:
    query = done / "query.sql"
    query.write_text(query.read_text().replace("BETWEEN 0 AND 3", "BETWEEN 0 AND 2"))
    refused(done, "OBM533", *durable(done))


def test_other_static_rows_are_refused(done: Path) -> None:
    pq.write_table(pa.table({"id": pa.array([1, 2], pa.int32())}), done / "known.parquet")
    refused(done, "OBM533", *durable(done))


def test_another_output_or_format_is_refused(done: Path) -> None:
    refused(done, "OBM533", *durable(done), "--output", str(done / "elsewhere"))
    assert not (done / "elsewhere").exists()
    refused(done, "OBM533", *durable(done, "csv"))


def test_a_source_that_has_shrunk_is_refused(done: Path) -> None:
    pq.write_table(alarms(Random("run"), 50), done / "alarm.parquet")
    refused(done, "OBM534", *durable(done))


def test_a_source_that_is_another_one_is_refused(done: Path) -> None:
    table = readings(Random("run"), 300)
    pq.write_table(table.slice(150), done / "reading.parquet")
    refused(done, "OBM534", *durable(done))


def test_a_damaged_checkpoint_is_refused(done: Path) -> None:
    path = done / "state" / "checkpoint"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    refused(done, "OBM534", *durable(done))


def test_results_that_are_gone_are_missed(done: Path) -> None:
    (done / "results").write_text("")
    refused(done, "OBM534", *durable(done))


@pytest.mark.parametrize("format_", ["table", "parquet"])
def test_formats_that_cannot_go_on_are_refused(format_: str, done: Path) -> None:
    refused(done, "OBM538", *durable(done, format_))


def test_a_directory_serves_one_run_at_a_time(tmp_path: Path) -> None:
    query = prepare(tmp_path, "parquet", n=4000)
    arguments = command(query, "--state", str(tmp_path / "state"), "--batch-rows", "50")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()  # it waits for a reader, with the directory in its hands
        second = run(query, "--state", str(tmp_path / "state"))
        first.kill()
    assert (second.code, second.out) == (2, "")
    assert "error[OBM535]" in second.err
