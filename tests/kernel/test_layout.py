"""The layout of a serialised state is stable: one that was written down can be read tomorrow.

A change here needs a new version in `kernel/state.py`.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pytest

from obda_bm import compile_sql, load_setting
from obda_bm.kernel import KernelState, advance, deserialise, initial_state, serialise
from obda_bm.kernel.state import VERSION

GOLDEN = Path(__file__).with_name("layout.golden")
COLUMNS = (
    'i = "INTEGER", d = "DECIMAL(5,1)", t = "TEXT", f = "DOUBLE", b = "BOOLEAN", ts = "TIMESTAMP"'
)
SETTING = f"""
[streams.s]
time = "ts"
columns = {{ {COLUMNS} }}
[streams.u]
time = "ts"
columns = {{ {COLUMNS} }}
[relations.r]
columns = {{ k = "INTEGER", name = "TEXT" }}
rows = 9
"""
QUERIES = {
    "counts per number, decimal, text and truth value": """
        SELECT s.b FROM s, u WHERE s.i = u.i AND s.d = u.d AND s.t = u.t
        AND s.i BETWEEN 1 AND 3 AND s.d BETWEEN 0 AND 1 AND s.t IN ('x', 'y')""",
    "places of a dense column": "SELECT 1 FROM s, u WHERE s.f < u.i AND u.i BETWEEN 1 AND 3",
    "an extreme of whole numbers, and what was emitted": """
        SELECT DISTINCT u.b FROM s, u WHERE s.i < u.i AND s.ts < u.ts""",
    "an extreme of dense numbers": "SELECT DISTINCT 1 FROM s, u WHERE s.f < u.f AND s.ts < u.ts",
    "static rows": "SELECT r.name FROM s, u, r WHERE s.i = r.k AND u.i = r.k",
    "times in a window": """
        SELECT u.i FROM s, u WHERE s.ts <= u.ts AND u.ts <= s.ts + INTERVAL '1' MINUTE""",
    "a union": """
        SELECT DISTINCT s.b FROM s, u WHERE s.i < u.i
        UNION SELECT DISTINCT u.b FROM s, u WHERE s.i > u.i AND s.ts < u.ts""",
}


def layout(state: KernelState) -> str:
    """The head and the schemas, as the bytes have them."""
    source = io.BytesIO(serialise(state))
    lines = [_block(source).decode()]
    while block := _block(source):
        with pa.ipc.open_stream(io.BytesIO(block)) as reader:
            fields = ", ".join(f"{field.name} {field.type}" for field in reader.schema)
            lines.append(f"  table({fields})")
    return "\n".join(lines)


def _block(source: io.BytesIO) -> bytes:
    return source.read(int.from_bytes(source.read(8), "little"))


def test_layout(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    (tmp_path / "obda.toml").write_text(SETTING)
    setting = load_setting(tmp_path / "obda.toml")
    text = ""
    for title, sql in QUERIES.items():
        plan = compile_sql(sql, setting).plan
        assert plan is not None, title
        text += f"# {title}\n{layout(initial_state(plan, {}))}\n\n"
    if pytestconfig.getoption("--update-golden"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


def test_other_versions_and_plans_are_refused(tmp_path: Path) -> None:
    (tmp_path / "obda.toml").write_text(SETTING)
    setting = load_setting(tmp_path / "obda.toml")
    plan, other = (
        compile_sql(QUERIES[title], setting).plan
        for title in ("places of a dense column", "a union")
    )
    assert plan is not None
    assert other is not None
    data = serialise(initial_state(plan, {}))
    with pytest.raises(ValueError, match="another plan"):
        deserialise(other, data)
    size = int.from_bytes(data[:8], "little")
    head = json.dumps({**json.loads(data[8 : 8 + size]), "version": VERSION + 1}).encode()
    with pytest.raises(ValueError, match=f"version {VERSION + 1}"):
        deserialise(plan, len(head).to_bytes(8, "little") + head + data[8 + size :])


def test_the_layout_does_not_depend_on_what_arrived(tmp_path: Path) -> None:
    from obda_bm.kernel import arrow_schema

    (tmp_path / "obda.toml").write_text(SETTING)
    setting = load_setting(tmp_path / "obda.toml")
    for title, sql in QUERIES.items():
        plan = compile_sql(sql, setting).plan
        assert plan is not None
        streams = [r for r in setting.catalog.relations if r.time is not None]
        row = {"i": 2, "d": 1, "t": "x", "f": 0.5, "b": True, "ts": 7}
        rows = {
            s.name: pa.table(
                {c.name: pa.array([row[c.name]] * 2).cast(t) for c, t in _typed(s)},
                schema=arrow_schema(s),
            )
            for s in streams
        }
        static = {"r": pa.table({"k": [2], "name": ["x"]})}
        begun = initial_state(plan, static)
        assert layout(advance(plan, begun, rows, 8).state).replace("true", "false") == layout(
            begun
        ).replace("true", "false"), title


def _typed(stream):  # type: ignore[no-untyped-def]
    from obda_bm.kernel import arrow_schema

    return zip(stream.columns, arrow_schema(stream).types, strict=True)
