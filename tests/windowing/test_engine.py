"""Ticks, values and refusals of windowed queries, one at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from obda_bm.diagnostics import SourceText, WindowError
from obda_bm.execution.local import Limits
from obda_bm.execution.windowed import run_windowed
from obda_bm.ir.catalog import Catalog, Column, Extent, Relation
from obda_bm.ir.sqltypes import INTEGER, TIMESTAMP, decimal
from obda_bm.ir.window_plan import WindowPlan, moment
from obda_bm.mediation import mediate
from obda_bm.r2rml import load_mappings
from obda_bm.syntax import parse_starql
from obda_bm.windowing import plan_window

# The names of the relation and its columns are those that the engine uses for its own tables.
CATALOG = Catalog(
    (
        Relation(
            "states",
            (
                Column("at", INTEGER),
                Column("v1", decimal(6, 2)),
                Column("ts", TIMESTAMP, nullable=False),
            ),
            Extent.INFINITE,
            time="ts",
        ),
    )
)
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> .
<http://e/m> rr:logicalTable [ rr:tableName "states" ] ;
  rr:subjectMap [ rr:template "http://e/{at}" ] ;
  rr:predicateObjectMap [ rr:predicate <http://e#v> ; rr:objectMap [ rr:column "v1" ] ] .
"""
START = datetime(2026, 1, 1, 10, 0, 0)


def plan(tmp_path: Path, text: str) -> WindowPlan:
    path = tmp_path / "mapping.ttl"
    path.write_text(MAPPING, encoding="utf-8")
    document = parse_starql(SourceText("q.starql", f"PREFIX : <http://e#>\n{text}"))
    mediator = mediate(load_mappings([path]), CATALOG)
    return plan_window(document, document.streams[0].query, mediator, CATALOG)


def run(plan: WindowPlan, *rows: tuple[int, str, int]) -> list[str]:
    """The ticks with answers, from rows of thing, value and second."""
    table = pa.table(
        {
            "at": [row[0] for row in rows],
            "v1": [Decimal(row[1]) for row in rows],
            "ts": [START + timedelta(seconds=row[2]) for row in rows],
        }
    )
    found = run_windowed(plan, {"states": table}, limits=Limits(batch_rows=1))
    return [
        f"{moment(a.time)[11:-1]} " + " | ".join(" ".join(map(str, row)) for row in a.rows)
        for a in found
        if a.rows
    ]


ALL = "SEQUENCE BY StdSeq AS seq HAVING EXISTS i IN seq (GRAPH i { ?s :v ?x })"


def test_without_a_slide_every_timestamp_is_a_tick(tmp_path: Path) -> None:
    query = plan(tmp_path, f"SELECT (COUNT(*) AS ?n) FROM STREAM states [NOW - 5s, NOW] {ALL}")
    integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    assert run(query, (1, "1", 0), (1, "1", 3), (2, "1", 3), (1, "2", 20)) == [
        f'10:00:00 "1"{integer}',
        f'10:00:03 "3"{integer}',
        f'10:00:20 "1"{integer}',
    ]


def test_decimals_are_added_exactly(tmp_path: Path) -> None:
    having = "HAVING AGGREGATE SUM(?x) = 0.3"
    text = f"SELECT ?s FROM STREAM states [NOW - 5s, NOW] -> 5s {ALL} GROUP BY ?s {having}"
    assert run(plan(tmp_path, text), (1, "0.10", 0), (1, "0.20", 5)) == ["10:00:05 <http://e/1>"]


def test_next_state_counts_all_states(tmp_path: Path) -> None:
    pair = "GRAPH i { ?s :v ?x } AND GRAPH j { ?s :v ?y } AND i + 1 = j"
    text = (
        "SELECT ?s FROM STREAM states [NOW - 10s, NOW] -> 10s SEQUENCE BY StdSeq AS seq"
        f" HAVING EXISTS i, j IN seq ?x, ?y ({pair} AND ?x + 1 = ?y)"
    )
    rows = [(1, "1", 1), (2, "5", 2), (1, "2", 3), (2, "7", 4), (2, "8", 5), (1, "0", 11)]
    assert run(plan(tmp_path, text), *rows) == ["10:00:10 <http://e/2>"]


def test_a_pulse_begins_and_ends(tmp_path: Path) -> None:
    pulse = 'START = "2026-01-01T11:00:04+01:00", END = "2026-01-01T10:00:12Z", FREQUENCY = 4s'
    text = f"SELECT ?s FROM STREAM states [NOW - 100s, NOW] USING PULSE WITH {pulse} {ALL}"
    rows = [(second, "1", second) for second in (1, 6, 11, 30)]
    assert run(plan(tmp_path, text), *rows) == [
        "10:00:04 <http://e/1>",
        "10:00:08 <http://e/1> | <http://e/6>",
        "10:00:12 <http://e/1> | <http://e/11> | <http://e/6>",
    ]


REFUSED = [
    (
        "FROM STREAM states",
        "OBM450",
        "FROM STREAM states [NOW - 10m, NOW]",
    ),
    ("FROM STREAM state [NOW - 1m, NOW]", "OBM451", "Did you mean 'states'?"),
    (
        "FROM STREAM states [NOW - 1m, NOW] -> 1m, states [NOW - 1m, NOW] -> 2m",
        "OBM454",
        "one slide",
    ),
]


@pytest.mark.parametrize(("streams", "code", "hint"), REFUSED)
def test_refusals_say_what_to_do(tmp_path: Path, streams: str, code: str, hint: str) -> None:
    condition = "FORALL i IN seq ?x (IF GRAPH i { ?s :v ?x } THEN ?x < 5)"
    with pytest.raises(WindowError) as caught:
        plan(tmp_path, f"SELECT ?s {streams} SEQUENCE BY StdSeq AS seq HAVING {condition}")
    (problem,) = caught.value.diagnostics
    assert problem.code == code
    assert problem.hint is not None
    assert hint in problem.hint
    assert problem.span is not None
