"""Relations and random rows for the tests of execution."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from obda_bm.ir.catalog import Column, Extent, Relation, Source
from obda_bm.ir.sqltypes import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    TEXT,
    TIMESTAMP,
    SqlType,
    decimal,
    enumeration,
)
from obda_bm.kernel import arrow_schema


def stream(name: str, time: SqlType = INTEGER, **options: Any) -> Relation:
    columns = (Column("ts", time), Column("id", INTEGER))
    return Relation(name, columns, options.pop("extent", Extent.INFINITE), "ts", **options)


EVERYTHING = Relation(
    "everything",
    (
        Column("ts", TIMESTAMP, nullable=False),
        Column("i", INTEGER),
        Column("d", decimal(7, 2)),
        Column("f", DOUBLE),
        Column("t", TEXT),
        Column("b", BOOLEAN),
        Column("day", DATE),
        Column("e", enumeration(("on", "off"))),
    ),
    Extent.INFINITE,
    "ts",
)

_INSTANTS = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1))
_RECORDS = st.fixed_dictionaries(
    {
        "ts": _INSTANTS,
        "i": st.none() | st.integers(-(2**63), 2**63 - 1),
        "d": st.none() | st.integers(-9_999_999, 9_999_999).map(lambda n: Decimal(n).scaleb(-2)),
        "f": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "t": st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
        "b": st.none() | st.booleans(),
        "day": st.none() | st.dates(date(1600, 1, 1), date(2400, 1, 1)),
        "e": st.none() | st.sampled_from(["on", "off"]),
    }
)


def tables() -> st.SearchStrategy[pa.Table]:
    """Random rows of `EVERYTHING`."""
    rows = st.lists(_RECORDS, max_size=12)
    return rows.map(lambda rows: pa.Table.from_pylist(rows, schema=arrow_schema(EVERYTHING)))


def rows(relation: Relation, *tuples: tuple[Any, ...]) -> pa.Table:
    """Rows of `relation`, in the order of its columns."""
    names = [column.name for column in relation.columns]
    records = [dict(zip(names, values, strict=True)) for values in tuples]
    return pa.Table.from_pylist(records, schema=arrow_schema(relation))


def from_file(relation: Relation, format_: str, path: str, **options: str) -> Relation:
    from dataclasses import replace

    source = Source(format_, (("path", path), *options.items()))
    return replace(relation, source=source)
