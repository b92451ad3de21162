"""Queries on files, run on Spark, and what they emit."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obda_bm.execution.spark.run import Once, run_spark
from obda_bm.execution.spark.snapshot import Epoch
from obda_bm.ir.catalog import Relation, Source
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.verdict import Bounded
from obda_bm.planning import build_plan
from tests.kernel.streams import Emitted, emitted


@dataclass(frozen=True)
class Place:
    directory: Path


@dataclass(frozen=True)
class Query:
    """What `run_spark` needs to know of a compiled query."""

    query: SpjUnion
    plan: SynopsisPlan
    setting: Place


def planned(query: SpjUnion, verdict: Bounded, directory: Path) -> Query:
    return Query(query, build_plan(query, verdict), Place(directory))


def with_sources(query: SpjUnion, **options: Any) -> SpjUnion:
    """Every relation is read from the directory of its name."""

    def placed(relation: Relation) -> Relation:
        path = ("path", relation.name)
        more = () if relation.time is None else tuple(options.items())
        return replace(relation, source=Source("parquet", (path, *more)))

    branches = [
        replace(
            b, occurrences=tuple(replace(o, relation=placed(o.relation)) for o in b.occurrences)
        )
        for b in query.branches
    ]
    return replace(query, branches=tuple(branches))


def write_parts(directory: Path, parts: Sequence[pa.Table]) -> None:
    """One file per part, after those that are there; Spark reads them in order of age."""
    directory.mkdir(parents=True, exist_ok=True)
    first = len(list(directory.glob("*.parquet")))
    for i, part in enumerate(parts, first):
        path = directory / f"{i:05d}.parquet"
        pq.write_table(part, path)
        os.utime(path, (1_700_000_000 + i, 1_700_000_000 + i))


class Collected:
    """A sink that remembers; a batch that comes again replaces itself."""

    def __init__(self) -> None:
        self.batches: dict[Epoch, pa.Table] = {}

    def __call__(self, epoch: Epoch, results: pa.Table) -> None:
        self.batches[epoch] = results

    @property
    def emitted(self) -> Emitted:
        found: Emitted = {}
        for results in self.batches.values():
            for time, rows in emitted(results).items():
                found[time] = found.get(time, Counter()) + rows
        return found


def run_once(spark: Any, query: Query, state: Path | None = None, **options: Any) -> Collected:
    """Run until the sources are exhausted."""
    sink = Collected()
    run = run_spark(query, spark, state=state, sink=sink, trigger=Once(), **options)
    run.awaitTermination()
    return sink


def read_lines(directory: Path) -> Counter[str]:
    """All lines of all files of results."""
    return Counter(
        line
        for path in sorted(directory.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    )


def total(found: Mapping[Any, Counter[Any]]) -> Counter[Any]:
    return sum(found.values(), Counter())


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
