"""Golden files of rewritings: a TBox, queries, and what they become.

Axioms are written one a line, roughly as in Manchester syntax; names are local. `rewrite compiled`
leaves hierarchies folded. `pytest --update-golden` rewrites the expectations.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from obda_bm.diagnostics import SourceText
from obda_bm.ontology import read_ontology
from obda_bm.rewriting import Form, rewrite_ucq
from obda_bm.syntax.datalog import parse_datalog

FILES = sorted((Path(__file__).parent / "rewriting").glob("*.golden"))
NAMESPACE = "http://example.org/"
_PREDICATES = {
    "SubClassOf:": "rdfs:subClassOf",
    "SubPropertyOf:": "rdfs:subPropertyOf",
    "InverseOf:": "owl:inverseOf",
    "Domain:": "rdfs:domain",
    "Range:": "rdfs:range",
    "DisjointWith:": "owl:disjointWith",
}
_PREFIXES = f"""@prefix : <{NAMESPACE}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def turtle(axiom: str) -> str:
    """A line of a golden file as Turtle."""
    subject, word, *rest = axiom.split()
    if word in ("Symmetric", "Reflexive"):
        return f":{subject} a owl:{word}Property ."
    sup = _expression(rest)
    return f":{subject} {_PREDICATES[word]} {sup} ."


def _expression(words: list[str]) -> str:
    match words:
        case [name]:
            return name if ":" in name else f":{name}"
        case [role, "some", filler]:
            value = _expression([filler])
            return f"[ owl:onProperty :{role} ; owl:someValuesFrom {value} ]"
        case _:
            raise AssertionError(f"not an expression of golden files: {words}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    head, *blocks = re.split(r"\n\n(?=#)", path.read_text().rstrip("\n"))
    axioms = head.split("tbox\n")[1].split("\n")
    file = tmp_path / "tbox.ttl"
    file.write_text(_PREFIXES + "\n".join(map(turtle, axioms)))
    ontology = read_ontology([file])
    assert not ontology.diagnostics
    actual = [head]
    for block in blocks:
        asked = block.split("\n----")[0]
        comment, command, query = asked.rsplit("\n", 2)
        form = Form.COMPILED if command.endswith("compiled") else Form.FLAT
        iris = [NAMESPACE + "x", *ontology.tbox.vocabulary]
        parsed = parse_datalog(SourceText("query", query), iris)
        rewriting = rewrite_ucq(parsed, ontology.tbox, form)
        actual.append(f"{comment}\n{command}\n{query}\n----\n{rewriting}")
    text = "\n\n".join(actual) + "\n"
    if pytestconfig.getoption("--update-golden"):
        path.write_text(text)
    assert text == path.read_text()
