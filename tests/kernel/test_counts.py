"""Counts are exact beyond 64 bits: in the answer, in the state, and across a restart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pyarrow as pa
import pytest

from obda_bm.analysis import assess
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.verdict import Bounded
from obda_bm.kernel import WEIGHT, KernelState, advance, deserialise, initial_state, serialise
from obda_bm.planning import build_plan
from tests.analysis.queries import written

WIDE = pa.decimal256(76, 0)
HUGE = 2**40


def planned(query: SpjUnion) -> SynopsisPlan:
    verdict = assess(query)
    assert isinstance(verdict, Bounded)
    return build_plan(query, verdict)


def weighted(time: int, value: int, weight: int) -> pa.Table:
    """One row that stands for `weight` equal ones."""
    weights = pa.array([weight], pa.int64() if weight < 2**63 else WIDE)
    return pa.table([[value], [time], weights], names=["A", "ts", WEIGHT])


def chain(semantics: str = "bag") -> SynopsisPlan:
    return planned(
        written("X(A) Y(A) Z(A)", "X < Y, Y < Z, X.A >= 0, X.A <= 9", "X.A", semantics=semantics)
    )


def states(plan: SynopsisPlan, state: KernelState) -> Iterator[KernelState]:
    """The state itself, and as another process reads it."""
    yield state
    yield deserialise(plan, serialise(state), {})


@pytest.mark.parametrize("weight", [1, 3, 2**21, HUGE, 2**63 - 1, 2**63, 2**70])
def test_products_of_three_streams(weight: int) -> None:
    plan = chain()
    nothing = weighted(0, 0, 1).slice(0, 0)
    state = initial_state(plan, {})
    for time, name in enumerate("XY"):
        rows = {"X": nothing, "Y": nothing, "Z": nothing, name: weighted(time, 5, weight)}
        state = advance(plan, state, rows, time + 1).state
    for again in states(plan, state):
        rows = {"X": nothing, "Y": nothing, "Z": weighted(2, 7, weight)}
        results = advance(plan, again, rows, 3).results
        assert [int(c) for c in results.column("count").to_pylist()] == [weight**3]
        fits = weight**3 < 2**63
        assert results.schema.field("count").type == (pa.int64() if fits else WIDE)


def test_totals_pass_the_limit_within_a_batch_and_across_batches() -> None:
    """Running totals cross 2**63 in the middle of a batch; every marker is exact."""
    plan = planned(written("X(A) Y(A)", "X < Y", "", semantics="bag"))
    step = 2**62 - 1
    state = initial_state(plan, {})
    expected, total = {}, 0
    for batch in range(3):
        times = range(10 * batch, 10 * batch + 10)
        x = pa.table([[1] * 10, times, [step] * 10], names=["A", "ts", WEIGHT])
        y = pa.table([[1] * 10, times], names=["A", "ts"])
        done = advance(plan, state, {"X": x, "Y": y}, 10 * batch + 10)
        for time in times:
            if total:
                expected[time] = total
            total += step
        found = {row["time"]: int(row["count"]) for row in done.results.to_pylist()}
        assert found == {t: n for t, n in expected.items() if t in times}
        state = deserialise(plan, serialise(done.state), {})


def test_one_branch_of_a_union_is_wide() -> None:
    """The counts of the other branch become as wide: a table has one type per column."""
    small = written("X(A) Y(A)", "X < Y, X.A = 1", "X.A", semantics="bag").branches
    large = written("X(A) Y(A)", "X < Y, X.A = 2", "X.A", semantics="bag").branches
    query = SpjUnion((*small, *large), chain().semantics)
    plan = planned(query)
    rows = pa.concat_tables([weighted(0, 1, 1), weighted(0, 2, 2**62)])
    one = advance(plan, initial_state(plan, {}), {"X": rows, "Y": rows.slice(0, 0)}, 1)
    done = advance(plan, one.state, {"X": rows.slice(0, 0), "Y": weighted(1, 9, 4)}, 2)
    counts = {row["X.A"]: int(row["count"]) for row in _renamed(done.results).to_pylist()}
    assert counts == {1: 4, 2: 2**64}
    assert done.results.schema.field("count").type == WIDE


def _renamed(results: pa.Table) -> pa.Table:
    return results.rename_columns(["time", "X.A", "count"])


def test_weights_do_not_count_under_set_semantics() -> None:
    plan = chain("set")
    nothing = weighted(0, 0, 1).slice(0, 0)
    state = initial_state(plan, {})
    for time, name in enumerate("XYZ"):
        rows = {"X": nothing, "Y": nothing, "Z": nothing, name: weighted(time, 5, HUGE)}
        done = advance(plan, state, rows, time + 1)
        state = done.state
    assert done.results.column("count").to_pylist() == [1]


def test_counts_fit_again_after_small_numbers() -> None:
    """What is exact is exact for every size around the limits."""
    plan = planned(written("X(A) Y(A)", "X < Y", "", semantics="bag"))
    nothing = weighted(0, 0, 1).slice(0, 0)
    sizes = [2**n + d for n, d in product((31, 32, 61, 62, 63, 64), (-1, 0, 1))]
    for a, b in product(sizes, (1, 2, 3, 2**31, 2**62)):
        one = advance(plan, initial_state(plan, {}), {"X": weighted(0, 1, a), "Y": nothing}, 1)
        done = advance(plan, one.state, {"X": nothing, "Y": weighted(1, 1, b)}, 2)
        assert [int(c) for c in done.results.column("count").to_pylist()] == [a * b]
