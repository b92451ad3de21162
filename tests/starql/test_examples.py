"""The example queries against SQL written by hand, and what is said of queries that cannot run."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from obda_bm.interfaces.cli import main

ROOT = Path(__file__).parents[2]
SETTING = ROOT / "mappings" / "turbines.toml"
DATA = ROOT / "mappings" / "data"
PREFIX = "PREFIX : <https://obda-bm.example/turbines#>\n"

HOTTER = """
SELECT 'https://obda-bm.example/sensor/' || later.sensor, min(later.ts)
FROM temperature earlier, temperature later, sensor
WHERE earlier.sensor = later.sensor AND later.sensor = sensor.id
  AND sensor.kind IN ('temperature', 'bearing')
  AND earlier.ts < later.ts AND earlier.celsius > 90 AND later.celsius > earlier.celsius
GROUP BY 1
"""
SHAKEN = """
SELECT 'https://obda-bm.example/turbine/' || turbine
  || ' https://obda-bm.example/sensor/' || sensor, min(down)
FROM (
  SELECT e.turbine, v.sensor, e.ts AS down
  FROM vibration v, event e, sensor s, assembly a
  WHERE v.sensor = s.id AND s.assembly = a.id AND a.turbine = e.turbine AND e.kind = 'shutdown'
    AND v.ts < e.ts AND e.ts <= v.ts + INTERVAL 5 MINUTE AND v.mm_s > 4.5)
GROUP BY 1
"""


def asked_by_hand(sql: str) -> set[tuple[str, str]]:
    with duckdb.connect() as connection:
        for file in DATA.glob("*.csv"):
            connection.execute(f"CREATE VIEW {file.stem} AS FROM read_csv('{file}')")
        return {(answer, str(time)) for answer, time in connection.sql(sql).fetchall()}


@pytest.mark.parametrize(
    ("name", "sql"), [("hotter_than_before", HOTTER), ("shutdown_after_vibration", SHAKEN)]
)
def test_example(name: str, sql: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = ROOT / "examples" / "starql" / f"{name}.starql"
    words = ["run", str(query), "--setting", str(SETTING), "--engine", "local", "--format", "jsonl"]
    assert main(words) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = asked_by_hand(sql)
    assert expected
    assert {(" ".join(line["row"].values()), line["time"]) for line in lines} == expected


def complaint(tmp_path: Path, query: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    path = tmp_path / "query.starql"
    path.write_text(PREFIX + query)
    code = main(["check", str(path), "--setting", str(SETTING)])
    return code, capsys.readouterr().err


HAVING = "SEQUENCE BY StdSeq AS seq HAVING EXISTS i IN seq ?x (GRAPH i { ?s :hasTemperature ?x })"


def test_unknown_stream(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = complaint(tmp_path, f"SELECT ?s\nFROM STREAM temprature\n{HAVING}", capsys)
    assert code == 2
    assert "error[OBM451]" in said
    assert "query.starql:3:13" in said
    assert "Did you mean 'temperature'?" in said


def test_a_static_pattern_does_not_read_a_stream(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = f"SELECT ?s\nFROM STREAM temperature\nWHERE {{ ?s :hasTemperature ?y }}\n{HAVING}"
    code, said = complaint(tmp_path, query, capsys)
    assert code == 2
    assert "[OBM746]" in said
    assert "query.starql:4:" in said


def test_what_nothing_maps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = f"SELECT ?s\nFROM STREAM temperature\nWHERE {{ ?s a :TemperaturSensor }}\n{HAVING}"
    code, said = complaint(tmp_path, query, capsys)
    assert code == 2
    assert "Did you mean 'TemperatureSensor'?" in said


def test_what_is_unbounded_is_told_in_the_users_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = (
        "SELECT ?v\nFROM STREAM vibration\nSEQUENCE BY StdSeq AS seq\n"
        "HAVING EXISTS i IN seq ?s (GRAPH i { ?s :hasVibration ?v })"
    )
    path = tmp_path / "query.starql"
    path.write_text(PREFIX + query)
    assert main(["check", str(path), "--setting", str(SETTING)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("unbounded (set)")
    assert "S0" in shown


def test_unfolded_starql_is_sql(capsys: pytest.CaptureFixture[str]) -> None:
    query = ROOT / "examples" / "starql" / "hotter_than_before.starql"
    assert (
        main(["unfold", str(query), "--setting", str(SETTING), "--json", "--dialect", "duckdb"])
        == 0
    )
    unfolded = json.loads(capsys.readouterr().out)
    assert unfolded["branches"] == 2
    numbers = {int(answer.rsplit("/", 1)[1]) for answer, _ in asked_by_hand(HOTTER)}
    with duckdb.connect() as connection:
        for file in DATA.glob("*.csv"):
            connection.execute(f"CREATE VIEW {file.stem} AS FROM read_csv('{file}')")
        assert {row[0] for row in connection.sql(unfolded["sql"]).fetchall()} == numbers


def test_one_stream_has_one_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    windows = "temperature [NOW - 1m, NOW],\ntemperature [NOW - 5m, NOW]"
    code, said = complaint(tmp_path, f"SELECT ?s\nFROM STREAM {windows}\n{HAVING}", capsys)
    assert code == 2
    assert "error[OBM457]" in said
    assert "query.starql:4:1" in said
