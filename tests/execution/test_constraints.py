"""Rows that violate what the catalog says of them are refused: a bound relies on it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obda_bm import load_setting
from obda_bm.execution.conform import Origin, conform
from obda_bm.execution.mistakes import ExecutionError
from obda_bm.ir.catalog import Relation

SETTING = """
[streams.s]
time = "ts"
columns = { a = "INTEGER", d = "DECIMAL(4,1)", t = "TEXT", f = "DOUBLE", ts = "INTEGER" }
check = ["a BETWEEN 1 AND 10", "a <= d", "t IN ('x', 'it''s')", "f < 0.5"]
"""
ROW = {"a": 5, "d": "7.5", "t": "x", "f": 0.25, "ts": 1}


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Relation:
    path = tmp_path_factory.mktemp("setting") / "obda.toml"
    path.write_text(SETTING)
    found = load_setting(path).catalog.find("s")
    assert found is not None
    return found


def read(stream: Relation, *rows: dict[str, object]) -> pa.Table:
    return conform(stream, pa.Table.from_pylist(list(rows)), Origin("rows.csv", 100))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": 11, "d": "99"}, "rows.csv, row 102: a = 11 violates CHECK (a <= 10)"),
        ({"a": 0}, "rows.csv, row 102: a = 0 violates CHECK (a >= 1)"),
        ({"d": "4.9"}, "rows.csv, row 102: a = 5, d = 4.9 violates CHECK (a <= d)"),
        ({"t": "y"}, "rows.csv, row 102: t = y violates CHECK (t IN ('x', 'it''s'))"),
        ({"f": 0.5}, "rows.csv, row 102: f = 0.5 violates CHECK (f < 0.5)"),
    ],
)
def test_a_violating_row_is_named(
    stream: Relation, change: dict[str, object], message: str
) -> None:
    with pytest.raises(ExecutionError) as caught:
        read(stream, ROW, {**ROW, **change})
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("OBM517", message)


def test_null_passes(stream: Relation) -> None:
    rows = [{**ROW, name: None} for name in ROW if name != "ts"]
    assert len(read(stream, *rows)) == len(rows)


@given(st.lists(st.tuples(st.none() | st.integers(-2, 13), st.none() | st.integers(-30, 130))))
def test_agrees_with_the_definition(stream: Relation, pairs: list[tuple[int, int]]) -> None:
    rows = [{**ROW, "a": a, "d": None if d is None else f"{d / 10:.1f}"} for a, d in pairs]
    allowed = all(a is None or (1 <= a <= 10 and (d is None or 10 * a <= d)) for a, d in pairs)
    try:
        read(stream, *rows or [ROW])
    except ExecutionError:
        assert not allowed
    else:
        assert allowed
