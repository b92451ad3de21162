"""The published queries, as they are, against SQL written by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from obda_bm.execution.oneshot.values import Resource
from obda_bm.execution.windowed import run_windowed
from obda_bm.ir.rdf import Iri, Literal
from tests.windowing.sport import START, mediator, plan, tables

PATTERN = "http://www.sport.com/Fitness/Pattern#"
IN_WINDOW = "m.ts BETWEEN $now - INTERVAL {minutes} MINUTE AND $now"
JOINED = f"profiles p JOIN measurements m ON m.profile = p.id AND {IN_WINDOW}"

# Profiles 3 and 4 have one name, so they are one thing; equal measurements of it at one time are
# one assertion.
EXCEEDS = f"""
    SELECT name, max(speed), avg(speed), max(speed) - avg(speed)
    FROM (SELECT DISTINCT p.name, m.ts, m.speed FROM {JOINED})
    WHERE name IS NOT NULL AND speed IS NOT NULL
    GROUP BY name HAVING avg(speed) + 6 < max(speed)"""
DANGER = f"""
    SELECT DISTINCT p.name FROM {JOINED} WHERE p.name IS NOT NULL AND m.speed > 50"""
RISING = f"""
    WITH seen AS (SELECT p.name, m.ts, m.{{column}} AS x FROM {JOINED}
                  WHERE p.name IS NOT NULL AND m.{{column}} IS NOT NULL)
    SELECT DISTINCT name FROM seen WHERE name NOT IN
      (SELECT a.name FROM seen a, seen b WHERE a.name = b.name AND a.ts < b.ts AND a.x > b.x)"""

CASES = [
    ("Example1.txt", EXCEEDS.format(minutes=10), 10),
    ("Example2.txt", DANGER.format(minutes=10), 10),
    ("Example3.txt", RISING.format(minutes=10, column="speed"), 1),
    ("Example4.txt", RISING.format(minutes=100, column="height"), 5),
]


def value(term: Resource) -> Any:
    match term:
        case Iri(iri):
            return iri.removeprefix(PATTERN).replace("%20", " ")
        case Literal(lexical):
            return float(lexical)
    raise AssertionError(term)


@pytest.mark.parametrize(("name", "sql", "slide"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.parametrize("rows", [40, 700])
def test_equal_to_sql_at_every_tick(
    name: str, sql: str, slide: int, rows: int, reference: Path
) -> None:
    text = (reference / "starql" / name).read_text(encoding="utf-8")
    given = tables(rows, rows, 2.5)
    run = run_windowed(plan(text, mediator(reference)), given)
    found = {a.time: {tuple(map(value, row)) for row in a.rows} for a in run}
    connection = duckdb.connect()
    for table, contents in given.items():
        connection.register(table, contents)
    now, last, some = START, max(given["measurements"]["ts"].to_pylist()), 0
    while now <= last:
        expected = set(connection.execute(sql, {"now": now}).fetchall())
        assert found.pop(microseconds(now), set()) == expected, now
        some += bool(expected)
        now += timedelta(minutes=slide)
    assert not found
    assert some > 1, "the case is not trivial"
    assert run.report.rows_in == rows


def microseconds(time: datetime) -> int:
    return (time.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


def test_state_is_one_window(reference: Path) -> None:
    """However long the stream, no more is kept than the tuples of ten minutes."""
    text = (reference / "starql" / "Example3.txt").read_text(encoding="utf-8")
    planned = plan(text, mediator(reference))
    given = tables(1, 600, 3)
    run = run_windowed(planned, given)
    assert sum(len(answers.rows) for answers in run) == run.report.results
    times = given["measurements"]["ts"].to_pylist()
    most = max(sum(t <= u <= t + timedelta(minutes=10) for u in times) for t in times)
    assert 0 < run.report.peak_units <= most
    assert planned.bound.units is None
    assert str(planned.bound) == "at most rate(measurements)·10 min units"
