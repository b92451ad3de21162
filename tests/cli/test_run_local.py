"""obda-bm run --engine local, as a process over real files, against DuckDB on the same files."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from tests.cli.command import COMMAND, Result, run_process

Answer = tuple[datetime, int, Decimal | None, str]
"""The marker, and the row that was found at it."""

FORMATS = ("parquet", "csv", "jsonl")

SETTING = """
[streams.reading]
time = "ts"
columns = {{ sensor = "INTEGER", m = "DECIMAL(5,1)", name = "TEXT", ts = "TIMESTAMP" }}
source = {{ format = "{format}", path = "reading.{format}" }}
[streams.alarm]
time = "ts"
columns = {{ sensor = "INTEGER", ts = "TIMESTAMP" }}
source = {{ format = "{format}", path = "alarm.{format}" }}
[relations.known]
columns = {{ id = "INTEGER" }}
key = ["id"]
rows = 4
source = {{ format = "{format}", path = "known.{format}" }}
"""

SQL = """SELECT r.sensor, r.m, r.name FROM reading r, alarm a, known k
WHERE r.sensor = k.id AND a.sensor = k.id AND r.ts < a.ts
  AND r.m BETWEEN 0 AND 3 AND r.name IN ('it''s', 'a,b', 'ü')
"""

COUNTED = SQL.replace("SELECT", "SELECT greatest(r.ts, a.ts),").replace("FROM", ", count(*) FROM")

START = datetime(2024, 1, 1)


def readings(rng: Random, n: int) -> pa.Table:
    rows = [
        {
            "sensor": rng.randint(0, 5),
            "m": None if rng.random() < 0.1 else Decimal(rng.randint(0, 40)) / 10,
            "name": rng.choice(["it's", "a,b", "ü", "other"]),
            "ts": START + timedelta(minutes=i // 2),
        }
        for i in range(n)
    ]
    columns = {"sensor": pa.int32(), "m": pa.decimal128(5, 1), "name": pa.string()}
    return pa.Table.from_pylist(rows, pa.schema({**columns, "ts": pa.timestamp("us")}))


def alarms(rng: Random, n: int) -> pa.Table:
    times = [START + timedelta(minutes=i // 2) for i in range(n)]
    rows = [{"sensor": rng.randint(0, 5), "ts": time} for time in times]
    return pa.Table.from_pylist(rows, pa.schema({"sensor": pa.int32(), "ts": pa.timestamp("us")}))


def write(table: pa.Table, path: Path) -> None:
    match path.suffix:
        case ".parquet":
            pq.write_table(table, path)
        case ".csv":
            pa_csv.write_csv(table, path)
        case _:
            lines = (json.dumps(row, default=str) for row in table.to_pylist())
            path.write_text("".join(f"{line}\n" for line in lines))


def prepare(folder: Path, format_: str, n: int = 60) -> Path:
    """A setting with its sources, and the query; returns the query."""
    rng = Random("run")
    write(readings(rng, n), folder / f"reading.{format_}")
    write(alarms(rng, n), folder / f"alarm.{format_}")
    write(pa.table({"id": pa.array([1, 2, 3, 9], pa.int32())}), folder / f"known.{format_}")
    (folder / "obda.toml").write_text(SETTING.format(format=format_))
    (folder / "query.sql").write_text(SQL)
    return folder / "query.sql"


def run(query: Path, *options: str) -> Result:
    setting = str(query.with_name("obda.toml"))
    return run_process("run", str(query), "--setting", setting, "--engine", "local", *options)


def by_duckdb(folder: Path, format_: str) -> Counter[Answer]:
    """What DuckDB finds in the same files, with the timestamp at which it could first be found."""
    rows = load_duckdb(folder, format_).execute(f"{COUNTED} GROUP BY ALL").fetchall()
    return Counter({tuple(row[:-1]): row[-1] for row in rows})


def load_duckdb(folder: Path, format_: str) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect()
    readers = {"parquet": "read_parquet", "csv": "read_csv", "jsonl": "read_json"}
    types = {
        "reading": "CAST(sensor AS INT) sensor, CAST(m AS DECIMAL(5,1)) m, name,",
        "alarm": "CAST(sensor AS INT) sensor,",
    }
    for name, columns in types.items():
        source = f"{readers[format_]}('{folder / name}.{format_}')"
        select = f"SELECT {columns} CAST(ts AS TIMESTAMP) ts FROM {source}"
        database.execute(f"CREATE TABLE {name} AS {select}")
    known = f"{readers[format_]}('{folder}/known.{format_}')"
    database.execute(f"CREATE TABLE known AS SELECT id FROM {known}")
    return database


def answer(time: str | datetime, sensor: Any, m: Any, name: str) -> Answer:
    at = time if isinstance(time, datetime) else datetime.fromisoformat(time)
    return at, int(sensor), Decimal(m), name


def from_jsonl(text: str) -> Counter[Answer]:
    found: Counter[Answer] = Counter()
    for line in map(json.loads, text.splitlines()):
        assert list(line) == ["time", "row", "count"]
        assert list(line["row"]) == ["sensor", "m", "name"]
        found[answer(line["time"], *line["row"].values())] += line["count"]
    return found


def from_csv(text: str) -> Counter[Answer]:
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert head == ["time", "sensor", "m", "name", "count"]
    found: Counter[Answer] = Counter()
    for *row, count in rows:
        found[answer(*row)] += int(count)
    return found


def from_table(text: str) -> Counter[Answer]:
    head, rule, *lines = text.splitlines()
    assert head.split() == ["time", "sensor", "m", "name", "count"]
    ends = [0, *(i for i in range(len(rule) - 1) if rule[i : i + 2] == "  "), None]
    found: Counter[Answer] = Counter()
    for line in lines:
        cells = [line[a:b].strip() for a, b in pairwise(ends)]
        found[answer(*cells[:-1])] += int(cells[-1])
    return found


def from_parquet(path: Path) -> Counter[Answer]:
    found: Counter[Answer] = Counter()
    for row in pq.read_table(path).to_pylist():
        *cells, count = row.values()
        found[answer(*cells)] += count
    return found


@pytest.mark.parametrize("format_", FORMATS)
def test_every_source_format_answers_like_duckdb(format_: str, tmp_path: Path) -> None:
    query = prepare(tmp_path, format_)
    result = run(query, "--format", "jsonl", "--batch-rows", "7")
    expected = by_duckdb(tmp_path, format_)
    assert result.code == 0
    assert len(expected) > 20
    assert from_jsonl(result.out) == expected


FIRST_FOUND = {
    "set": (
        "SELECT DISTINCT a.sensor, r.name {found} FROM reading r, alarm a, known k "
        "WHERE r.ts < a.ts AND a.sensor = k.id AND r.m < 1 "
        "AND r.name IN ('it''s', 'a,b', 'ü')",
        "min(a.ts)",
    ),
    "extreme": (
        "SELECT DISTINCT k.id {found} FROM reading r, alarm a, known k "
        "WHERE r.m > a.sensor AND r.sensor = k.id",
        "min(greatest(r.ts, a.ts))",
    ),
    "window": (
        "SELECT r.name, a.sensor {found} FROM reading r, alarm a WHERE r.sensor = a.sensor "
        "AND r.ts <= a.ts AND a.ts <= r.ts + INTERVAL '3' MINUTE",
        "a.ts",
    ),
}
"""Queries, and what tells DuckDB when each row is found; rows of a bag are counted."""


@pytest.mark.parametrize("name", FIRST_FOUND)
def test_sets_extremes_and_windows_answer_like_duckdb(name: str, tmp_path: Path) -> None:
    sql, found = FIRST_FOUND[name]
    query = prepare(tmp_path, "csv")
    query.write_text(sql.format(found=""))
    result = run(query, "--json", "--batch-rows", "11")
    assert result.code == 0
    assert set(json.loads(result.err)) >= {"rows_in", "results", "late"}
    lines = list(map(json.loads, result.out.splitlines()))
    actual = Counter(
        {(datetime.fromisoformat(x["time"]), *x["row"].values()): x["count"] for x in lines}
    )
    database = load_duckdb(tmp_path, "csv")
    plain = sql.replace("DISTINCT ", "").format(found=f", {found}, count(*)")
    rows = database.execute(f"{plain} GROUP BY ALL").fetchall()
    once = "DISTINCT" in sql
    expected = Counter({(row[-2], *row[:-2]): 1 if once else row[-1] for row in rows})
    assert actual == expected
    assert len(lines) >= 3


@pytest.mark.parametrize("to_file", [False, True], ids=["stdout", "output"])
@pytest.mark.parametrize("format_", ["jsonl", "csv", "table"])
def test_every_result_format(format_: str, to_file: bool, tmp_path: Path) -> None:
    query = prepare(tmp_path, "csv")
    output = tmp_path / "results"
    options = ("--output", str(output)) if to_file else ()
    result = run(query, "--format", format_, *options)
    text = output.read_text("utf-8") if to_file else result.out
    read = {"jsonl": from_jsonl, "csv": from_csv, "table": from_table}[format_]
    assert read(text) == by_duckdb(tmp_path, "csv")
    if to_file:
        assert result.out == ""


def test_parquet_needs_a_file(tmp_path: Path) -> None:
    query = prepare(tmp_path, "parquet")
    output = tmp_path / "results.parquet"
    assert run(query, "--format", "parquet", "--output", str(output)).code == 0
    assert from_parquet(output) == by_duckdb(tmp_path, "parquet")
    refused = run(query, "--format", "parquet")
    assert (refused.code, refused.out) == (2, "")
    assert "error[OBM521]" in refused.err


@pytest.mark.parametrize("format_", ["jsonl", "csv", "table", "parquet"])
def test_no_results_are_still_a_file(format_: str, tmp_path: Path) -> None:
    query = prepare(tmp_path, "parquet", n=0)
    output = tmp_path / "results"
    assert run(query, "--format", format_, "--output", str(output)).code == 0
    if format_ == "parquet":
        assert pq.read_table(output).num_rows == 0
    elif format_ == "csv":
        assert from_csv(output.read_text()) == Counter()
    else:
        assert output.read_text() == ""


def test_the_report_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    query = prepare(tmp_path, "jsonl")
    result = run(query, "--once", "--format", "jsonl", "--report", str(tmp_path / "report.json"))
    report = json.loads((tmp_path / "report.json").read_text())
    told = {"rows_in", "results", "late", "peak_units", "bound_units", "open_units"}
    assert set(report) == told
    assert report["rows_in"] == 120
    assert report["late"] == 0
    assert report["results"] == sum(from_jsonl(result.out).values())
    assert 0 < report["peak_units"] <= report["bound_units"]
    assert result.err == (
        f"120 rows in, {report['results']} results, 0 late rows; "
        f"peak {report['peak_units']} of at most {report['bound_units']:,} units\n"
    )


def test_late_rows_are_left_out_counted_and_written(tmp_path: Path) -> None:
    query = prepare(tmp_path, "csv")
    expected = by_duckdb(tmp_path, "csv")
    with (tmp_path / "reading.csv").open("a") as file:
        file.write('1,0.5,"ü",2024-01-01 00:00:00.000000\n')
    late, report = tmp_path / "late.jsonl", tmp_path / "report.json"
    options = ("--batch-rows", "6", "--late", str(late), "--report", str(report))
    result = run(query, "--format", "jsonl", *options)
    assert from_jsonl(result.out) == expected
    assert json.loads(report.read_text())["late"] == 1
    row = {"sensor": 1, "m": "0.5", "name": "ü", "ts": "2024-01-01 00:00:00"}
    assert [json.loads(line) for line in late.read_text("utf-8").splitlines()] == [
        {"stream": "reading", "row": row}
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((",0.5,", ",half,"), "row 61, column 'm': 'half' is not a DECIMAL(5,1)"),
        (("1,0.5", "one,0.5"), "row 61, column 'sensor': 'one' is not an INTEGER"),
        (("2024-01-01 00:30", ""), "row 61"),
    ],
)
def test_a_bad_row_is_named(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    query = prepare(tmp_path, "csv")
    row = '1,0.5,"ü",2024-01-01 00:30\n'
    with (tmp_path / "reading.csv").open("a") as file:
        file.write(row.replace(*change))
    result = run(query)
    assert result.code == 2
    assert f"{tmp_path / 'reading.csv'}, {message}" in result.err
    assert "Traceback" not in result.err


def test_a_bad_line_of_json_is_named(tmp_path: Path) -> None:
    query = prepare(tmp_path, "jsonl")
    with (tmp_path / "alarm.jsonl").open("a") as file:
        file.write("{sensor: 1}\n")
    result = run(query, "--json")
    assert result.code == 2
    (error,) = json.loads(result.err)["errors"]
    assert error["code"] == "OBM512"
    assert f"{tmp_path / 'alarm.jsonl'}, row 61" in error["message"]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_missing_column_is_named(format_: str, tmp_path: Path) -> None:
    query = prepare(tmp_path, format_)
    other = alarms(Random(0), 3).rename_columns(["sensr", "ts"])
    write(other, tmp_path / f"alarm.{format_}")
    result = run(query)
    assert (result.code, result.out) == (2, "")
    assert "has no column 'sensor' of 'alarm'" in result.err
    assert "Did you mean 'sensr'?" in result.err


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    query = prepare(tmp_path, "parquet")
    (tmp_path / "alarm.parquet").unlink()
    result = run(query)
    assert (result.code, result.out) == (2, "")
    assert "error[OBM511]: there is no file" in result.err


def test_an_unbounded_query_is_refused_with_its_verdict(tmp_path: Path) -> None:
    query = prepare(tmp_path, "parquet")
    query.write_text("SELECT r.name FROM reading r, alarm a WHERE r.sensor = a.sensor")
    result = run(query)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("unbounded (bag)")
    assert "hint: Repair the query as told above" in result.err


@pytest.mark.parametrize("option", ["--output", "--report", "--late"])
def test_what_cannot_be_written_is_said_before_anything_is_read(
    option: str, tmp_path: Path
) -> None:
    query = prepare(tmp_path, "parquet")
    (tmp_path / "alarm.parquet").write_text("this is read too late to be complained about")
    result = run(query, option, str(tmp_path / "nowhere" / "file"))
    assert (result.code, result.out) == (2, "")
    assert "error[OBM522]: cannot write" in result.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("option", ["--output", "--report", None])
def test_a_full_disk_is_a_diagnostic(option: str | None, tmp_path: Path) -> None:
    query = prepare(tmp_path, "parquet")
    if option is None:
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                command(query), stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        code, complaint = done.returncode, done.stderr
    else:
        result = run(query, option, "/dev/full")
        code, complaint = result.code, result.err
    assert code == 2
    assert "error[OBM522]" in complaint
    assert "Traceback" not in complaint


@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_sizes_are_positive(value: str, tmp_path: Path) -> None:
    result = run(prepare(tmp_path, "csv"), f"--batch-rows={value}")
    assert result.code == 2
    assert f"expected a positive number, found '{value}'" in result.err


def command(query: Path, *options: str) -> list[str | Path]:
    setting = query.with_name("obda.toml")
    return [COMMAND, "run", query, "--setting", setting, "--engine", "local", *options]


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run with more results than a pipe holds: it waits for its reader."""
    query = prepare(tmp_path, "parquet", n=4000)
    report = ("--report", str(tmp_path / "report.json"))
    process = subprocess.Popen(
        command(query, "--format", "jsonl", "--batch-rows", "100", *report),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def test_a_reader_that_has_seen_enough(endless: subprocess.Popen[str]) -> None:
    assert endless.stdout is not None
    assert endless.stderr is not None
    assert json.loads(endless.stdout.readline())["count"] >= 1
    endless.stdout.close()
    complaint = endless.stderr.read()
    assert endless.wait() == 2
    assert complaint == ""


def test_ctrl_c_reports_what_was_done(endless: subprocess.Popen[str], tmp_path: Path) -> None:
    assert endless.stdout is not None
    assert endless.stderr is not None
    first = endless.stdout.readline()
    endless.send_signal(signal.SIGINT)
    out, err = endless.stdout.read(), endless.stderr.read()
    assert endless.wait() == 130
    report = json.loads((tmp_path / "report.json").read_text())
    assert 0 < report["rows_in"] < 8000
    assert sum(from_jsonl(first + out).values()) == report["results"]
    assert err.startswith(f"{report['rows_in']:,} rows in")


def on_terminal(query: Path, *options: str, results_too: bool = False) -> str:
    """What a terminal shows of stderr."""
    ours, theirs = os.openpty()
    out = theirs if results_too else subprocess.DEVNULL
    subprocess.run(command(query, *options), stdout=out, stderr=theirs, check=True)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that nobody holds the other end
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return shown.decode()


def test_progress_is_for_terminals_only(tmp_path: Path) -> None:
    query = prepare(tmp_path, "parquet", n=10)
    shown = on_terminal(query)
    assert "rows/s" in shown
    assert shown.rstrip().endswith("units")
    assert "rows/s" not in run(query).err
    assert "rows/s" not in on_terminal(query, results_too=True)
