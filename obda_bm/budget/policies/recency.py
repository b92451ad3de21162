"""FIFO, LRU and LFU: by arrival, by last use, by number of uses."""

from __future__ import annotations

from obda_bm.budget.join import Candidates
from obda_bm.budget.pmf import Floats, Ints


class Fifo:
    """Discard what arrived first."""

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        """Nothing is learnt."""

    def scores(self, now: int, candidates: Candidates) -> Floats:
        return candidates.arrival.astype(float)


class Lru:
    """Discard what has not joined for the longest time."""

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        """Nothing is learnt."""

    def scores(self, now: int, candidates: Candidates) -> Floats:
        return candidates.used.astype(float)


class Lfu:
    """Discard what has joined least often since it arrived; of equals, the oldest."""

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        """Nothing is learnt."""

    def scores(self, now: int, candidates: Candidates) -> Floats:
        return candidates.hits.astype(float)
