"""The kernel against DuckDB, which runs the same SQL over the same tuples."""

from __future__ import annotations

from collections import Counter

import pytest

from obda_bm.execution.reference import Row
from obda_bm.ir.spj import Semantics
from obda_bm.sql import render_sql
from tests.kernel.streams import answer_duckdb, load_duckdb, timestamps
from tests.kernel.test_differential import Pair, pair_of, report, run_kernel
from tests.kernel.test_reference import prefix

CHUNKS = 3
PAIRS = 50
AT_EVERY_MARKER = 10
"""So many of a chunk's pairs are compared at every marker, the others at the end."""


def accumulated(pair: Pair, until: int | None = None) -> Counter[Row]:
    """All that the kernel emits up to and including `until`."""
    run = run_kernel(pair.query, pair.verdict, pair.tuples, pair.cuts["random"])
    total: Counter[Row] = Counter()
    for time, rows in run.emitted.items():
        if until is None or time <= until:
            total += rows
    return total


def shown(pair: Pair) -> str:
    return report(pair.seed, pair.query, pair.verdict, pair.tuples, pair.cuts["random"])


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_ends_like_duckdb(chunk: int) -> None:
    for i in range(PAIRS):
        pair = pair_of(f"duckdb {chunk}-{i}")
        if not timestamps(pair.query, pair.tuples):
            continue  # no marker, no output
        database = load_duckdb(pair.query, pair.tuples)
        expected = answer_duckdb(database, render_sql(pair.query, "duckdb"))
        assert accumulated(pair) == expected, shown(pair)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_agrees_with_duckdb_at_every_marker(chunk: int) -> None:
    for i in range(AT_EVERY_MARKER):
        pair = pair_of(f"duckdb {chunk}-{i}")
        sql = render_sql(pair.query, "duckdb")
        run = run_kernel(pair.query, pair.verdict, pair.tuples, pair.cuts["random"])
        total: Counter[Row] = Counter()
        for time in timestamps(pair.query, pair.tuples):
            total += run.emitted.get(time, Counter())
            so_far = prefix(pair.query, pair.tuples, time)
            assert total == answer_duckdb(load_duckdb(pair.query, so_far), sql), shown(pair)
            if pair.query.semantics is Semantics.SET:
                assert set(total.values()) <= {1}, shown(pair)
