"""DuckDB: files of the setting as tables, or a database of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obda_bm.diagnostics import Span
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.execution.oneshot.database import BATCH_ROWS, Rows
from obda_bm.execution.oneshot.values import SqlValue
from obda_bm.ir.catalog import Relation
from obda_bm.ir.mapping import Identifier

_READERS = {
    "parquet": "read_parquet({paths})",
    "csv": "read_csv({paths}, all_varchar = true, header = true)",
    "json": "read_json({paths})",
    "jsonl": "read_json({paths})",
}


@dataclass(frozen=True, slots=True)
class DuckDb:
    connection: Any

    @property
    def dialect(self) -> str:
        return "duckdb"

    def find(self, column: Identifier, names: tuple[str, ...]) -> int | None:
        """DuckDB compares names in any case, with quotes or without."""
        if column.name in names:
            return names.index(column.name)
        folded = [name.lower() for name in names]
        return folded.index(column.name.lower()) if column.name.lower() in folded else None

    def query(self, sql: str, span: Span | None = None) -> Rows:
        import duckdb

        cursor = self.connection.cursor()
        try:
            cursor.execute(sql)
        except duckdb.Error as error:
            raise _failed(error, span) from None
        single = [i for i, d in enumerate(cursor.description) if str(d[1]) == "FLOAT"]
        names = tuple(d[0] for d in cursor.description)
        return Rows(names, self._rows(cursor, single, span))

    def _rows(
        self, cursor: Any, single: list[int], span: Span | None
    ) -> Iterator[tuple[SqlValue, ...]]:
        import duckdb

        try:
            while batch := cursor.fetchmany(BATCH_ROWS):
                yield from (_widened(row, single) for row in batch) if single else batch
        except duckdb.Error as error:
            raise _failed(error, span) from None

    def close(self) -> None:
        self.connection.close()


def _widened(row: tuple[SqlValue, ...], single: list[int]) -> tuple[SqlValue, ...]:
    """Single-precision numbers as the doubles that are written alike: 1.65, not 1.64999…"""
    values = list(row)
    for i in single:
        if values[i] is not None:
            values[i] = float(str(np.float32(values[i])))  # type: ignore[arg-type]
    return tuple(values)


def _failed(error: Exception, span: Span | None) -> ExecutionError:
    message = f"DuckDB refuses the query: {str(error).splitlines()[0].lower()}"
    hint = "Run the query alone, and correct it."
    return Mistake.QUERY_FAILED.error(message, hint, span)


def connect(path: str = ":memory:") -> Any:
    """A connection whose timestamps are UTC, as everywhere else.

    Raises:
        ExecutionError: where DuckDB is not installed, or the file is none of its databases.
    """
    try:
        import duckdb
    except ImportError:
        hint = "Install it: pip install 'obda-bm[local]'."
        raise Mistake.NO_DRIVER.error("DuckDB is not installed", hint) from None
    try:
        connection = duckdb.connect(path, read_only=path != ":memory:")
    except duckdb.Error as error:
        message = f"cannot open {path!r}: {str(error).splitlines()[0].lower()}"
        raise Mistake.NO_DATABASE.error(message, "Give the path of a DuckDB file.") from None
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def open_duckdb(path: Path) -> DuckDb:
    return DuckDb(connect(str(path)))


def open_duckdb_sources(relations: tuple[Relation, ...], directory: Path) -> DuckDb:
    """A database in memory, with a view over the files of each relation."""
    connection = connect()
    for relation in relations:
        view = f"CREATE VIEW {quoted(relation.name)} AS {_select(relation, directory)}"
        import duckdb

        try:
            connection.execute(view)
        except duckdb.Error as error:
            raise _unreadable(relation, error) from None
    return DuckDb(connection)


def _select(relation: Relation, directory: Path) -> str:
    source = relation.source
    reader = _READERS.get(source.format.lower()) if source else None
    if source is None or reader is None:
        message = f"{relation.name!r} has no source that DuckDB reads"
        hint = f"Give it a source of {', '.join(_READERS)}, or use --database."
        raise Mistake.NO_ROWS_GIVEN.error(message, hint, relation.span)
    path = directory / str(dict(source.options).get("path", ""))
    where = str(path / "**" / f"*.{source.format.lower()}") if path.is_dir() else str(path)
    literal = "'" + where.replace("'", "''") + "'"
    columns = ", ".join(
        f"CAST({quoted(c.name)} AS {c.type.storage}) AS {quoted(c.name)}" for c in relation.columns
    )
    return f"SELECT {columns} FROM {reader.format(paths=literal)}"


def _unreadable(relation: Relation, error: Exception) -> ExecutionError:
    message = f"cannot read {relation.name!r}: {str(error).splitlines()[0].lower()}"
    hint = "Check its source in the setting; paths are relative to the setting."
    return Mistake.UNREADABLE_FILE.error(message, hint, relation.span)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
