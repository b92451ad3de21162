"""Joining at speed: eviction in O(log k) where the index is unimodal.

All tuples of a side move alike relative to the partner's anchor, so their order by value never
changes; and where the index first rises and then falls with the offset, the lowest of any set of
tuples is its smallest or its largest value. The victim is at one of four extremes: the smallest and
the largest of R and of S, which heaps keep at hand. Partners are found in chains by value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obda_bm.budget.compiled import compiled
from obda_bm.budget.heap import push, take_out
from obda_bm.budget.index import OffsetTable, is_unimodal
from obda_bm.budget.pmf import Floats, Ints

NOBODY = -1


class Hoard(NamedTuple):
    """What is kept, in arrays by slot; rows of two-dimensional ones are for R and S.

    `chain` leads from a bucket to its first slot and `after` on from slot to slot; `free` is a
    stack of free slots, its height first.
    """

    value: Ints
    side: Ints
    smallest: Ints
    largest: Ints
    place: Ints
    chain: Ints
    after: Ints
    before: Ints
    free: Ints


class Scores(NamedTuple):
    """Two tables end to end, that against S first: where each begins, and its lowest offset."""

    table: Floats
    begin: Ints
    low: Ints


def empty_hoard(memory: int) -> Hoard:
    """Room for `memory` tuples and the two that have just come."""
    slots = memory + 2
    buckets = 1 << max(4, (2 * slots - 1).bit_length())
    heap = np.zeros((2, slots + 1), np.int64)
    free = np.arange(slots, -1, -1)
    free[0] = slots
    return Hoard(
        value=np.zeros(slots, np.int64),
        side=np.zeros(slots, np.int64),
        smallest=heap,
        largest=heap.copy(),
        place=np.zeros((2, slots), np.int64),
        chain=np.full((2, buckets), NOBODY),
        after=np.full(slots, NOBODY),
        before=np.full(slots, NOBODY),
        free=free,
    )


def scores_of(against_s: OffsetTable, against_r: OffsetTable) -> Scores:
    """The indices of R's tuples, which wait for S, and of S's, which wait for R."""
    if not (is_unimodal(against_s.scores) and is_unimodal(against_r.scores)):
        raise ValueError("the lowest index is at an extreme only where indices are unimodal")
    tables = (against_s.scores, against_r.scores)
    return Scores(
        np.concatenate(tables),
        np.array([0, len(tables[0]), len(tables[0]) + len(tables[1])]),
        np.array([against_s.low, against_r.low]),
    )


@compiled
def advance(
    hoard: Hoard, scores: Scores, arrivals: Ints, anchors: Ints, memory: int, evicted: Ints
) -> int:
    """Join a batch of arrivals, one row (R's and S's value) per step; return the results found.

    `anchors[t]` says where S and R stand at that step. `evicted` receives a row per eviction: the
    side and the value; its first row holds their number.
    """
    found = 0
    for step in range(len(arrivals)):
        found += _partners(hoard, 1, arrivals[step, 0]) + _partners(hoard, 0, arrivals[step, 1])
        _insert(hoard, 0, arrivals[step, 0])
        _insert(hoard, 1, arrivals[step, 1])
        while hoard.smallest[0, 0] + hoard.smallest[1, 0] > memory:
            slot = _victim(hoard, scores, anchors[step])
            evicted[0, 0] += 1
            evicted[evicted[0, 0], 0] = hoard.side[slot]
            evicted[evicted[0, 0], 1] = hoard.value[slot]
            _remove(hoard, slot)
    return found


@compiled
def _partners(hoard: Hoard, side: int, value: int) -> int:
    """How many tuples of `side` have the value."""
    count = 0
    slot = hoard.chain[side, _bucket(hoard, value)]
    while slot >= 0:
        if hoard.value[slot] == value:
            count += 1
        slot = hoard.after[slot]
    return count


@compiled
def _bucket(hoard: Hoard, value: int) -> int:
    # Values of a trend are neighbours, so their lowest bits spread them evenly; the others help
    # where values are multiples of something.
    mask: int = hoard.chain.shape[1] - 1
    return (value ^ (value >> 17)) & mask


@compiled
def _insert(hoard: Hoard, side: int, value: int) -> None:
    slot = hoard.free[hoard.free[0]]
    hoard.free[0] -= 1
    hoard.value[slot] = value
    hoard.side[slot] = side
    push(hoard.smallest[side], hoard.place[0], hoard.value, 1, slot)
    push(hoard.largest[side], hoard.place[1], hoard.value, -1, slot)
    bucket = _bucket(hoard, value)
    first = hoard.chain[side, bucket]
    hoard.after[slot], hoard.before[slot] = first, -1
    if first >= 0:
        hoard.before[first] = slot
    hoard.chain[side, bucket] = slot


@compiled
def _remove(hoard: Hoard, slot: int) -> None:
    side = hoard.side[slot]
    take_out(hoard.smallest[side], hoard.place[0], hoard.value, 1, slot)
    take_out(hoard.largest[side], hoard.place[1], hoard.value, -1, slot)
    before, after = hoard.before[slot], hoard.after[slot]
    if before >= 0:
        hoard.after[before] = after
    else:
        hoard.chain[side, _bucket(hoard, hoard.value[slot])] = after
    if after >= 0:
        hoard.before[after] = before
    hoard.free[0] += 1
    hoard.free[hoard.free[0]] = slot


@compiled
def _victim(hoard: Hoard, scores: Scores, anchor: Ints) -> int:
    """The slot of the lowest score, at one of the four extremes."""
    victim, lowest = -1, np.inf
    for side in range(2):
        if hoard.smallest[side, 0] == 0:
            continue
        for slot in (hoard.smallest[side, 1], hoard.largest[side, 1]):
            score = _score(scores, side, hoard.value[slot] - anchor[side])
            if score < lowest:
                victim, lowest = slot, score
    return victim


@compiled
def _score(scores: Scores, side: int, offset: int) -> float:
    begin, end = scores.begin[side], scores.begin[side + 1]
    index = begin + offset - scores.low[side]
    nearest = min(max(index, begin), end - 1)
    score: float = scores.table[nearest] - abs(index - nearest)
    return score
