"""The standard rewriting benchmark, found through the reference data."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from obda_bm.diagnostics import SourceText
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.ontology import Ontology, read_ontology
from obda_bm.syntax.datalog import parse_datalog


@dataclass(frozen=True)
class Task:
    ontology: str
    number: int
    size: int

    def __str__(self) -> str:
        return f"{self.ontology}/Q{self.number}"


def tasks(reference: Path) -> Iterator[Task]:
    """The thirty queries with the published sizes of their minimal rewritings."""
    with (reference / "rewriting" / "expected_sizes.csv").open() as file:
        for row in csv.DictReader(file):
            yield Task(row["ontology"], int(row["query"]), int(row["minimal_ucq"]))


def read_task_ontology(reference: Path, name: str) -> Ontology:
    return read_ontology([reference / "rewriting" / "ontologies" / f"{name}.owl"])


def read_task_query(reference: Path, task: Task, ontology: Ontology) -> UnionOfCQs:
    """The query; P5 has those of P1, and V/Q3 names a class that the ontology lacks."""
    folder = "P1" if task.ontology == "P5" else task.ontology
    path = reference / "rewriting" / "queries" / folder / f"Q{task.number}.txt"
    return parse_datalog(SourceText(path.name, path.read_text()), ontology.tbox.vocabulary)
