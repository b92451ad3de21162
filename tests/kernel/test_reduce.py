"""Reduced rows do what the rows do, and there are never more of them."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from obda_bm.execution.reference import emit_reference
from obda_bm.kernel import WEIGHT, reduce
from tests.kernel.test_differential import Pair, pair_of, report, run_kernel

CHUNKS = 4
PAIRS = 100


def reduced(plan: Any, stream: str, rows: pa.Table) -> pa.Table:
    found = reduce(plan, stream, rows)
    assert len(found) <= len(rows)
    assert pc.sum(found.column(WEIGHT), min_count=0).as_py() <= len(rows)
    again = reduce(plan, stream, found)
    assert again.num_rows == found.num_rows, "there is something left to reduce"
    return found


def in_two_steps(plan: Any, stream: str, rows: pa.Table) -> pa.Table:
    """One part is reduced before the other arrives, as executors or an open timestamp do it."""
    cut = len(rows) // 2
    parts = [reduce(plan, stream, rows.slice(0, cut)), reduce(plan, stream, rows.slice(cut))]
    return reduce(plan, stream, pa.concat_tables(parts))


def shown(pair: Pair) -> str:
    return report(pair.seed, pair.query, pair.verdict, pair.tuples, pair.cuts["random"])


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_reduced_rows_do_the_same(chunk: int) -> None:
    for i in range(PAIRS):
        pair = pair_of(f"reduce {chunk}-{i}")
        way = Random(i).choice((reduced, in_two_steps))
        for cut in ("random", "one batch"):
            run = run_kernel(pair.query, pair.verdict, pair.tuples, pair.cuts[cut], arriving=way)
            assert run.emitted == emit_reference(pair.query, pair.tuples), shown(pair)
