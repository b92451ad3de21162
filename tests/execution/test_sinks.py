"""Results in every format."""

from __future__ import annotations

import json
from datetime import datetime
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from obda_bm.execution.mistakes import ExecutionError
from obda_bm.execution.sinks import Format, JsonlSink, json_rows, open_sink
from obda_bm.ir.sqltypes import DATE, DAY, INTEGER, TIMESTAMP, Family, SqlType, instant
from obda_bm.report.as_json import plain
from tests.execution.streams import EVERYTHING, tables

HUGE = 2**80


def results(*rows: tuple[int, str | None, int], wide: bool = False) -> pa.Table:
    times, names, counts = zip(*rows, strict=True) if rows else ((), (), ())
    count = pa.decimal256(76, 0) if wide else pa.int64()
    columns = [pa.array(times, pa.int64()), pa.array(names, pa.string()), pa.array(counts, count)]
    return pa.table(columns, names=["time", "name", "count"])


def written(path: Path, format_: Format, time: SqlType, *batches: pa.Table) -> str:
    with open_sink(format_, path, time) as sink:
        for batch in batches:
            sink.write(batch)
    return path.read_text()


@given(tables())
def test_values_are_those_of_the_other_verbs(table: pa.Table) -> None:
    columns = EVERYTHING.columns
    for shown, row in zip(json_rows(table), table.to_pylist(), strict=True):
        for column in columns:
            value = row[column.name]
            if value is not None and column.type.family is Family.INSTANT:
                value = instant(value.isoformat())
            elif value is not None and column.type.name.startswith("DECIMAL"):
                value = Fraction(value)
            assert shown[column.name] == plain(column, value)


def test_jsonl(tmp_path: Path) -> None:
    text = written(
        tmp_path / "out",
        Format.JSONL,
        INTEGER,
        results((3, "é", 2)),
        results((4, None, HUGE), wide=True),
    )
    assert [json.loads(line) for line in text.splitlines()] == [
        {"time": 3, "row": {"name": "é"}, "count": 2},
        {"time": 4, "row": {"name": None}, "count": HUGE},
    ]


@pytest.mark.parametrize(
    ("time", "shown"), [(TIMESTAMP, "1970-01-02 00:00:00"), (DATE, "1970-01-02"), (INTEGER, DAY)]
)
def test_markers_look_like_the_streams_time(time: SqlType, shown: object) -> None:
    stream = StringIO()
    JsonlSink(stream, time).write(results((DAY, "x", 1)))
    assert json.loads(stream.getvalue())["time"] == shown


def test_a_query_without_columns() -> None:
    stream = StringIO()
    JsonlSink(stream, INTEGER).write(results((1, "x", 5)).select(["time", "count"]))
    assert json.loads(stream.getvalue()) == {"time": 1, "row": {}, "count": 5}


def test_csv(tmp_path: Path) -> None:
    batches = (results(), results((1, 'a"b', 2)), results((2, None, HUGE), (2, "", 1), wide=True))
    text = written(tmp_path / "out", Format.CSV, INTEGER, *batches)
    assert text == f'"time","name","count"\n1,"a""b",2\n2,,{HUGE}\n2,"",1\n'


def test_table(tmp_path: Path) -> None:
    batches = (results(), results((1, "pump", 2), (20, None, 1)), results((3, "x\ny", 1)))
    text = written(tmp_path / "out", Format.TABLE, INTEGER, *batches)
    assert text.splitlines() == [
        "time  name  count",
        "----  ----  -----",
        "1     pump  2",
        "20    NULL  1",
        "3     x\\ny  1",
    ]


def test_parquet_widens_its_counts(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    batches = (results((1, "a", 1)), results((2, "b", HUGE), wide=True), results((3, "c", 3)))
    with open_sink(Format.PARQUET, path, TIMESTAMP) as sink:
        for batch in batches:
            sink.write(batch)
    read = pq.read_table(path)
    assert [int(count) for count in read["count"].to_pylist()] == [1, HUGE, 3]
    assert read["time"].to_pylist() == [datetime(1970, 1, 1, microsecond=n) for n in (1, 2, 3)]
    assert [p.name for p in tmp_path.iterdir()] == ["out.parquet"]


@pytest.mark.parametrize("format_", list(Format))
def test_unwritable(tmp_path: Path, format_: Format) -> None:
    with pytest.raises(ExecutionError) as caught:
        written(tmp_path / "absent" / "out", format_, INTEGER, results((1, "a", 1)))
    assert caught.value.diagnostics[0].code == "OBM522"


def test_parquet_needs_a_path() -> None:
    with pytest.raises(ExecutionError) as caught, open_sink(Format.PARQUET, None, INTEGER):
        pass
    assert caught.value.diagnostics[0].code == "OBM521"
