"""Branches that keep the same keep it once."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from obda_bm.analysis import assess
from obda_bm.execution.reference import emit_reference
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.terms import ColumnRef, columns_of, rename
from obda_bm.ir.verdict import Bounded
from obda_bm.kernel import initial_state
from obda_bm.planning import build_plan
from tests.analysis.queries import written
from tests.kernel.streams import random_cuts, timestamps
from tests.kernel.test_differential import run_kernel
from tests.kernel.test_memory import streams

_BETWEEN = "X.A >= 1, X.A <= 3, X < Y"


def union(*wheres: str, semantics: str = "bag", over: str = "X(A) Y(B)") -> SpjUnion:
    queries = [written(over, where, "X.A", semantics=semantics) for where in wheres]
    return SpjUnion(tuple(b for q in queries for b in q.branches), queries[0].semantics)


@pytest.mark.parametrize(
    ("query", "stores", "units"),
    [
        (union(f"{_BETWEEN}, Y.B > 5", f"{_BETWEEN}, Y.B < 3"), 1, 3),
        (union(f"{_BETWEEN}, Y.B > 5", f"{_BETWEEN}, Y.B < 3, X.A <> 2"), 2, 5),
        (union(f"{_BETWEEN}, X.A < Y.B", f"{_BETWEEN}, X.A = Y.B", semantics="set"), 1, 6),
    ],
    ids=["same filters", "other filters", "set"],
)
def test_equal_synopses_have_one_store(query: SpjUnion, stores: int, units: int) -> None:
    verdict = assess(query)
    assert isinstance(verdict, Bounded)
    plan = build_plan(query, verdict)
    assert len(initial_state(plan, {}).stores()) == stores
    rng = Random("sharing")
    tuples = streams(rng, query, 40)
    times = timestamps(query, tuples)
    run = run_kernel(query, verdict, tuples, random_cuts(rng, times))
    assert run.emitted == emit_reference(query, tuples)
    assert run.peak == units


def test_names_do_not_matter() -> None:
    one = written("X(A) Y(B)", "X < Y, X.A >= 1, X.A <= 3, Y.B = 1", "X.A", semantics="bag")
    (branch,) = written(
        "X(A) Y(B)", "X < Y, X.A >= 1, X.A <= 3, Y.B = 2", "X.A", semantics="bag"
    ).branches

    renaming = {
        c: ColumnRef(f"other_{c.occurrence}", c.column)
        for p in branch.predicates
        for c in columns_of(p)
    }
    other = replace(
        branch,
        occurrences=tuple(replace(o, alias=f"other_{o.alias}") for o in branch.occurrences),
        predicates=tuple(rename(p, renaming) for p in branch.predicates),
        projection=tuple(replace(o, term=renaming[o.term]) for o in branch.projection),  # type: ignore[index]
    )
    query = SpjUnion((*one.branches, other), one.semantics)
    verdict = assess(query)
    assert isinstance(verdict, Bounded)
    assert len(initial_state(build_plan(query, verdict), {}).stores()) == 1
