"""Branches of a union whose columns have different types."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa

import obda_bm


def test_decimals_become_the_nearest_doubles(tmp_path: Path) -> None:
    (tmp_path / "obda.toml").write_text(
        '[streams.s]\ntime = "ts"\ncolumns = { a = "DECIMAL(6,1)", ts = "INTEGER" }\n'
        '[streams.t]\ntime = "ts"\ncolumns = { b = "DOUBLE", ts = "INTEGER" }\n'
    )
    setting = obda_bm.load_setting(tmp_path / "obda.toml")
    compiled = obda_bm.compile_sql("SELECT s.a FROM s UNION ALL SELECT t.b FROM t", setting)
    tenths = [Decimal(i) / 10 for i in range(-60, 60)]
    tables = {
        "s": pa.table({"a": [*tenths, None], "ts": list(range(121))}),
        "t": pa.table({"b": [0.5], "ts": [0]}),
    }
    found = [
        v for batch in obda_bm.run_local(compiled, tables) for v in batch.column(1).to_pylist()
    ]
    expected = [*map(float, tenths), 0.5, None]
    assert sorted(found, key=str) == sorted(expected, key=str)
