"""Results -> text or files."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, TextIO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from obda_bm.execution.json_lines import json_lines
from obda_bm.execution.json_values import json_values
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.ir.catalog import Relation
from obda_bm.ir.sqltypes import DAY, INTEGER, TIMESTAMP, Family, SqlType

COUNTS = pa.decimal256(76, 0)
"""What a count is kept in once it outgrows 64 bits."""


class Format(Enum):
    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


class Sink(Protocol):
    """Takes results: the marker's time first, the count last, what was projected in between."""

    def write(self, results: pa.Table) -> None: ...


@contextmanager
def open_sink(format_: Format, output: Path | None, time: SqlType) -> Iterator[Sink]:
    """A place for results, on standard output or in a file, until the context ends.

    Raises:
        ExecutionError: where the file cannot be written.
    """
    if format_ is Format.PARQUET:
        with _open_parquet(output, time) as parquet:
            yield parquet
    elif output is None:
        yield _text_sink(format_, sys.stdout, time)
        sys.stdout.flush()
    else:
        with _opened(output) as stream:
            yield _text_sink(format_, stream, time)


@contextmanager
def _opened(output: Path) -> Iterator[TextIO]:
    try:
        stream = output.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise _unwritable(output, error) from None
    with stream:
        yield stream


@contextmanager
def _open_parquet(output: Path | None, time: SqlType) -> Iterator[ParquetSink]:
    if output is None:
        hint = "Name a file with --output, or choose another format."
        raise Mistake.NEEDS_A_PATH.error("parquet does not go to standard output", hint)
    with _opened(output):
        pass  # Arrow opens it with the first batch; that would be late to complain
    sink = ParquetSink(output, time)
    try:
        yield sink
    finally:
        sink.close()


def _unwritable(output: Path, error: OSError) -> ExecutionError:
    message = f"cannot write {str(output)!r}: {error.strerror or error}"
    return Mistake.UNWRITABLE_FILE.error(message, "Name a file in a directory that exists.")


def _text_sink(format_: Format, stream: TextIO, time: SqlType) -> Sink:
    match format_:
        case Format.JSONL:
            return JsonlSink(stream, time)
        case Format.CSV:
            return CsvSink(stream, time)
        case _:
            return TableSink(stream, time)


@dataclass(slots=True)
class JsonlSink:
    """`{"time": marker, "row": {column: value}, "count": n}`, one line per result."""

    stream: TextIO
    time: SqlType

    def write(self, results: pa.Table) -> None:
        rows = results.select(results.column_names[1:-1])
        counts = results.column(results.num_columns - 1)
        self.stream.write(json_lines(marker_times(results, self.time), rows, counts))


@dataclass(slots=True)
class CsvSink:
    """Texts in quotes, so that the empty text differs from NULL."""

    stream: TextIO
    time: SqlType
    header: bool = True

    def write(self, results: pa.Table) -> None:
        buffer = io.BytesIO()
        options = pa_csv.WriteOptions(include_header=self.header)
        pa_csv.write_csv(with_marker_times(results, self.time), buffer, options)
        self.header = False
        self.stream.write(buffer.getvalue().decode("utf-8"))


@dataclass(slots=True)
class TableSink:
    """Aligned columns; later batches keep the widths of the first one that has rows."""

    stream: TextIO
    time: SqlType
    widths: tuple[int, ...] = ()

    def write(self, results: pa.Table) -> None:
        if not len(results):
            return
        table = with_marker_times(results, self.time)
        cells = [[_cell(value) for value in json_values(column)] for column in table.columns]
        if not self.widths:
            names = table.column_names
            self.widths = tuple(
                max(map(len, (name, *column))) for name, column in zip(names, cells, strict=True)
            )
            self._line(names)
            self._line(["-" * width for width in self.widths])
        for row in zip(*cells, strict=True):
            self._line(row)

    def _line(self, cells: Sequence[str]) -> None:
        padded = (cell.ljust(width) for cell, width in zip(cells, self.widths, strict=True))
        self.stream.write("  ".join(padded).rstrip() + "\n")


@dataclass(slots=True)
class ParquetSink:
    """One file; its counts are 64-bit numbers as long as they all fit, then decimals."""

    path: Path
    time: SqlType
    writer: Any = None
    schema: pa.Schema | None = field(default=None)

    def write(self, results: pa.Table) -> None:
        table = with_marker_times(results, self.time)
        if self.schema is None:
            self.schema = table.schema
            self.writer = pq.ParquetWriter(self.path, self.schema)
        elif table.schema.types[-1] != self.schema.types[-1]:
            if self.schema.types[-1] != COUNTS:
                self._widen()
            table = _widened(table)
        self.writer.write_table(table)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()

    def _widen(self) -> None:
        """Write the file anew with counts of any size: its schema is fixed when it is begun."""
        assert self.schema is not None
        self.writer.close()
        narrow = self.path.with_name(f"{self.path.name}.narrow")
        os.replace(self.path, narrow)
        self.schema = _widened(self.schema.empty_table()).schema
        self.writer = pq.ParquetWriter(self.path, self.schema)
        with pq.ParquetFile(narrow) as written:
            for batch in written.iter_batches():
                self.writer.write_table(_widened(pa.Table.from_batches([batch])))
        narrow.unlink()


def _widened(table: pa.Table) -> pa.Table:
    last = table.num_columns - 1
    return table.set_column(last, table.column_names[last], table.column(last).cast(COUNTS))


def marker_type(relations: Iterable[Relation]) -> SqlType:
    """The type of the markers: that of the streams' time, where they agree."""
    types = {r.column(r.time).type for r in relations if r.time is not None}
    return types.pop() if len(types) == 1 else TIMESTAMP if types else INTEGER


def marker_times(results: pa.Table, time: SqlType) -> pa.ChunkedArray:
    """When each result was found: ticks, or instants where the streams' time is one."""
    ticks = results.column(0)
    if time.family is not Family.INSTANT:
        return ticks
    instants = ticks.cast(pa.timestamp("us"))
    return instants.cast(pa.date32()) if time.grain == DAY else instants


def with_marker_times(results: pa.Table, time: SqlType) -> pa.Table:
    return results.set_column(0, results.column_names[0], marker_times(results, time))


def json_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Rows as JSON has them."""
    names = table.column_names
    if not names:
        return iter([{} for _ in range(len(table))])
    columns = [json_values(column) for column in table.columns]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def _cell(value: object) -> str:
    return "NULL" if value is None else str(value).replace("\n", "\\n")
