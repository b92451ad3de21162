"""Files of every format give the rows that were written; whatever does not fit is named."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obda_bm.diagnostics import Diagnostic
from obda_bm.execution.mistakes import ExecutionError
from obda_bm.execution.sinks import json_rows
from obda_bm.execution.sources import read_source, read_static
from obda_bm.ir.catalog import Column, Extent, Relation
from obda_bm.ir.sqltypes import INTEGER, TEXT, TIMESTAMP, decimal
from tests.execution.streams import EVERYTHING, from_file, rows, stream, tables


def write(table: pa.Table, format_: str, path: Path) -> None:
    match format_:
        case "parquet":
            pq.write_table(table, path)
        case "csv":
            pa_csv.write_csv(table, path)
        case "json":
            path.write_text(json.dumps(list(json_rows(table))))
        case _:
            path.write_text("".join(json.dumps(row) + "\n" for row in json_rows(table)))


@settings(deadline=None)
@given(tables(), st.sampled_from(["parquet", "csv", "jsonl", "json"]), st.integers(1, 5))
def test_round_trip(table: pa.Table, format_: str, batch_rows: int) -> None:
    with TemporaryDirectory() as directory:
        write(table, format_, Path(directory, "data"))
        relation = from_file(EVERYTHING, format_, "data")
        batches = list(read_source(relation, Path(directory), batch_rows))
        assert all(len(batch) <= batch_rows for batch in batches)
        assert pa.concat_tables([table.slice(0, 0), *batches]).to_pylist() == table.to_pylist()


def read_text(tmp_path: Path, relation: Relation, format_: str, text: str) -> pa.Table:
    (tmp_path / "data").write_text(text)
    return read_static(from_file(relation, format_, "data"), tmp_path)


MEASURED = Relation(
    "measured",
    (
        Column("ts", TIMESTAMP),
        Column("Value", decimal(5, 1), nullable=False),
        Column("note", TEXT),
    ),
    Extent.INFINITE,
    "ts",
)


@pytest.mark.parametrize(
    "written",
    [
        "2026-01-01T12:00:00",
        "2026-01-01 12:00:00Z",
        "2026-01-01T14:00:00+02:00",
        "2026-01-01T14:00:00.000+0200",
        "2026-01-01 07:00:00-05",
    ],
)
def test_zones_become_utc_and_names_ignore_case(tmp_path: Path, written: str) -> None:
    text = f"NOTE,TS,value\nx,{written},1.5\ny,2026-01-01,2\n"
    table = read_text(tmp_path, MEASURED, "csv", text)
    assert table["ts"].to_pylist() == [datetime(2026, 1, 1, 12), datetime(2026, 1, 1)]
    line = json.dumps({"TS": written, "VALUE": 1.5, "note": 7}) + "\n"
    table = read_text(tmp_path, MEASURED, "jsonl", line)
    assert table["ts"].to_pylist() == [datetime(2026, 1, 1, 12)]
    assert table["note"].to_pylist() == ["7"]


def test_directories_and_patterns_are_read_in_order(tmp_path: Path) -> None:
    a = stream("a")
    (tmp_path / "in").mkdir()
    for number in (2, 1):
        pq.write_table(rows(a, (number, number)), tmp_path / "in" / f"{number}.parquet")
    (tmp_path / "in" / "_SUCCESS").write_text("")
    for path in ("in", "in/*.parquet"):
        read = read_source(from_file(a, "parquet", path), tmp_path)
        assert [batch["ts"].to_pylist() for batch in read] == [[1], [2]]


def complaint(tmp_path: Path, relation: Relation, format_: str, text: str) -> Diagnostic:
    with pytest.raises(ExecutionError) as caught:
        read_text(tmp_path, relation, format_, text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.hint is not None
    return diagnostic


GOOD = "ts,Value,note\n" + "2026-01-01,1.0,x\n" * 50
GOOD_JSON = '{"ts": "2026-01-01", "Value": 1, "note": null}\n' * 50


@pytest.mark.parametrize(
    ("format_", "text", "code", "said"),
    [
        ("csv", GOOD + "2026-01-01,1.25,x\n", "OBM514", "row 51, column 'Value': '1.25' is not a"),
        ("csv", GOOD + "2026-01-01,99999.5,x\n", "OBM514", "row 51, column 'Value'"),
        ("csv", GOOD + "yesterday,1,x\n", "OBM514", "row 51, column 'ts': 'yesterday' is not a"),
        ("csv", GOOD + "2026-01-01,,x\n", "OBM515", "row 51, column 'Value': NULL"),
        ("csv", GOOD + ",1,x\n", "OBM515", "row 51, column 'ts': NULL, but it is the time"),
        ("csv", GOOD + "1,2\n", "OBM512", "Expected 3 columns, got 2"),
        ("csv", "ts,vlaue,note\n", "OBM513", "no column 'Value' of 'measured'"),
        ("csv", "", "OBM513", "no column 'ts'"),
        ("jsonl", GOOD_JSON + '{"ts": 1, "Value": 1}\n', "OBM514", "row 51, column 'ts': '1'"),
        ("jsonl", GOOD_JSON + '{"ts": null, "Value": 1}', "OBM515", "row 51, column 'ts'"),
        ("jsonl", GOOD_JSON + '{"ts": "2026-01-01"}', "OBM515", "row 51, column 'Value'"),
        ("jsonl", GOOD_JSON + "{oops\n", "OBM512", "row 51: not JSON"),
        ("jsonl", GOOD_JSON + "3\n", "OBM512", "row 51: not a JSON object"),
        ("jsonl", '{"ts": "2026-01-01", "Value": 1}\n', "OBM513", "no column 'note'"),
        ("json", "[1]", "OBM512", "row 1: not a JSON object"),
        ("json", "[{]", "OBM512", "not JSON"),
        ("parquet", "no parquet", "OBM512", "cannot read"),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, format_: str, text: str, code: str, said: str
) -> None:
    diagnostic = complaint(tmp_path, MEASURED, format_, text)
    assert (diagnostic.code, said in diagnostic.message) == (code, True), diagnostic.message
    assert str(tmp_path / "data") in diagnostic.message


def test_after_the_end(tmp_path: Path) -> None:
    finite = stream("f", INTEGER, extent=Extent.FINITE, end=7)
    assert len(read_text(tmp_path, finite, "csv", "ts,id\n7,1\n")) == 1
    diagnostic = complaint(tmp_path, finite, "csv", "ts,id\n7,1\n8,1\n")
    assert diagnostic.code == "OBM516"
    assert "row 2: 8 is after the end of 'f'" in diagnostic.message


def test_values_outside_an_enumeration(tmp_path: Path) -> None:
    text = "ts,i,d,f,t,b,day,e\n2026-01-01,,,,,,,on\n2026-01-01,,,,,,,up\n"
    diagnostic = complaint(tmp_path, EVERYTHING, "csv", text)
    assert "row 2, column 'e': 'up' is not an ENUM" in diagnostic.message


@pytest.mark.parametrize(
    ("values", "type_"),
    [([1], pa.int64()), ([0.15], pa.float64()), ([True], pa.bool_()), ([b"\xff"], pa.binary())],
)
def test_arrow_types_are_not_bent(tmp_path: Path, values: list[object], type_: pa.DataType) -> None:
    column = pa.array(values, type_)
    fine = {"ts": pa.array([datetime(2026, 1, 1)]), "Value": pa.array([1]), "note": pa.array(["x"])}
    wrong = {"int64": "ts", "double": "Value", "bool": "Value", "binary": "note"}[str(type_)]
    pq.write_table(pa.table({**fine, wrong: column}), tmp_path / "data")
    with pytest.raises(ExecutionError, match=f"row 1, column '{wrong}'"):
        read_static(from_file(MEASURED, "parquet", "data"), tmp_path)


@pytest.mark.parametrize(
    ("relation", "code", "said"),
    [
        (stream("a"), "OBM502", "'a' has no source"),
        (from_file(stream("a"), "kafka", "x"), "OBM510", "does not read 'kafka'"),
        (from_file(stream("a"), "csv", "absent"), "OBM511", "no file"),
        (from_file(stream("a"), "csv", "*.csv"), "OBM511", "no files"),
    ],
)
def test_nothing_to_read(tmp_path: Path, relation: Relation, code: str, said: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        read_source(relation, tmp_path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert said in diagnostic.message
