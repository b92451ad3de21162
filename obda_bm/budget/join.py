"""Joining two streams in a fixed memory: the simulator that all policies share ([X] §3.3).

All runs of an experiment advance together: arrays have one row per run. At each step the two
arrivals meet what is kept; then they stand beside it as candidates, and the policy's two lowest
scores go. Arrivals of one time do not count as joined: they meet whatever is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from obda_bm.budget.pmf import Floats, Ints


class Side(IntEnum):
    """Which stream a tuple came from; EMPTY is a slot that holds none."""

    R = 0
    S = 1
    EMPTY = 2

    @property
    def partner(self) -> Side:
        return Side(1 - self)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Tuples that may be kept: a row per run, a column per slot; the newest come last.

    `used` is when a tuple last joined (or arrived), `hits` how often it has joined.
    """

    side: npt.NDArray[np.int8]
    value: Ints
    arrival: Ints
    used: Ints
    hits: Ints

    def __len__(self) -> int:
        return int(self.side.shape[1])


class Policy(Protocol):
    """Says how much each candidate deserves to stay; it sees the past and its own state only."""

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        """Learn the arrivals at `now`, one per run."""
        ...

    def scores(self, now: int, candidates: Candidates) -> Floats:
        """One score per candidate; the lowest go. Empty slots may score anything."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What happened at one time: results found, and what is kept afterwards."""

    now: int
    found: Ints
    kept: Candidates


def join(r: Ints, s: Ints, memory: int, policy: Policy) -> Iterator[Step]:
    """Join the streams `r` and `s`, one row per run, keeping at most `memory` tuples."""
    kept = _nothing(len(r), memory)
    for now in range(r.shape[1]):
        arrived = np.stack([r[:, now], s[:, now]], axis=1)
        policy.observe(now, arrived[:, 0], arrived[:, 1])
        found, kept = _meet(now, arrived, kept)
        candidates = _with_arrivals(now, arrived, kept)
        scores = policy.scores(now, candidates)
        kept = _best(candidates, scores, memory)
        yield Step(now, found, kept)


def results(r: Ints, s: Ints, memory: int, policy: Policy, warm_up: int) -> Ints:
    """How many results each run finds from time `warm_up` on."""
    total = np.zeros(len(r), np.int64)
    for step in join(r, s, memory, policy):
        if step.now >= warm_up:
            total += step.found
    return total


def _nothing(runs: int, memory: int) -> Candidates:
    zeros = np.zeros((runs, memory), np.int64)
    return Candidates(np.full((runs, memory), Side.EMPTY, np.int8), zeros, zeros, zeros, zeros)


def _meet(now: int, arrived: Ints, kept: Candidates) -> tuple[Ints, Candidates]:
    """The results of the arrivals with what is kept, and what is kept, marked as used."""
    wanted = np.where(kept.side == Side.R, arrived[:, 1:], arrived[:, :1])
    joined = (kept.value == wanted) & (kept.side != Side.EMPTY)
    used = np.where(joined, now, kept.used)
    marked = Candidates(kept.side, kept.value, kept.arrival, used, kept.hits + joined)
    return joined.sum(axis=1), marked


def _with_arrivals(now: int, arrived: Ints, kept: Candidates) -> Candidates:
    runs = len(arrived)
    time = np.full((runs, 2), now)
    side = np.tile(np.array([Side.R, Side.S], np.int8), (runs, 1))
    return Candidates(
        np.concatenate([kept.side, side], axis=1),
        np.concatenate([kept.value, arrived], axis=1),
        np.concatenate([kept.arrival, time], axis=1),
        np.concatenate([kept.used, time], axis=1),
        np.concatenate([kept.hits, np.zeros_like(time)], axis=1),
    )


def _best(candidates: Candidates, scores: Floats, memory: int) -> Candidates:
    """The `memory` highest scores, in their old order; of equal ones, the newest stay."""
    ranked = np.where(candidates.side == Side.EMPTY, -np.inf, scores)
    stay = np.sort(np.argsort(ranked, axis=1, kind="stable")[:, -memory:], axis=1)
    rows = np.arange(len(stay))[:, None]
    return Candidates(
        candidates.side[rows, stay],
        candidates.value[rows, stay],
        candidates.arrival[rows, stay],
        candidates.used[rows, stay],
        candidates.hits[rows, stay],
    )
