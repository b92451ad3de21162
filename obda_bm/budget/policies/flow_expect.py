"""FlowExpect: the best predetermined sequence of decisions, found anew at every step ([X] §3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from obda_bm.budget.flow import Kept, Payments, best_kept
from obda_bm.budget.join import Candidates, Side
from obda_bm.budget.models import Model, Seen
from obda_bm.budget.pmf import Floats, Ints

COST_SCALE = 10**6
"""Chances are rounded to this fraction, because flows have costs in whole numbers."""


def expected_payments(known: Floats, r_later: Floats, s_later: Floats) -> Payments:
    """What each tuple is expected to pay at each step of the look-ahead.

    `known` has one row per step and one column per candidate: its chance to join then. Row i,
    column j of `r_later` is the chance that R's arrival of step i joins S's of step j, and
    `s_later` the other way round.
    """
    steps = len(known)
    arriving = np.arange(1, steps)
    gains = np.concatenate([known.T, np.triu(r_later, 1)[:-1], np.triu(s_later, 1)[:-1]])
    start = np.concatenate([np.zeros(known.shape[1], np.int64), arriving, arriving])
    whole = np.rint(gains * COST_SCALE).astype(np.int64)
    # A step that pays nothing needs no node: who stays for the next one passes it anyhow.
    owner, step = np.nonzero(whole)
    return Payments(start, owner, step + 1, whole[owner, step])


def best_sequence(payments: Payments, lookahead: int, memory: int) -> Kept:
    """The sequence of decisions with the highest expected benefit ([X] Theorem 2)."""
    return best_kept(payments, lookahead, memory)


class FlowExpect:
    def __init__(self, r: Model, s: Model, lookahead: int, domain: tuple[int, int]) -> None:
        """`domain` is how far around both streams' last values their next ones can lie."""
        self._models = {Side.R: r, Side.S: s}
        self._ahead = np.arange(1, lookahead + 1)
        self._domain = domain
        self._last = {Side.R: np.zeros(1, np.int64), Side.S: np.zeros(1, np.int64)}

    def observe(self, now: int, r: Ints, s: Ints) -> None:
        self._last = {Side.R: r, Side.S: s}

    def scores(self, now: int, candidates: Candidates) -> Floats:
        rows = range(len(candidates.value))
        return np.stack([self._scores_of_run(now, candidates, run) for run in rows])

    def _scores_of_run(self, now: int, candidates: Candidates, run: int) -> Floats:
        side = candidates.side[run]
        memory = len(side) - 2
        known = self._known(now, side, candidates.value[run], run)
        payments = expected_payments(known, *self._later(now, run))
        kept = best_sequence(payments, len(self._ahead), memory)
        # Free places go to what the look-ahead finds most useful of the rest.
        scores: Floats = known.sum(axis=0) / (len(self._ahead) + 1)
        first = payments.owner[kept.paid]
        scores[np.unique(first[first < len(side)])] += 1
        return scores

    def _known(self, now: int, side: npt.NDArray[np.int8], values: Ints, run: int) -> Floats:
        of_r = self._chances(Side.S, now, values, run)
        of_s = self._chances(Side.R, now, values, run)
        return np.where(side == Side.R, of_r, np.where(side == Side.S, of_s, 0.0))

    def _later(self, now: int, run: int) -> tuple[Floats, Floats]:
        lasts = [int(last[run]) for last in self._last.values()]
        values = np.arange(min(lasts) + self._domain[0], max(lasts) + self._domain[1] + 1)
        in_r = self._chances(Side.R, now, values, run)
        in_s = self._chances(Side.S, now, values, run)
        return in_r @ in_s.T, in_s @ in_r.T

    def _chances(self, side: Side, now: int, values: Ints, run: int) -> Floats:
        seen = Seen(now, int(self._last[side][run]))
        return self._models[side].chances(seen, values, self._ahead)
