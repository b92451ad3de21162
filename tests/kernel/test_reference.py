"""The reference evaluator itself: against DuckDB, and against its own definition."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from obda_bm.execution.reference import Row, Tuples, emit_reference, evaluate_reference
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.sql import render_sql
from tests.analysis.queries import written
from tests.kernel.streams import (
    answer_duckdb,
    load_duckdb,
    random_tuples,
    relations_of,
    timestamps,
)
from tests.kernel.test_differential import random_case


def prefix(query: SpjUnion, tuples: Tuples, until: int) -> Tuples:
    """The tuples with a timestamp up to `until`, and all of the static relations."""
    return {
        name: [
            row
            for row in tuples[name]
            if relation.time is None or row[relation.time] <= until  # type: ignore[operator]
        ]
        for name, relation in relations_of(query).items()
    }


def literal_emission(query: SpjUnion, tuples: Tuples) -> dict[int, Counter[Row]]:
    """The definition, word by word: evaluate at every marker, emit what is new."""
    found: dict[int, Counter[Row]] = {}
    before: Counter[Row] = Counter()
    for time in timestamps(query, tuples):
        now = evaluate_reference(query, prefix(query, tuples, time))
        if new := now - before:
            found[time] = new
        before = now
    return found


@pytest.mark.parametrize("chunk", range(4))
def test_agrees_with_duckdb(chunk: int) -> None:
    for i in range(50):
        rng = Random(f"reference {chunk}-{i}")
        query = random_case(rng)
        tuples = random_tuples(rng, query)
        expected = answer_duckdb(load_duckdb(query, tuples), render_sql(query, "duckdb"))
        assert evaluate_reference(query, tuples) == expected, f"{chunk}-{i}\n{query}\n{tuples}"


def test_emits_what_is_new_at_each_marker() -> None:
    for i in range(150):
        rng = Random(f"emit {i}")
        query = random_case(rng)
        tuples = random_tuples(rng, query)
        assert emit_reference(query, tuples) == literal_emission(query, tuples), f"{i}\n{query}"


def test_emits_by_hand() -> None:
    query = written("X(A) Y(B)", "X.A < Y.B, X < Y", "X.A", semantics="bag")
    tuples = {
        "X": [{"A": 1, "ts": 0}, {"A": 1, "ts": 0}, {"A": 2, "ts": 1}],
        "Y": [{"B": 2, "ts": 1}, {"B": 3, "ts": 4}],
    }
    assert emit_reference(query, tuples) == {1: {(1,): 2}, 4: {(1,): 2, (2,): 1}}
    as_set = SpjUnion(query.branches, Semantics.SET)
    assert emit_reference(as_set, tuples) == {1: {(1,): 1}, 4: {(2,): 1}}


def test_null_is_never_equal() -> None:
    query = written("X(A) Y(B)", "X.A = Y.B", "X.A", semantics="bag")
    tuples = {"X": [{"A": None, "ts": 0}], "Y": [{"B": None, "ts": 0}]}
    assert emit_reference(query, tuples) == {}
