"""LHD: discard the least hit density, hits per step of place taken, learnt by age ([BCS18])."""

from __future__ import annotations

import numpy as np

from obda_bm.budget.pmf import Floats

CLASSES = 4
"""Tuples are told apart by how often they have joined, up to this."""
AGES = 512
LEARN_EVERY = 500
DECAY = 0.9


class Lhd:
    """Time is counted in admissions; the age of a tuple starts anew when it joins."""

    def __init__(self, memory: int) -> None:
        # Ages are counted coarsely enough for a tuple to live through a few memories.
        self._coarse = max(1, 8 * memory // AGES)
        self._clock = 0
        self._held: dict[int, tuple[int, int]] = {}
        self._hits = np.zeros((CLASSES, AGES))
        self._leaves = np.zeros((CLASSES, AGES))
        # Before anything is learnt, the younger and the oftener used, the better.
        self._density: Floats = np.add.outer(np.arange(CLASSES) * AGES, -np.arange(AGES)) + 0.0

    def admit(self, key: int, value: int) -> None:
        self._clock += 1
        self._held[key] = (self._clock, 0)
        if self._clock % LEARN_EVERY == 0:
            self._learn()

    def touch(self, key: int) -> None:
        since, kind = self._held[key]
        self._hits[kind, self._age(since)] += 1
        self._held[key] = (self._clock, min(kind + 1, CLASSES - 1))

    def evict(self) -> int:
        victim = min(self._held, key=self._density_of)
        since, kind = self._held.pop(victim)
        self._leaves[kind, self._age(since)] += 1
        return victim

    def _age(self, since: int) -> int:
        return min((self._clock - since) // self._coarse, AGES - 1)

    def _density_of(self, key: int) -> float:
        since, kind = self._held[key]
        return float(self._density[kind, self._age(since)])

    def _learn(self) -> None:
        """From age a on: the hits to come over the place still to be taken."""
        ends = self._hits + self._leaves
        hits = np.cumsum(self._hits[:, ::-1], axis=1)[:, ::-1]
        alive = np.cumsum(ends[:, ::-1], axis=1)[:, ::-1]
        place = np.cumsum(alive[:, ::-1], axis=1)[:, ::-1]
        self._density = (hits + 1e-6) / (place + 1e-3)
        self._hits *= DECAY
        self._leaves *= DECAY
