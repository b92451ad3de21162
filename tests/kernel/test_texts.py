"""Texts that must only differ: a few of them stand for all, however they are compared."""

from __future__ import annotations

from itertools import product
from math import comb
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obda_bm.analysis import assess
from obda_bm.ir.sqltypes import TEXT
from obda_bm.ir.terms import Op
from obda_bm.ir.verdict import Bounded
from obda_bm.kernel.representatives import representatives
from tests.analysis.queries import Shape, random_query
from tests.kernel.streams import every_timestamp, one_batch, random_cuts, timestamps
from tests.kernel.test_differential import failure, report
from tests.kernel.test_memory import peaks, streams

_UNLIKE = Shape(
    streams=(2, 3), columns=3, operators=(Op.NE,), joins=(1, 4), filters=(0, 1), types=(TEXT,)
)


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=12),
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5),
)
def test_what_is_kept_decides_every_future(
    entries: list[tuple[int, int, int]], pattern: set[tuple[int, int]]
) -> None:
    """By trying all future texts: some entry is spared iff one that is kept is."""
    columns = [np.array([e[i] for e in entries], dtype=np.int64) for i in range(3)]
    keep = representatives([], columns, sorted(pattern), len(entries))
    kept = [entry for entry, needed in zip(entries, keep.tolist(), strict=True) if needed]
    for future in product(range(5), repeat=3):

        def spared(entry: tuple[int, ...], future: tuple[int, ...] = future) -> bool:
            return all(entry[column] != future[test] for column, test in pattern)

        assert any(map(spared, entries)) == any(map(spared, kept))
    stored, tests = len({c for c, _ in pattern}), len({t for _, t in pattern})
    assert len(kept) <= comb(stored + tests, stored)


def test_queries_with_many_texts() -> None:
    tried = 0
    for i in range(150):
        rng = Random(f"texts {i}")
        query = random_query(rng, _UNLIKE)
        verdict = assess(query)
        if not isinstance(verdict, Bounded):
            continue
        tried += 1
        tuples = streams(rng, query, 6)
        times = timestamps(query, tuples)
        for cuts in (random_cuts(rng, times), every_timestamp(times), one_batch(times)):
            wrong = failure(query, verdict, tuples, cuts)
            assert wrong is None, report(f"texts {i}", query, verdict, tuples, cuts)
        many = streams(rng, query, 60)
        times = timestamps(query, many)
        bound = verdict.bound.units
        peak = max(peaks(query, verdict, many, [*times[5::10], times[-1] + 1]))
        assert bound is None or peak <= bound, f"{i}: {peak} units of {bound}\n{query}"
    assert tried >= 10
