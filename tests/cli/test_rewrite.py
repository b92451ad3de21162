"""obda-bm rewrite and validate, as the user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import obda_bm
from obda_bm.interfaces.cli import main
from tests.cli.command import run_here, run_process

ONTOLOGY = """@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Pump a owl:Class ; rdfs:subClassOf :Device ;
  rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :feeds ; owl:someValuesFrom :Tank ] .
:Device a owl:Class ; owl:disjointWith :Tank .
:Tank a owl:Class .
:feeds a owl:ObjectProperty ; rdfs:domain :Device .
"""
QUERY = (
    "PREFIX : <http://example.org/>\nSELECT ?x WHERE { ?x a :Device . ?x :feeds ?y . ?y a :Tank }\n"
)
UCQ = ["q(?x) :- Pump(?x)", "q(?x) :- feeds(?x, ?y), Tank(?y)"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    return str(tmp_path / "q.rq"), str(tmp_path / "o.ttl")


def test_process_prints_the_ucq(files: tuple[str, str]) -> None:
    query, ontology = files
    result = run_process("rewrite", query, "--ontology", ontology)
    assert (result.code, result.out.splitlines(), result.err) == (0, UCQ, "")


def test_json(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    query, ontology = files
    result = run_here(capsys, "rewrite", query, "--ontology", ontology, "--json")
    found = json.loads(result.out)
    assert found["size"] == 2
    assert found["ucq"] == UCQ
    assert any("Pump ⊑ ∃feeds.Tank  (o.ttl:4)" in axiom for axiom in found["chains"][0])


def test_sparql_and_chains(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    query, ontology = files
    result = run_here(capsys, "rewrite", query, "--ontology", ontology, "--sparql")
    assert "{ ?x a :Pump . }" in result.out
    result = run_here(capsys, "rewrite", query, "--ontology", ontology, "--chains")
    assert "  # Pump ⊑ ∃feeds.Tank  (o.ttl:4)" in result.out.splitlines()


def test_rules_from_standard_input_and_the_setting(tmp_path: Path, files: tuple[str, str]) -> None:
    setting = tmp_path / "obda.toml"
    columns = 'columns = { id = "INTEGER" }'
    setting.write_text(f'[ontology]\nfile = "o.ttl"\n[relations.pump]\n{columns}\n')
    result = run_process(
        "rewrite", "-", "--setting", str(setting), "--compiled", stdin="q(?x) :- Device(?x)"
    )
    assert (result.code, result.out) == (0, "q(?x) :- Device(?x)\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["rewrite", "QUERY"], "OBM600"),
        (["rewrite", "QUERY", "--ontology", "nowhere.ttl"], "OBM601"),
        (["rewrite", "nowhere.rq", "--ontology", "ONTOLOGY"], "OBM001"),
        (["rewrite", "ONTOLOGY", "--ontology", "ONTOLOGY"], "OBM641"),
    ],
)
def test_mistakes(
    files: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: str,
) -> None:
    named = {"QUERY": files[0], "ONTOLOGY": files[1]}
    result = run_here(capsys, *(named.get(a, a) for a in arguments))
    assert result.code == 2
    assert result.err.startswith(f"error[{code}]")
    assert result.out == ""


def test_validate(tmp_path: Path, files: tuple[str, str]) -> None:
    result = run_process("validate", "--ontology", files[1], "--violations")
    assert result.code == 0
    assert "q() :- Device(?x), Tank(?x)" in result.out
    outside = tmp_path / "outside.ttl"
    outside.write_text(ONTOLOGY + ":feeds a owl:TransitiveProperty .\n")
    reported = run_process("validate", "--ontology", str(outside), "--json")
    assert reported.code == 0
    (problem,) = json.loads(reported.out)["ontology"]["errors"]
    assert (problem["code"], problem["span"]["line"]) == ("OBM610", 8)
    assert run_process("validate", "--ontology", str(outside), "--strict").code == 2


def test_odd_literals_and_iris_leave_the_terminal_alone(tmp_path: Path) -> None:
    odd = tmp_path / "odd.ttl"
    text = ':A rdfs:label "x"^^<http://www.w3.org/2001/XMLSchema#integer> .'
    odd.write_text(f"{ONTOLOGY}{text}\n<http://example.org/{{b}}> rdfs:subClassOf :A .\n")
    assert run_process("validate", "--ontology", str(odd)).err == ""


def test_python(files: tuple[str, str]) -> None:
    ontology = obda_bm.load_ontology(files[1])
    assert str(obda_bm.rewrite(QUERY, ontology)).splitlines() == UCQ
    assert len(obda_bm.rewrite("q(?x) :- Device(?x)", ontology.tbox)) == 3


def test_main_is_reachable_without_a_process(files: tuple[str, str]) -> None:
    assert main(["rewrite", files[0], "--ontology", files[1]]) == 0
