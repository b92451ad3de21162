"""LFD: discard what is not referenced for the longest time; for references known in advance."""

from __future__ import annotations

import numpy as np

from obda_bm.budget.caching import next_use
from obda_bm.budget.join import Candidates
from obda_bm.budget.pmf import Floats, Ints


class Lfd:
    """Longest forward distance, the optimum of caching ([X] §5.1, [Belady66])."""

    def __init__(self, references: Ints) -> None:
        self._next = np.stack([next_use(run) for run in references])

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        """All is known already."""

    def scores(self, now: int, candidates: Candidates) -> Floats:
        # What was used last at time u comes again at the next use of the reference at u.
        rows = np.arange(len(candidates.used))[:, None]
        return -self._next[rows, candidates.used].astype(float)
