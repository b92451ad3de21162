"""A database that answers SQL, as little as the rest needs to know about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from obda_bm.diagnostics import Span
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.oneshot.values import SqlValue
from obda_bm.ir.catalog import Relation
from obda_bm.ir.mapping import Identifier

BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Rows:
    """The names of the columns of a result, and its rows as they come."""

    names: tuple[str, ...]
    rows: Iterator[tuple[SqlValue, ...]]


class Database(Protocol):
    @property
    def dialect(self) -> str:
        """The name under which sqlglot knows its SQL."""

    def query(self, sql: str, span: Span | None = None) -> Rows:
        """The answer to `sql`; what fails is reported at `span`."""

    def find(self, column: Identifier, names: tuple[str, ...]) -> int | None:
        """Which of `names` the identifier means here, with quotes or without."""

    def close(self) -> None: ...


def open_database(url: str) -> Database:
    """The database at `url`: postgresql://…, or a DuckDB file.

    Raises:
        ExecutionError: where there is none, or its driver is missing.
    """
    plain = url.removeprefix("jdbc:")
    if plain.startswith(("postgresql:", "postgres:")):
        from obda_bm.execution.oneshot.postgresql import open_postgresql

        return open_postgresql(plain)
    from obda_bm.execution.oneshot.duckdb import open_duckdb

    path = Path(plain.removeprefix("duckdb:"))
    if not path.is_file():
        hint = "Give postgresql://user@host/database, or the path of a DuckDB file."
        raise Mistake.NO_DATABASE.error(f"there is no database {url!r}", hint)
    return open_duckdb(path)


def open_sources(relations: tuple[Relation, ...], directory: Path) -> Database:
    """A database in which every relation is a table, from what the setting says about its source.

    Raises:
        ExecutionError: where a source is missing, or of a kind that no one database reads.
    """
    urls = {_url(r) for r in relations}
    if len(urls) == 1 and None not in urls:
        from obda_bm.execution.oneshot.postgresql import open_postgresql_sources

        return open_postgresql_sources(str(urls.pop()), relations)
    from obda_bm.execution.oneshot.duckdb import open_duckdb_sources

    return open_duckdb_sources(relations, directory)


def _url(relation: Relation) -> str | None:
    options = dict(relation.source.options) if relation.source else {}
    url = str(options.get("url", "")).removeprefix("jdbc:")
    return url if url.startswith(("postgresql:", "postgres:")) else None
