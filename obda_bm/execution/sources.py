"""The source of a relation -> its rows, batch by batch."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from obda_bm.execution.conform import Origin, conform, match_names
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.ir.catalog import Relation, Source
from obda_bm.kernel import arrow_schema

BATCH_ROWS = 65_536
_JSON_BYTES = 1 << 23
_SAMPLE = 1000
"""A column that none of the first so many JSON objects has is missing, not NULL everywhere."""

Reader = Callable[[Relation, Path, int], Iterator[pa.Table]]


def read_source(
    relation: Relation, directory: Path, batch_rows: int = BATCH_ROWS
) -> Iterator[pa.Table]:
    """The rows of `relation`, file by file in the order of their names, with its columns and types.

    Raises:
        ExecutionError: at once where there is nothing to read, later where rows do not fit.
    """
    if relation.source is not None and relation.source.format.lower() == "jdbc":
        from obda_bm.execution.postgres import read_postgres

        return iter([read_postgres(relation, relation.source)])
    source, read = _reader(relation)
    return _read(relation, read, _files(relation, source, directory), batch_rows)


def read_static(relation: Relation, directory: Path) -> pa.Table:
    """All rows of a relation that never changes."""
    batches = list(read_source(relation, directory))
    return pa.concat_tables([arrow_schema(relation).empty_table(), *batches])


def _reader(relation: Relation) -> tuple[Source, Reader]:
    source = relation.source
    if source is None:
        message = f"{relation.name!r} has no source"
        hint = 'Write source = { format = "parquet", path = "…" } in the setting.'
        raise Mistake.NO_ROWS_GIVEN.error(message, hint, relation.span)
    if source.format.lower() not in READERS:
        message = (
            f"the local engine does not read {source.format!r}, the source of {relation.name!r}"
        )
        hint = f"It reads {', '.join(READERS)}, and static relations by jdbc."
        raise Mistake.UNREAD_FORMAT.error(message, hint, relation.span)
    return source, READERS[source.format.lower()]


def _files(relation: Relation, source: Source, directory: Path) -> tuple[Path, ...]:
    path = dict(source.options).get("path")
    if not isinstance(path, str):
        message = f"the source of {relation.name!r} names no path"
        raise Mistake.NO_SUCH_FILE.error(message, 'Write path = "…".', relation.span)
    full = directory / path
    if full.is_file():
        return (full,)
    if full.is_dir():
        found = [p for p in full.rglob("*") if p.is_file() and _is_data(p.relative_to(full))]
    else:
        found = [Path(p) for p in glob(str(full), recursive=True) if Path(p).is_file()]
    if not found:
        message = f"there is no file {str(full)!r} for {relation.name!r}"
        if full.is_dir() or has_magic(path):
            message = f"there are no files in {str(full)!r} for {relation.name!r}"
        hint = "Paths are relative to the setting: a file, a directory, or a pattern with *."
        raise Mistake.NO_SUCH_FILE.error(message, hint, relation.span)
    return tuple(sorted(found))


def _is_data(path: Path) -> bool:
    """Spark and others leave notes such as _SUCCESS beside the data."""
    return not any(part.startswith(("_", ".")) for part in path.parts)


def _read(
    relation: Relation, read: Reader, files: Iterable[Path], batch_rows: int
) -> Iterator[pa.Table]:
    for file in files:
        rows_before = 0
        try:
            for batch in read(relation, file, batch_rows):
                yield conform(relation, batch, Origin(str(file), rows_before))
                rows_before += len(batch)
        except (OSError, pa.ArrowException, UnicodeError, csv.Error) as error:
            raise _unreadable(relation, file, rows_before, str(error)) from None


def _unreadable(relation: Relation, file: Path, rows_before: int, reason: str) -> ExecutionError:
    assert relation.source is not None
    after = f" after row {rows_before}" if rows_before else ""
    first = reason.strip().partition("\n")[0]
    message = f"cannot read {file}{after}: {first}"
    hint = f"The setting says that {relation.name!r} is {relation.source.format}."
    return Mistake.UNREADABLE_FILE.error(message, hint, relation.span)


def _read_parquet(relation: Relation, file: Path, batch_rows: int) -> Iterator[pa.Table]:
    # The timestamps of older Spark versions have nanoseconds that are never used.
    with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as parquet:
        names = match_names(relation, parquet.schema_arrow.names, Origin(str(file)))
        for batch in parquet.iter_batches(batch_rows, columns=list(dict.fromkeys(names))):
            yield pa.Table.from_batches([batch])


def _read_csv(relation: Relation, file: Path, batch_rows: int) -> Iterator[pa.Table]:
    """Everything as text: only `conform` knows types, and says which row does not fit."""
    assert relation.source is not None
    delimiter = str(dict(relation.source.options).get("delimiter", ","))
    with file.open(encoding="utf-8-sig", newline="") as text:
        header = next(csv.reader(text, delimiter=delimiter), [])
    names = match_names(relation, header, Origin(str(file)))
    reader = pa_csv.open_csv(
        file,
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            ignore_empty_lines=len(header) > 1,  # else they are the NULLs of the only column
        ),
        convert_options=pa_csv.ConvertOptions(
            include_columns=list(dict.fromkeys(names)),
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    with reader:
        for batch in reader:
            for at in range(0, len(batch), batch_rows):
                yield pa.Table.from_batches([batch.slice(at, batch_rows)])


def _read_json(relation: Relation, file: Path, batch_rows: int) -> Iterator[pa.Table]:
    """One object per line, or one array of objects."""
    with file.open("rb") as lines:
        array = lines.read(1024).lstrip()[:1] == b"["
        lines.seek(0)
        if array:
            yield from _json_array(relation, file, lines.read(), batch_rows)
            return
        names: tuple[str, ...] | None = None
        rows_before = 0
        while chunk := lines.readlines(_JSON_BYTES):
            kept = [line for line in chunk if not line.isspace()]
            if names is None and kept:
                names = match_names(relation, _keys(kept, file), Origin(str(file)))
            for at in range(0, len(kept), batch_rows):
                part = kept[at : at + batch_rows]
                yield _json_lines(relation, names or (), part, Origin(str(file), rows_before))
                rows_before += len(part)


def _json_lines(
    relation: Relation, names: tuple[str, ...], lines: list[bytes], origin: Origin
) -> pa.Table:
    text = b"".join(lines)
    types = [_json_type(type_) for type_ in arrow_schema(relation).types]
    try:
        read = pa_json.read_json(
            pa.BufferReader(text),
            read_options=pa_json.ReadOptions(block_size=len(text) + 1),
            parse_options=pa_json.ParseOptions(
                explicit_schema=pa.schema(list(zip(names, types, strict=True))),
                unexpected_field_behavior="ignore",
            ),
        )
        if len(read) == len(lines):
            return read
    except pa.ArrowException:
        pass
    # Arrow says neither where it failed nor reads numbers as text; the slow way does both.
    return _as_text(names, _objects(lines, origin))


def _json_type(type_: pa.DataType) -> pa.DataType:
    """What Arrow reads as exactly as `conform` does from text; it is lax about instants."""
    return pa.string() if pa.types.is_temporal(type_) else type_


def _json_array(relation: Relation, file: Path, text: bytes, batch_rows: int) -> Iterator[pa.Table]:
    (objects,) = _loaded([text], Origin(str(file)), list)
    for at, item in enumerate(objects):
        _check_object(item, Origin(str(file), at))
    keys = dict.fromkeys(key for item in objects[:_SAMPLE] for key in item)
    names = match_names(relation, keys, Origin(str(file))) if objects else ()
    for at in range(0, len(objects), batch_rows):
        yield _as_text(names, objects[at : at + batch_rows])


def _keys(lines: list[bytes], file: Path) -> Iterable[str]:
    sample = islice(_objects(lines, Origin(str(file))), _SAMPLE)
    return dict.fromkeys(key for item in sample for key in item)


def _objects(lines: Iterable[bytes], origin: Origin) -> Iterator[Mapping[str, Any]]:
    return _loaded(lines, origin, dict)


def _loaded(lines: Iterable[bytes], origin: Origin, kind: type) -> Iterator[Any]:
    """JSON texts, one value each; numbers stay text, so that no digit is lost."""
    for index, line in enumerate(lines):
        try:
            value = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
        except ValueError as error:
            message = f"{origin.row(index)}: not JSON: {error}"
            raise Mistake.UNREADABLE_FILE.error(message, _JSON_HINT) from None
        if kind is dict:
            _check_object(value, Origin(origin.name, origin.rows_before + index))
        yield value


_JSON_HINT = "Write one JSON object per line, or one array of objects."


def _check_object(value: object, origin: Origin) -> None:
    if not isinstance(value, dict):
        raise Mistake.UNREADABLE_FILE.error(f"{origin.row(0)}: not a JSON object", _JSON_HINT)


def _as_text(names: tuple[str, ...], objects: Iterable[Mapping[str, Any]]) -> pa.Table:
    records = list(objects)
    unique = tuple(dict.fromkeys(names))
    columns = [pa.array([_text(r.get(name)) for r in records], pa.string()) for name in unique]
    return pa.table(columns, names=list(unique))


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


READERS: Mapping[str, Reader] = {
    "parquet": _read_parquet,
    "csv": _read_csv,
    "json": _read_json,
    "jsonl": _read_json,
}
