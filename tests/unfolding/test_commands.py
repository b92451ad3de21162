"""unfold, run QUERY.rq, materialize and validate, as the user runs them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest

import obda_bm
from obda_bm.execution.oneshot.duckdb import open_duckdb_sources
from tests.cli.command import run_here

MAPPINGS = Path(__file__).parents[2] / "mappings"
TURBINES = ("--setting", str(MAPPINGS / "turbines.toml"))
HOT = str(MAPPINGS / "hot_bearings.rq")


@pytest.fixture
def database(tmp_path: Path) -> str:
    """The sample data in a DuckDB file of its own."""
    setting = obda_bm.load_setting(MAPPINGS / "turbines.toml")
    memory = open_duckdb_sources(setting.catalog.relations, setting.directory).connection
    path = tmp_path / "turbines.duckdb"
    memory.execute(f"ATTACH '{path}' AS file")
    for relation in setting.catalog.relations:
        memory.execute(f"CREATE TABLE file.{relation.name} AS SELECT * FROM {relation.name}")
    memory.close()
    return str(path)


def test_unfold_json_keeps_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    result = run_here(capsys, "unfold", HOT, *TURBINES, "--json")
    told = json.loads(result.out)
    assert result.code == 0
    assert told["branches"] == 3
    assert "SELECT" in told["sql"]


def test_the_printed_sql_runs_and_says_which_mapping_gave_what(
    capsys: pytest.CaptureFixture[str], database: str
) -> None:
    sql = run_here(capsys, "unfold", HOT, *TURBINES, "--dialect", "duckdb").out
    assert "-- hasValue(?sensor, ?value) from Temperature" in sql
    assert "turbines.r2rml.ttl:88" in sql
    with duckdb.connect(database, read_only=True) as connection:
        rows = connection.execute(sql).fetchall()
    answers = run_here(capsys, "run", HOT, *TURBINES, "--format", "csv").out
    assert len(rows) == len(answers.splitlines()) - 1 > 3


def test_answers_in_all_formats_agree(capsys: pytest.CaptureFixture[str], database: str) -> None:
    told = json.loads(run_here(capsys, "run", HOT, *TURBINES, "--format", "json").out)
    bindings = told["results"]["bindings"]
    asked = ("run", HOT, *TURBINES, "--database", database, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(run_here(capsys, *asked).out)))
    assert told["head"]["vars"] == ["turbine", "sensor", "value"]
    assert {(b["sensor"]["value"], b["value"]["value"]) for b in bindings} == {
        (row["sensor"], row["value"]) for row in rows
    }
    table = run_here(capsys, "run", HOT, *TURBINES).out.splitlines()
    assert len(table) == len(rows) + 1


def test_ask(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    query = tmp_path / "ask.rq"
    prefix = "PREFIX : <https://obda-bm.example/turbines#> "
    query.write_text(f"{prefix} ASK {{ ?x a :Shutdown ; :raisedBy ?t . ?t a :WindTurbine }}")
    told = run_here(capsys, "run", str(query), *TURBINES, "--format", "json").out
    assert json.loads(told) == {"head": {}, "boolean": True}
    query.write_text(f"{prefix} ASK {{ ?x a :Shutdown ; :raisedBy ?t . ?t a :GasTurbine }}")
    assert run_here(capsys, "run", str(query), *TURBINES).out == "false\n"


def test_materialize_streams_n_quads(capsys: pytest.CaptureFixture[str], database: str) -> None:
    quads = run_here(capsys, "materialize", *TURBINES).out.splitlines()
    alarm = "<https://obda-bm.example/event/2> <https://obda-bm.example/turbines#hasSeverity>"
    assert f'{alarm} "5"^^<http://www.w3.org/2001/XMLSchema#integer> .' in quads
    mapping = str(MAPPINGS / "turbines.r2rml.ttl")
    asked = ("materialize", "--mapping", mapping, "--database", database)
    assert sorted(run_here(capsys, *asked).out.splitlines()) == sorted(quads)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("unfold", "missing.rq", *TURBINES), "cannot read the query"),
        (("unfold", HOT, "--setting", "missing.toml"), "there is no file"),
        (("run", HOT, *TURBINES, "--database", "missing.duckdb"), "there is no database"),
        (("run", HOT, *TURBINES, "--format", "parquet"), "answers cannot be written as parquet"),
        (("run", HOT, *TURBINES, "--output", "/nowhere/a.csv"), "cannot write"),
        (("materialize", *TURBINES, "--mapping", "missing.ttl"), "cannot read the mapping"),
        (("unfold", HOT, *TURBINES, "--dialect", "klingon"), "unknown SQL dialect"),
    ],
)
def test_mistakes_are_told(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run_here(capsys, *arguments)
    assert result.code == 2
    assert message in result.err


def test_validate_names_file_line_and_triples_map(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = (MAPPINGS / "turbines.r2rml.ttl").read_text("utf-8")
    broken = tmp_path / "turbines.r2rml.ttl"
    broken.write_text(text.replace('rr:column "severity"', 'rr:column "severty"'), encoding="utf-8")
    toml = (MAPPINGS / "turbines.toml").read_text("utf-8")
    ontology = (MAPPINGS.parent / "ontologies" / "turbines.ttl").as_posix()
    setting = tmp_path / "obda.toml"
    setting.write_text(toml.replace("../ontologies/turbines.ttl", ontology), encoding="utf-8")
    told = json.loads(run_here(capsys, "validate", "--setting", str(setting), "--json").out)
    first = told["mapping"]["errors"][0]
    assert first["message"] == "unknown column 'severty' (in Alarm)"
    assert first["hint"] == "Did you mean 'severity'?"
    assert told["mapping"]["triples_maps"][0].endswith("/Alarm")


def test_the_bundled_content_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("turbines", "fitness"):
        result = run_here(capsys, "validate", "--setting", str(MAPPINGS / f"{name}.toml"))
        assert result.code == 0
        assert result.out.count("0 reports") == 2
