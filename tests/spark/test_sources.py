"""What Spark reads from files is what the local engine reads from them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obda_bm.execution.local import run_local
from obda_bm.execution.sources import read_static
from obda_bm.execution.spark.streams import parse_messages
from obda_bm.pipeline import Compiled, compile_sql, load_setting
from tests.kernel.streams import emitted
from tests.spark.runs import run_once

COLUMNS = """{ ts = "TIMESTAMP", i = "INTEGER", d = "DECIMAL(7,2)", f = "DOUBLE", t = "TEXT",
b = "BOOLEAN", day = "DATE" }"""
QUERY = "SELECT e.i, e.d, e.f, e.t, e.b, e.day FROM everything e WHERE e.i > 1"


def records() -> list[dict[str, Any]]:
    start = datetime(2026, 3, 8, 1, 59, 59, 999_999)  # New York has no 2:30 on that day
    texts = ["it's", 'say "x"', "a,b", "two\nlines", "", None, "Ω", " space ", "NULL"]
    return [
        {
            "ts": start + timedelta(minutes=17 * n),
            "i": None if n == 4 else n,
            "d": None if n == 5 else Decimal(n * 12345).scaleb(-2),
            "f": None if n == 6 else n / 3,
            "t": text,
            "b": None if n == 7 else n % 2 == 0,
            "day": None if n == 8 else (start + timedelta(days=40 * n)).date(),
        }
        for n, text in enumerate(texts)
    ]


def write_csv(path: Path) -> None:
    """Texts in quotes, so that the empty one differs from NULL."""
    lines = [",".join(records()[0])]
    lines += [",".join(_cell(value) for value in record.values()) for record in records()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return "" if value is None else str(_plain(value)).lower()


def write_jsonl(path: Path) -> None:
    lines = [{name: _plain(v) for name, v in record.items()} for record in records()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_parquet(path: Path) -> None:
    pq.write_table(_table(pa.timestamp("us")), path)


def write_zoned(path: Path) -> None:
    pq.write_table(_table(pa.timestamp("us", "UTC")), path)


def _table(time: pa.DataType) -> pa.Table:
    types = [time, pa.int32(), pa.decimal128(7, 2), pa.float64(), pa.string(), pa.bool_()]
    schema = pa.schema(list(zip(records()[0], [*types, pa.date32()], strict=True)))
    return pa.Table.from_pylist(records(), schema=schema)


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return value if isinstance(value, int | float | str | None) else str(value)


WRITERS = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet, "zoned": write_zoned}


def compiled(directory: Path, format_: str, path: str) -> Compiled:
    source = f'{{ format = "{format_}", path = "{path}" }}'
    text = f'[streams.everything]\ntime = "ts"\ncolumns = {COLUMNS}\nsource = {source}\n'
    (directory / "s.toml").write_text(text.replace('TEXT",\nb', 'TEXT", b'))
    sql = QUERY
    return compile_sql(sql, load_setting(directory / "s.toml"))


@pytest.mark.parametrize("where", ["directory", "file", "pattern"])
@pytest.mark.parametrize("kind", WRITERS)
def test_as_the_local_engine_reads(spark: Any, tmp_path: Path, kind: str, where: str) -> None:
    (tmp_path / "data").mkdir()
    WRITERS[kind](tmp_path / "data" / "part one.x")
    path = {"directory": "data", "file": "data/part one.x", "pattern": "data/*.x"}[where]
    query = compiled(tmp_path, "parquet" if kind == "zoned" else kind, path)
    found = run_once(spark, query).emitted
    (relation,) = query.setting.catalog.relations
    expected = {}
    for batch in run_local(query, {"everything": read_static(relation, tmp_path)}):
        expected.update(emitted(pa.Table.from_batches([batch])))
    assert found == expected
    assert len(found) == 6


def test_messages_of_kafka(spark: Any, tmp_path: Path) -> None:
    """All but the connector: messages as Kafka's have them, in a batch."""
    query = compiled(tmp_path, "kafka", "-")
    (relation,) = query.setting.catalog.relations
    message = {"ts": "2026-01-01T00:00:00", "i": 7, "d": 1.50, "t": "x", "b": True}
    frame = spark.createDataFrame([(json.dumps(message).encode(),)], "value binary")
    (row,) = parse_messages(frame, relation).collect()
    assert row.asDict() == {
        "ts": "2026-01-01T00:00:00",
        "i": "7",
        "d": "1.5",
        "f": None,
        "t": "x",
        "b": "true",
        "day": None,
    }


def test_files_that_come_later(spark: Any, tmp_path: Path) -> None:
    """A directory may be empty at first."""
    (tmp_path / "data").mkdir()
    query = compiled(tmp_path, "parquet", "data")
    assert not run_once(spark, query, tmp_path / "state").emitted
    write_parquet(tmp_path / "data" / "first")
    assert len(run_once(spark, query, tmp_path / "state").emitted) == 6
