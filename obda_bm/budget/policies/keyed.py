"""Policies that follow each tuple by name, such as queues: how they take part in a join."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from obda_bm.budget.join import Candidates, Side
from obda_bm.budget.pmf import Floats, Ints


class Replacement(Protocol):
    """Decides which key goes; when one must go is not its business."""

    def admit(self, key: int, value: int) -> None:
        """A new key is held; `value` is the one by which it joins."""
        ...

    def touch(self, key: int) -> None:
        """The key has just joined."""
        ...

    def evict(self) -> int:
        """Give up one of the keys."""
        ...


class Keyed:
    """Runs one `Replacement` per run; a tuple's key is made of its arrival and side.

    A cached row that is fetched again is another tuple, as in [X] §2.
    """

    def __init__(self, make: Callable[[int], Replacement], memory: int) -> None:
        self._make, self._memory = make, memory
        self._runs: list[tuple[Replacement, dict[int, int]]] = []

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        """All that matters is seen in the candidates."""

    def scores(self, now: int, candidates: Candidates) -> Floats:
        keys = 2 * candidates.arrival + candidates.side
        scores = np.ones(keys.shape)
        while len(self._runs) < len(keys):
            self._runs.append((self._make(self._memory), {}))
        for run, (replacement, uses) in enumerate(self._runs):
            _tell(replacement, uses, candidates, run)
            gone = [replacement.evict() for _ in range(len(uses) - self._memory)]
            for key in gone:
                del uses[key]
            scores[run, np.isin(keys[run], gone)] = 0.0
        return scores


def _tell(replacement: Replacement, uses: dict[int, int], candidates: Candidates, run: int) -> None:
    """Tell `replacement` what has come and what has joined; `uses` is what it was told before."""
    for slot in np.flatnonzero(candidates.side[run] != Side.EMPTY).tolist():
        key = 2 * int(candidates.arrival[run, slot]) + int(candidates.side[run, slot])
        hits = int(candidates.hits[run, slot])
        if key not in uses:
            replacement.admit(key, int(candidates.value[run, slot]))
        elif hits > uses[key]:
            replacement.touch(key)
        uses[key] = hits
