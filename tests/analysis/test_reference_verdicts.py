"""Sixty random queries whose boundedness, and both papers' answers, were found by other means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from obda_bm.analysis import assess
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.verdict import Undecided

from .queries import written


def read(query: dict[str, Any]) -> SpjUnion:
    streams = " ".join(f"{name}({''.join(cs)})" for name, cs in query["streams"].items())
    comparisons = [*query["where"], *query["time"]]
    where = ", ".join(f"{left} {op} {right}" for left, op, right in comparisons)
    return written(streams, where, " ".join(query["project"]), query["semantics"])


def test_verdicts_and_papers(reference: Path) -> None:
    cases = json.loads((reference / "verdicts" / "random_queries.json").read_text())
    assert len(cases) == 60
    wrong = []
    for case in cases:
        query = read(case["query"])
        verdict = assess(query)
        papers = verdict.papers.arasu2002.bounded, verdict.papers.schiff2020.bounded
        bounded = None if isinstance(verdict, Undecided) else verdict.name == "bounded"
        expected = case["bounded"], case["arasu2002"], case["schiff2020"]
        if (bounded, *papers) != expected:
            wrong.append((str(query), query.semantics.value, (bounded, *papers), expected))
    assert wrong == []
