"""Caching rows of a relation for a stream of references, and its reduction to joining ([X] §2)."""

from __future__ import annotations

import numpy as np

from obda_bm.budget.join import Candidates, Policy, Side
from obda_bm.budget.pmf import Floats, Ints


def cache_hits(references: Ints, memory: Ints, policy: Policy) -> Ints:
    """How many of each run's references hit a cache of `memory[run]` rows.

    One row of `references` per run. On a miss the row is fetched and stands as a candidate beside
    what is cached; the lowest score goes, the fetched one too if it comes last.
    """
    cached = _empty(len(references), int(memory.max()))
    hits = np.zeros(len(references), np.int64)
    for now in range(references.shape[1]):
        wanted = references[:, now]
        policy.observe(now, wanted, wanted)
        found = (cached.value == wanted[:, None]) & (cached.side == Side.S)
        hit = found.any(axis=1)
        hits += hit
        cached.used[found] = now
        cached.hits[found] += 1
        _fetch(now, wanted, ~hit, cached, memory, policy)
    return hits


def _empty(runs: int, memory: int) -> Candidates:
    """A slot more than the memory: the last one holds the row just fetched."""
    side = np.full((runs, memory + 1), Side.EMPTY, np.int8)
    value, arrival, used, hits = (np.zeros(side.shape, np.int64) for _ in range(4))
    return Candidates(side, value, arrival, used, hits)


def _fetch(
    now: int,
    wanted: Ints,
    missed: np.ndarray[tuple[int], np.dtype[np.bool_]],
    cached: Candidates,
    memory: Ints,
    policy: Policy,
) -> None:
    """Put what was missed into a free slot, or in place of the lowest score."""
    if not missed.any():
        return
    slots = (
        (cached.side, Side.S),
        (cached.value, wanted),
        (cached.arrival, now),
        (cached.used, now),
        (cached.hits, 0),
    )
    for column, entry in slots:
        column[missed, -1] = entry[missed] if isinstance(entry, np.ndarray) else entry
    victim = _victims(policy.scores(now, cached), cached, memory)
    rows = np.flatnonzero(missed)
    for column, _ in slots:
        column[rows, victim[rows]] = column[rows, -1]
    cached.side[:, -1] = Side.EMPTY


def _victims(scores: Floats, cached: Candidates, memory: Ints) -> Ints:
    """The slot that the fetched row takes: a free one, or that of the lowest score."""
    width = len(cached)
    occupied = cached.side != Side.EMPTY
    lowest = np.where(occupied, scores, np.inf).argmin(axis=1)
    free = (occupied[:, :-1].sum(axis=1) < memory) & (~occupied[:, :-1]).any(axis=1)
    first_free = np.where(free, (~occupied).argmax(axis=1), width - 1)
    return np.where(free, first_free, lowest)


def reduce_to_joining(references: Ints) -> tuple[Ints, Ints]:
    """Streams R and S whose join has a result for every hit ([X] §2 and Theorem 1).

    The i-th reference to v becomes (v, i−1) in R, and the row it supplies (v, i) in S; pairs are
    numbered, equal pairs equally.

    >>> r, s = reduce_to_joining(np.array([7, 8, 7, 9, 7]))
    >>> bool(r[2] == s[0]), bool(r[4] == s[2]), len(np.intersect1d(r, s))
    (True, True, 2)
    """
    _, kind = np.unique(references, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    ranked = kind[order]
    begin = np.searchsorted(ranked, ranked)
    occurrence = np.empty(len(references), np.int64)
    occurrence[order] = np.arange(len(references)) - begin
    number = kind * (len(references) + 1) + occurrence
    return number, number + 1


def next_use(references: Ints) -> Ints:
    """When the value at each time comes again; the length of the stream if it does not.

    >>> next_use(np.array([7, 8, 7])).tolist()
    [2, 3, 3]
    """
    order = np.argsort(references, kind="stable")
    ranked = references[order]
    following = np.full(len(references), len(references))
    again = ranked[1:] == ranked[:-1]
    following[order[:-1][again]] = order[1:][again]
    return following
