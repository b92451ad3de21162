"""The W3C R2RML test cases, on DuckDB and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import rdflib
from rdflib.compare import to_isomorphic

from obda_bm.diagnostics import ObdaError
from obda_bm.execution.oneshot.database import Database, open_database
from obda_bm.execution.oneshot.duckdb import DuckDb, connect
from obda_bm.execution.oneshot.materialize import materialize
from obda_bm.r2rml import load_mappings
from tests.r2rml.w3c import Case, cases, for_duckdb, for_postgresql
from tests.servers import postgres_server

ON_DUCKDB = {
    "0002f",  # DuckDB finds "Name" under the name Name, too
    "0018a",  # DuckDB does not pad CHAR(15)
}


def graphs(quads: str) -> dict[str, object]:
    """The graphs of a dataset, by name, equal up to the names of blank nodes."""
    dataset = rdflib.Dataset()
    dataset.parse(data=quads, format="nquads")
    return {str(g.identifier): to_isomorphic(g) for g in dataset.graphs() if len(g)}


def passes(case: Case, database: Database) -> bool:
    try:
        made = [str(quad) for quad in materialize(load_mappings([case.mapping]), database)]
    except ObdaError:
        return case.expected is None
    finally:
        database.close()
    return case.expected is not None and graphs("\n".join(made)) == graphs(
        case.expected.read_text("utf-8")
    )


def failing(reference: Path, prepare: Callable[[Case], Database]) -> set[str]:
    found = cases(reference)
    assert len(found) == 63
    return {case.name for case in found if not passes(case, prepare(case))}


def on_duckdb(case: Case) -> Database:
    connection = connect()
    connection.execute(for_duckdb(case.create))
    return DuckDb(connection)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_duckdb(reference: Path) -> None:
    assert failing(reference, on_duckdb) == ON_DUCKDB


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_postgresql(reference: Path) -> None:
    psycopg = pytest.importorskip("psycopg", reason="no psycopg: pip install 'obda-bm[postgres]'")
    with postgres_server() as address:
        url = address.removeprefix("jdbc:")

        def prepare(case: Case) -> Database:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public")
                connection.execute(for_postgresql(case.create))
            return open_database(url)

        assert failing(reference, prepare) == set()
