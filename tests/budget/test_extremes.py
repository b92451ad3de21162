"""The fast join against plain ones: what it finds, and that it evicts the lowest index."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obda_bm.budget.experiments import FLOOR, ROOF, TOWER, Trends, draw, measure, rate
from obda_bm.budget.extremes import advance, empty_hoard, scores_of
from obda_bm.budget.heap import push, take_out
from obda_bm.budget.incremental import backward_table, pooled_rate_table
from obda_bm.budget.index import RATE, OffsetTable, tabulate
from obda_bm.budget.models import LinearTrend
from obda_bm.budget.pmf import bounded_normal, uniform
from obda_bm.budget.survival import Exponential


def anchors(given: Trends, length: int) -> np.ndarray:
    """Where S and R stand: R's tuples wait for S, S's for R."""
    times = np.arange(length)
    return np.stack([given.s.trend(times), given.r.trend(times)], axis=1)


def run(given: Trends, r: np.ndarray, s: np.ndarray, memory: int) -> tuple[int, list[list[int]]]:
    against_s, against_r = pooled_rate_table(given.s), pooled_rate_table(given.r)
    evicted = np.zeros((2 * len(r) + 1, 2), np.int64)
    arrivals = np.stack([r, s], axis=1)
    where = anchors(given, len(r))
    scores = scores_of(against_s, against_r)
    found = advance(empty_hoard(memory), scores, arrivals, where, memory, evicted)
    return found, evicted[1 : evicted[0, 0] + 1].tolist()


@pytest.mark.parametrize("given", [TOWER, ROOF, FLOOR], ids=lambda g: g.name)
@pytest.mark.parametrize("memory", [1, 10, 40])
def test_replayed_tuple_by_tuple(given: Trends, memory: int) -> None:
    """Every victim has the lowest index of all, and the results are those of what was kept."""
    runs = draw(given, 1, seed=4, length=400)
    r, s = runs.r[0], runs.s[0]
    found, evicted = run(given, r, s, memory)
    tables = (pooled_rate_table(given.s), pooled_rate_table(given.r))
    where, victims = anchors(given, 400), iter(evicted)
    kept, results = Counter[tuple[int, int]](), 0
    for now in range(400):
        results += kept[1, int(r[now])] + kept[0, int(s[now])]
        kept[0, int(r[now])] += 1
        kept[1, int(s[now])] += 1
        while kept.total() > memory:
            side, value = next(victims)
            assert kept[side, value] > 0
            scores = {key: score(tables, where[now], *key) for key in +kept}
            assert scores[side, value] <= min(scores.values()) + 1e-12  # rounding aside
            kept[side, value] -= 1
    assert found == results
    assert next(victims, None) is None


def score(
    tables: tuple[OffsetTable, OffsetTable], where: np.ndarray, side: int, value: int
) -> float:
    return float(tables[side].look_up(np.array([value - where[side]]))[0])


@pytest.mark.parametrize("given", [TOWER, ROOF, FLOOR], ids=lambda g: g.name)
def test_finds_as_much_as_the_simulator(given: Trends) -> None:
    """Ties are broken otherwise, so that the counts agree but for chance."""
    runs = draw(given, 8, seed=1, length=3000)
    slow = measure(runs, 10, rate).sum()
    fast = sum(run(given, r, s, 10)[0] for r, s in zip(runs.r, runs.s, strict=True))
    early = sum(run(given, r[:200], s[:200], 10)[0] for r, s in zip(runs.r, runs.s, strict=True))
    assert fast - early >= 0.98 * slow


@pytest.mark.parametrize("noise", [uniform(10), bounded_normal(2, 15), bounded_normal(5, 15)])
def test_pooled_rates_are_the_rate_index(noise: object) -> None:
    partner = LinearTrend(noise)
    pooled, defined = pooled_rate_table(partner), tabulate(partner, RATE)
    shared = len(pooled.scores)
    assert pooled.low == defined.low
    assert pooled.scores == pytest.approx(defined.scores[:shared], abs=1e-12)


def test_refuses_an_index_with_two_peaks() -> None:
    bumpy = OffsetTable(0, np.array([0.0, 1.0, 0.0, 1.0]))
    smooth = backward_table(LinearTrend(uniform(3)), Exponential(4.0))
    with pytest.raises(ValueError, match="unimodal"):
        scores_of(bumpy, smooth)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(-5, 5)), max_size=60),
    st.sampled_from([1, -1]),
)
def test_heap_against_a_set(moves: list[tuple[int, int]], sign: int) -> None:
    """Slots go in when they are out and out when they are in; the top is always the least."""
    heap, place, key = np.zeros(11, np.int64), np.zeros(10, np.int64), np.zeros(10, np.int64)
    inside: set[int] = set()
    for slot, value in moves:
        if slot in inside:
            take_out(heap, place, key, sign, slot)
        else:
            key[slot] = value
            push(heap, place, key, sign, slot)
        inside ^= {slot}
        assert heap[0] == len(inside)
        if inside:
            assert sign * key[heap[1]] == min(sign * key[i] for i in inside)
