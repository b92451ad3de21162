"""Values of Arrow columns as JSON has them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa


def json_values(column: pa.ChunkedArray) -> list[Any]:
    """Values as JSON has them, in the form that `report.as_json.plain` gives them.

    >>> json_values(pa.chunked_array([pa.array([Decimal("1.50")], pa.decimal128(5, 2))]))
    ['1.5']
    """
    values: list[Any] = column.to_pylist()
    if pa.types.is_decimal(column.type):
        return [None if value is None else _decimal(value) for value in values]
    if pa.types.is_temporal(column.type):
        return [None if value is None else _iso(value) for value in values]
    if pa.types.is_floating(column.type):
        # JSON has no infinities; as text they are at least not lost.
        return [v if v is None or isfinite(v) else str(v) for v in values]
    return values


def _decimal(value: Decimal) -> str:
    text = format(value, "f")
    shown = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if shown == "-0" else shown


def _iso(value: date) -> str:
    return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
