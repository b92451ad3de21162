"""A table in PostgreSQL -> its rows, for relations with `format = "jdbc"`.

No Java driver is needed: the rows of a static relation come to the driver anyway.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa

from obda_bm.execution.conform import Origin, conform, match_names
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.ir.catalog import Relation, Source

PREFIX = "jdbc:"


def read_postgres(relation: Relation, source: Source) -> pa.Table:
    """All rows of the table, with the columns and types of `relation`.

    Raises:
        ExecutionError: where there is no such database, table or column.
    """
    try:
        import psycopg
        from psycopg.conninfo import make_conninfo
    except ImportError:
        hint = "Install it: pip install 'obda-bm[postgres]'."
        raise Mistake.UNREAD_FORMAT.error("psycopg is not installed", hint) from None
    options = {name: str(value) for name, value in source.options}
    table = options.get("table") or options.get("dbtable")
    if table is None:
        hint = 'Write table = "…" in its source.'
        raise Mistake.NO_SUCH_FILE.error(f"{relation.name!r} names no table", hint, relation.span)
    try:
        with psycopg.connect(make_conninfo(**connection_options(relation, options))) as connection:
            return conform(relation, _read(connection, relation, table), Origin(table))
    except psycopg.Error as error:
        raise _unreadable(relation, table, str(error)) from None


def _unreadable(relation: Relation, table: str, reason: str) -> ExecutionError:
    first = reason.strip().partition("\n")[0]
    hint = "Check url, user, password and table in the source of the relation."
    message = f"cannot read the table {table!r} of {relation.name!r}: {first}"
    return Mistake.UNREADABLE_FILE.error(message, hint, relation.span)


def connection_options(relation: Relation, options: dict[str, str]) -> dict[str, str]:
    """What psycopg needs to know of a JDBC address.

    >>> from obda_bm.ir.catalog import Extent
    >>> address = {"url": "jdbc:postgresql://db:5433/farm?user=eva", "password": "x"}
    >>> connection_options(Relation("r", (), Extent.STATIC), address)
    {'host': 'db', 'port': '5433', 'dbname': 'farm', 'user': 'eva', 'password': 'x'}
    """
    url = urlsplit(options.get("url", "").removeprefix(PREFIX))
    if url.scheme not in ("postgresql", "postgres") or not url.path.strip("/"):
        message = f"the source of {relation.name!r} is not an address of a PostgreSQL database"
        hint = 'Write url = "jdbc:postgresql://host:5432/database".'
        raise Mistake.UNREAD_FORMAT.error(message, hint, relation.span)
    place = {
        "host": url.hostname or "localhost",
        "port": str(url.port or 5432),
        "dbname": url.path.strip("/"),
    }
    asked = {name: value for name, value in parse_qsl(url.query) if name in _KNOWN}
    return {**place, **asked, **{name: options[name] for name in _KNOWN if name in options}}


_KNOWN = ("user", "password", "sslmode")


def _read(connection: object, relation: Relation, table: str) -> pa.Table:
    """Every value as text: PostgreSQL writes them exactly, and `conform` reads them so."""
    from psycopg import Connection, sql

    assert isinstance(connection, Connection)
    name = sql.Identifier(*table.split("."))
    connection.execute("SET TIME ZONE 'UTC'")
    connection.execute("SET DateStyle TO 'ISO'")
    head = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(name))
    given = [column.name for column in head.description or ()]
    names = match_names(relation, given, Origin(table))
    texts = sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(n)) for n in names)
    rows = connection.execute(sql.SQL("SELECT {} FROM {}").format(texts, name)).fetchall()
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(list(column), pa.string()) for column in columns]
    return pa.table(arrays, names=[column.name for column in relation.columns])
