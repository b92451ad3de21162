"""Where the results and the late rows of a batch go."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from obda_bm.execution.sinks import (
    CsvSink,
    Format,
    JsonlSink,
    TableSink,
    json_rows,
    with_marker_times,
)
from obda_bm.execution.spark.files import Write
from obda_bm.execution.spark.snapshot import Epoch
from obda_bm.ir.sqltypes import SqlType


class BatchSink(Protocol):
    """Takes the results of one batch.

    After a crash a batch may come a second time, under the same epoch and with the same results.
    """

    def __call__(self, epoch: Epoch, results: pa.Table) -> None: ...


@dataclass(frozen=True, slots=True)
class FileSink:
    """One file per batch that has results, there whole or not at all."""

    directory: Path
    format: Format
    time: SqlType
    write: Write

    def __call__(self, epoch: Epoch, results: pa.Table) -> None:
        path = self.directory / f"part-{epoch.name}.{_SUFFIXES[self.format]}"
        if len(results):
            self.write(path, rendered(results, self.format, self.time))
        else:
            # A crash may have left one: what an idle source did depends on the clock.
            path.unlink(missing_ok=True)


_SUFFIXES = {
    Format.JSONL: "jsonl",
    Format.CSV: "csv",
    Format.TABLE: "txt",
    Format.PARQUET: "parquet",
}


def rendered(results: pa.Table, format_: Format, time: SqlType) -> bytes:
    """A batch of results as the content of a file."""
    if format_ is Format.PARQUET:
        out = io.BytesIO()
        pq.write_table(with_marker_times(results, time), out)
        return out.getvalue()
    text = io.StringIO(newline="")
    match format_:
        case Format.JSONL:
            JsonlSink(text, time).write(results)
        case Format.CSV:
            CsvSink(text, time).write(results)
        case Format.TABLE:
            TableSink(text, time).write(results)
    return text.getvalue().encode()


def late_lines(late: Mapping[str, pa.Table]) -> bytes:
    """Late rows as lines of JSON."""
    return "".join(
        json.dumps({"stream": name, "row": row}, ensure_ascii=False) + "\n"
        for name, rows in late.items()
        for row in json_rows(rows)
    ).encode()
