"""Which tuples to keep, as a flow of least cost: OPT-offline and FlowExpect's inner problem.

The memory is a flow of `memory` units along a chain of times. A unit may leave the chain at the
time at which a tuple arrives, pass through the times at which it pays, and come back to the chain
at any of them: while it is away, a slot is taken. That is the graph of [X] §3.1 without its
copies of tuples that nobody would keep; its size is linear in the number of payments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obda_bm.budget.pmf import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Payments:
    """`gain[i]` is paid at time `time[i]` for tuple `owner[i]`, if it is kept from `start[owner]`.

    Sorted by owner and then time; all times lie after the owner's start. Gains are whole numbers,
    as solvers want them; small ones keep them quick.
    """

    start: Ints
    owner: Ints
    time: Ints
    gain: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """A graph: node 0 … `horizon` are the times, the others one payment each."""

    tail: Ints
    head: Ints
    capacity: Ints
    cost: Ints
    horizon: int


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The best gain, and which payments it takes."""

    gain: int
    paid: Ints


def arcs_of(payments: Payments, horizon: int, memory: int) -> Arcs:
    """The flow graph over the times 0…`horizon`."""
    n = len(payments.owner)
    node = np.arange(n) + horizon + 1
    first = np.ones(n, bool)
    first[1:] = payments.owner[1:] != payments.owner[:-1]
    before = np.where(first, payments.start[payments.owner], node - 1)
    chain = np.arange(horizon)
    return Arcs(
        tail=np.concatenate([before, node, chain]),
        head=np.concatenate([node, payments.time, chain + 1]),
        capacity=np.concatenate([np.ones(2 * n, np.int64), np.full(horizon, memory)]),
        cost=np.concatenate([-payments.gain, np.zeros(n + horizon, np.int64)]),
        horizon=horizon,
    )


def best_kept(payments: Payments, horizon: int, memory: int) -> Kept:
    """The payments that some choice of at most `memory` tuples at a time can earn, at best."""
    from ortools.graph.python import min_cost_flow  # an extra, slow to import

    arcs = arcs_of(payments, horizon, memory)
    solver = min_cost_flow.SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(arcs.tail, arcs.head, arcs.capacity, arcs.cost)
    solver.set_node_supply(0, memory)
    solver.set_node_supply(horizon, -memory)
    status = solver.solve()
    assert status == solver.OPTIMAL, status
    n = len(payments.owner)
    taken = np.flatnonzero(solver.flows(np.arange(n)))
    return Kept(int(payments.gain[taken].sum()), taken)


def offline_payments(r: Ints, s: Ints, warm_up: int = 0) -> Payments:
    """Who joins whom in two known streams, from time `warm_up` on; R's tuples come first."""
    of_r = _meetings(r, s, warm_up)
    of_s = _meetings(s, r, warm_up)
    owner = np.concatenate([of_r[0], of_s[0] + len(r)])
    time = np.concatenate([of_r[1], of_s[1]])
    start = np.concatenate([np.arange(len(r)), np.arange(len(s))])
    return Payments(start, owner, time, np.ones(len(owner), np.int64))


def optimal_results(r: Ints, s: Ints, memory: int, warm_up: int = 0) -> int:
    """OPT-offline: the most results that any policy could find from `warm_up` on ([X] §5.1)."""
    payments = offline_payments(r, s, warm_up)
    return best_kept(payments, len(r), memory).gain


def _meetings(kept: Ints, coming: Ints, warm_up: int) -> tuple[Ints, Ints]:
    """Positions in `kept` with the later positions in `coming` of the same value."""
    order = np.argsort(coming, kind="stable")
    ranked = coming[order]
    here = np.arange(len(kept))
    # Positions are compared together with values: one search finds the first later occurrence.
    span = len(coming) + 1
    base = min(int(kept.min(initial=0)), int(coming.min(initial=0)))
    keys = (ranked - base) * span + order
    begin = np.searchsorted(keys, (kept - base) * span + np.maximum(here + 1, warm_up))
    end = np.searchsorted(keys, (kept - base + 1) * span)
    counts = np.maximum(end - begin, 0)
    owner = np.repeat(here, counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, order[np.repeat(begin, counts) + within]
