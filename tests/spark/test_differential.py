"""Random bounded queries on Spark, against DuckDB at the end and the reference at every marker."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from obda_bm.execution.reference import emit_reference
from obda_bm.planning.placement import Aggregated, OnDriver, Placement
from obda_bm.sql import render_sql
from tests.kernel.streams import answer_duckdb, arrow_table, load_duckdb, relations_of, timestamps
from tests.kernel.test_differential import Pair, pair_of, report
from tests.spark.runs import planned, run_once, total, with_sources, write_parts

QUERIES = 40


def cut_anywhere(rng: Random, table: pa.Table) -> list[pa.Table]:
    """Two or three parts of a stream, in order; ties may be torn apart."""
    cuts = sorted(rng.randint(0, len(table)) for _ in range(rng.randint(1, 2)))
    return [table.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, len(table)], strict=True)]


def write_pair(pair: Pair, directory: Path) -> None:
    """Files of every relation; each stream is cut on its own, so some are ahead of others."""
    rng = Random(pair.seed)
    for name, relation in relations_of(pair.query).items():
        table = arrow_table(relation, pair.tuples[name])
        parts = [table] if relation.time is None else cut_anywhere(rng, table)
        write_parts(directory / name, parts)


@pytest.mark.parametrize("placement", [OnDriver(), Aggregated()], ids=str)
@pytest.mark.parametrize("number", range(QUERIES))
def test_agrees_with_duckdb(spark: Any, tmp_path: Path, number: int, placement: Placement) -> None:
    pair = pair_of(f"spark {number}")
    assert timestamps(pair.query, pair.tuples), "without a marker nothing is compared"
    write_pair(pair, tmp_path)
    query = with_sources(pair.query, maxFilesPerTrigger=1)
    found = run_once(spark, planned(query, pair.verdict, tmp_path), placement=placement).emitted
    shown = report(pair.seed, pair.query, pair.verdict, pair.tuples, pair.cuts["random"])
    database = load_duckdb(pair.query, pair.tuples)
    assert total(found) == answer_duckdb(database, render_sql(pair.query, "duckdb")), shown
    assert found == emit_reference(pair.query, pair.tuples), shown
