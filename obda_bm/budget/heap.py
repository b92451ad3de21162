"""Binary heaps of slots that know where each slot stands, so that any slot can be taken out.

A heap is an array: its size first, then the slots. `place[slot]` is the slot's position. `sign` is
1 for the smallest key on top and −1 for the largest.
"""

from __future__ import annotations

from obda_bm.budget.compiled import compiled
from obda_bm.budget.pmf import Ints


@compiled
def push(heap: Ints, place: Ints, key: Ints, sign: int, slot: int) -> None:
    """Put `slot` in; its key is set already."""
    heap[0] += 1
    _rise(heap, place, key, sign, heap[0], slot)


@compiled
def take_out(heap: Ints, place: Ints, key: Ints, sign: int, slot: int) -> None:
    """Remove `slot`, wherever it stands."""
    hole = place[slot]
    last = heap[heap[0]]
    heap[0] -= 1
    if last == slot:
        return
    parent = hole // 2
    if parent >= 1 and sign * key[last] < sign * key[heap[parent]]:
        _rise(heap, place, key, sign, hole, last)
    else:
        _sink(heap, place, key, sign, hole, last)


@compiled
def _rise(heap: Ints, place: Ints, key: Ints, sign: int, hole: int, slot: int) -> None:
    """Settle `slot` at `hole` or above it."""
    wanted = sign * key[slot]
    while hole > 1 and wanted < sign * key[heap[hole // 2]]:
        heap[hole] = heap[hole // 2]
        place[heap[hole]] = hole
        hole //= 2
    heap[hole] = slot
    place[slot] = hole


@compiled
def _sink(heap: Ints, place: Ints, key: Ints, sign: int, hole: int, slot: int) -> None:
    """Settle `slot` at `hole` or below it."""
    size, wanted = heap[0], sign * key[slot]
    while 2 * hole <= size:
        child = 2 * hole
        if child < size and sign * key[heap[child + 1]] < sign * key[heap[child]]:
            child += 1
        if wanted <= sign * key[heap[child]]:
            break
        heap[hole] = heap[child]
        place[heap[hole]] = hole
        hole = child
    heap[hole] = slot
    place[slot] = hole
