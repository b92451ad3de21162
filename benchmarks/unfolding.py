"""How loading, validating and unfolding grow with the number of triples maps.

    python benchmarks/unfolding.py            # table
    python benchmarks/unfolding.py --markdown # the same for docs/benchmarks.md

A synthetic plant: five triples maps per table, two of them through views, a class hierarchy over
all devices, and properties that every table has. The query has six atoms; for three of them every
table is a candidate. Beside the
times stands how much longer than the size below a step took, in the same run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import obda_bm
from obda_bm.diagnostics import SourceText
from obda_bm.mediation import mediate, validate_mappings
from obda_bm.ontology import read_ontology
from obda_bm.r2rml import load_mappings
from obda_bm.syntax.sparql import parse_sparql

SIZES = (125, 250, 500, 1000, 2000)
PER_TABLE = 5

QUERY = """
PREFIX : <http://plant.example/#>
SELECT ?d ?v WHERE {
  ?d a :Device ; :label ?l ; :partOf ?m ; :value3 ?v ; :value3 ?w .
  ?m a :Machine3 .
}
"""


@dataclass(frozen=True)
class Row:
    maps: int
    load: float
    validate: float
    mediate: float
    unfold: float
    branches: int

    @property
    def total(self) -> float:
        return self.load + self.validate + self.mediate + self.unfold


def turtle(tables: int) -> Iterator[str]:
    yield "@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://plant.example/#> ."
    for i in range(tables):
        subject = f'rr:template "http://plant.example/d{i}/{{id}}"'
        view = f'rr:sqlQuery "SELECT id, v, machine FROM t{i} WHERE v > {i % 7}"'
        yield _class(f"m{i}a", f'rr:tableName "t{i}"', subject, f":C{i}")
        yield _map(f"m{i}b", f'rr:tableName "t{i}"', subject, ":label", 'rr:column "name"')
        yield _map(f"m{i}c", view, subject, f":value{i % 20}", 'rr:column "v"')
        machine = 'rr:template "http://plant.example/machine/{machine}"'
        yield _map(f"m{i}d", f'rr:tableName "t{i}"', subject, ":partOf", machine)
        yield _class(f"m{i}e", view, machine, f":Machine{i}")


def _class(name: str, table: str, subject: str, cls: str) -> str:
    return f"<{name}> rr:logicalTable [ {table} ] ; rr:subjectMap [ {subject} ; rr:class {cls} ] ."


def _map(name: str, table: str, subject: str, predicate: str, value: str) -> str:
    return (
        f"<{name}> rr:logicalTable [ {table} ] ; rr:subjectMap [ {subject} ] ;"
        f" rr:predicateObjectMap [ rr:predicate {predicate} ; rr:objectMap [ {value} ] ] ."
    )


def ontology(tables: int) -> Iterator[str]:
    yield "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://plant.example/#> ."
    yield "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :Device a owl:Class ."
    yield ":label a owl:DatatypeProperty . :partOf a owl:ObjectProperty ; rdfs:domain :Device ."
    for i in range(tables):
        yield f":C{i} a owl:Class ; rdfs:subClassOf :Device . :Machine{i} a owl:Class ."
    for i in range(20):
        yield f":value{i} a owl:DatatypeProperty ; rdfs:domain :Device ."


def setting(tables: int) -> Iterator[str]:
    yield '[ontology]\nfile = "plant.ttl"\n[mapping]\nfile = "plant.r2rml.ttl"'
    columns = 'id = "INTEGER", name = "TEXT", v = "INTEGER", machine = "INTEGER"'
    for i in range(tables):
        yield f'[relations.t{i}]\ncolumns = {{ {columns} }}\nkey = ["id"]'


def measure(maps: int) -> Row:
    tables = maps // PER_TABLE
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plant.r2rml.ttl").write_text("\n".join(turtle(tables)))
        Path(folder, "plant.ttl").write_text("\n".join(ontology(tables)))
        path = Path(folder, "obda.toml")
        path.write_text("\n".join(setting(tables)))
        read = obda_bm.load_setting(path)
        tbox = read_ontology(read.ontologies).tbox
        times = [time.perf_counter()]
        mappings = load_mappings(read.mappings)
        times.append(time.perf_counter())
        validate_mappings(mappings, read.catalog, tbox)
        times.append(time.perf_counter())
        mediator = mediate(mappings, read.catalog, tbox)
        times.append(time.perf_counter())
        unfolded = mediator.unfold(parse_sparql(SourceText("query.rq", QUERY)))
        times.append(time.perf_counter())
    steps = [b - a for a, b in pairwise(times)]
    return Row(len(mappings.triples_maps), *steps, len(unfolded.branches))


def lines(rows: list[Row]) -> Iterator[str]:
    yield (
        "| triples maps | load | validate | views, assertions | unfold | branches | together "
        "| times the size below |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    before: Row | None = None
    for row in rows:
        ratio = f"{row.total / before.total:.1f}" if before else ""
        steps = (row.load, row.validate, row.mediate, row.unfold)
        cells = " | ".join(f"{seconds:.2f} s" for seconds in steps)
        yield f"| {row.maps} | {cells} | {row.branches} | {row.total:.2f} s | {ratio} |"
        before = row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    args = parser.parse_args()
    text = "\n".join(lines([measure(size) for size in SIZES]))
    print(text if args.markdown else text.replace("|", " "))


if __name__ == "__main__":
    main()
