"""OPT-offline against exhaustive search and against another solver."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from obda_bm.budget.flow import arcs_of, best_kept, offline_payments, optimal_results

STREAM = st.lists(st.integers(0, 3), min_size=1, max_size=6)


def exhaustive(r: list[int], s: list[int], memory: int, warm_up: int) -> int:
    """The most results of any sequence of decisions, tried one by one."""

    @cache
    def best(now: int, kept: frozenset[tuple[str, int]]) -> int:
        if now == len(r):
            return 0
        found = sum((s[now] == r[at]) if side == "r" else (r[now] == s[at]) for side, at in kept)
        pool = [*kept, ("r", now), ("s", now)]
        choices = combinations(pool, min(memory, len(pool)))
        after = max(best(now + 1, frozenset(choice)) for choice in choices)
        return found * (now >= warm_up) + after

    return best(0, frozenset())


@settings(max_examples=60)
@given(STREAM, STREAM, st.integers(1, 3), st.integers(0, 3))
def test_equals_exhaustive_search(r: list[int], s: list[int], memory: int, warm_up: int) -> None:
    length = min(len(r), len(s))
    r, s = r[:length], s[:length]
    found = optimal_results(np.array(r), np.array(s), memory, warm_up)
    assert found == exhaustive(r, s, memory, warm_up)


def test_equals_networkx() -> None:
    rng = np.random.default_rng(2)
    for memory in (1, 3, 8):
        r, s = rng.integers(0, 12, (2, 60))
        payments = offline_payments(r, s)
        arcs = arcs_of(payments, len(r), memory)
        graph = nx.MultiDiGraph()
        graph.add_node(0, demand=-memory)
        graph.add_node(len(r), demand=memory)
        columns = (arcs.tail, arcs.head, arcs.capacity, arcs.cost)
        for tail, head, capacity, cost in zip(*(c.tolist() for c in columns), strict=True):
            graph.add_edge(tail, head, capacity=capacity, weight=cost)
        cost, _ = nx.network_simplex(graph)
        assert best_kept(payments, len(r), memory).gain == -cost
