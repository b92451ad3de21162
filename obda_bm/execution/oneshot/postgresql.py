"""PostgreSQL, read through a cursor on the server, so that no table is fetched at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from obda_bm.diagnostics import Span
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.execution.oneshot.database import BATCH_ROWS, Rows
from obda_bm.execution.oneshot.values import SqlValue
from obda_bm.ir.catalog import Relation
from obda_bm.ir.mapping import Identifier


@dataclass(frozen=True, slots=True)
class Postgresql:
    connection: Any
    numbers: Iterator[int] = field(default_factory=count)  # cursors that are open need names

    @property
    def dialect(self) -> str:
        return "postgres"

    def find(self, column: Identifier, names: tuple[str, ...]) -> int | None:
        """PostgreSQL writes names without quotes in lower case."""
        meant = column.name if column.delimited else column.name.lower()
        return names.index(meant) if meant in names else None

    def query(self, sql: str, span: Span | None = None) -> Rows:
        import psycopg

        cursor = self.connection.cursor(name=f"obda_bm_{next(self.numbers)}")
        cursor.itersize = BATCH_ROWS
        try:
            cursor.execute(sql)
            names = tuple(column.name for column in cursor.description)
        except psycopg.Error as error:
            self.connection.rollback()
            raise _failed(error, span) from None
        return Rows(names, self._rows(cursor, span))

    def _rows(self, cursor: Any, span: Span | None) -> Iterator[tuple[SqlValue, ...]]:
        import psycopg

        try:
            yield from cursor
            cursor.close()
        except psycopg.Error as error:
            self.connection.rollback()
            raise _failed(error, span) from None

    def close(self) -> None:
        self.connection.close()


def _failed(error: Exception, span: Span | None) -> ExecutionError:
    reason = (str(error).splitlines() or ["no reason given"])[0]
    message = f"PostgreSQL refuses the query: {reason}"
    return Mistake.QUERY_FAILED.error(message, "Run the query alone, and correct it.", span)


def open_postgresql(url: str) -> Postgresql:
    """A read-only connection whose timestamps are UTC, as everywhere else."""
    try:
        import psycopg
    except ImportError:
        hint = "Install it: pip install 'obda-bm[oneshot]'."
        raise Mistake.NO_DRIVER.error("psycopg is not installed", hint) from None
    try:
        connection = psycopg.connect(url, options="-c TimeZone=UTC")
    except psycopg.Error as error:
        reason = (str(error).splitlines() or ["no reason given"])[0]
        hint = "Check the URL, and that the server runs."
        raise Mistake.NO_DATABASE.error(f"cannot connect: {reason}", hint) from None
    return Postgresql(connection)


def open_postgresql_sources(url: str, relations: tuple[Relation, ...]) -> Postgresql:
    """The database, with a temporary view where a relation's table is called otherwise."""
    database = open_postgresql(url)
    for relation in relations:
        options = dict(relation.source.options) if relation.source else {}
        table = str(options.get("table", relation.name))
        if table != relation.name:
            view = f'CREATE TEMPORARY VIEW "{relation.name}" AS SELECT * FROM {table}'
            database.connection.execute(view)
    return database
