"""Two sides of a join within a budget: what is kept, what it joins, and what was lost.

This is the engine's form of the join: tuples come one at a time, from either side and at rates of
their own, and carry whatever the engine wants back. Steps are counted in arrivals of the partner.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from obda_bm.budget.index import Problem
from obda_bm.budget.join import Side
from obda_bm.budget.online import OnlineModel
from obda_bm.budget.pmf import Floats, Ints
from obda_bm.budget.policies.fitted import Worth
from obda_bm.budget.recall import Ghosts, Joins, Recall, recall

GHOSTS = 1024
"""So many evicted tuples of each side are remembered for the estimate, beside the budget."""
SLACK = 16
"""Where the memory is full, this fraction of it is freed at once, so that scoring is shared."""


class Condition(Enum):
    """How R's code compares with S's."""

    EQUAL = "="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="

    def joins(self, side: Side) -> Joins:
        """Which codes of `side` a code of the other side joins."""
        compare = _COMPARE[self if side is Side.R else _MIRRORED[self]]
        return lambda code, others: np.asarray(compare(others, code))


_COMPARE: dict[Condition, Callable[[Ints, int], object]] = {
    Condition.EQUAL: operator.eq,
    Condition.LESS: operator.lt,
    Condition.AT_MOST: operator.le,
    Condition.GREATER: operator.gt,
    Condition.AT_LEAST: operator.ge,
}
_MIRRORED = {
    Condition.EQUAL: Condition.EQUAL,
    Condition.LESS: Condition.GREATER,
    Condition.AT_MOST: Condition.AT_LEAST,
    Condition.GREATER: Condition.LESS,
    Condition.AT_LEAST: Condition.AT_MOST,
}


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A tuple that is kept: `code` is what it joins by, `deadline` until when it can."""

    side: Side
    code: int
    item: object
    arrival: int
    deadline: int | None


class Store:
    """At most `memory` tuples of both sides; the lowest rates go first."""

    def __init__(self, memory: int, condition: Condition, seed: int) -> None:
        self._memory, self._condition = memory, condition
        self._held: dict[Side, dict[int, list[Held]]] = {Side.R: {}, Side.S: {}}
        self._worth = {side: Worth(OnlineModel(), Problem.JOINING) for side in (Side.R, Side.S)}
        self._arrived = {Side.R: 0, Side.S: 0}
        self._ghosts = {
            side: Ghosts(condition.joins(side), GHOSTS, 2 * seed + side)
            for side in (Side.R, Side.S)
        }
        self.size = self.peak = self.found = 0

    @property
    def evicted(self) -> int:
        return sum(ghosts.evicted for ghosts in self._ghosts.values())

    @property
    def recall(self) -> Recall:
        return recall(self.found, tuple(self._ghosts.values()))

    def meet(self, side: Side, code: int, confirm: Callable[[object], bool]) -> list[object]:
        """The items of the other side that join an arrival; `confirm` checks the rest."""
        self._worth[side].learner.observe(self._arrived[side], code)
        self._arrived[side] += 1
        self._ghosts[side.partner].meet(code, confirm)
        joined = [h.item for h in self._candidates(side.partner, code) if confirm(h.item)]
        self.found += len(joined)
        return joined

    def _candidates(self, side: Side, code: int) -> list[Held]:
        held = self._held[side]
        if self._condition is Condition.EQUAL:
            return held.get(code, [])
        codes = np.fromiter(held, np.int64, len(held))
        joined = codes[self._condition.joins(side)(code, codes)]
        return [one for other in joined.tolist() for one in held[other]]

    def keep(self, side: Side, code: int, item: object, now: int, deadline: int | None) -> None:
        """Keep an arrival if it can still join, and if it deserves it."""
        if deadline is not None and deadline < now:
            return
        arrival = self._arrived[Side.R] + self._arrived[Side.S]
        self._held[side].setdefault(code, []).append(Held(side, code, item, arrival, deadline))
        self.size += 1
        if self.size > self._memory:
            self._make_room(now)
        self.peak = max(self.peak, self.size)

    def _make_room(self, now: int) -> None:
        held = [one for codes in self._held.values() for many in codes.values() for one in many]
        # What can no longer join goes without loss, so it is not counted as evicted.
        alive = [one for one in held if one.deadline is None or one.deadline >= now]
        gone: set[int] = set()
        if len(alive) > self._memory:
            stays = self._memory - self._memory // SLACK
            order = np.argsort(self._scores(alive), kind="stable")
            gone = set(order[: len(alive) - stays].tolist())
        for at in gone:
            self._ghosts[alive[at].side].evict(alive[at].code, alive[at].item)
        self._hold(one for at, one in enumerate(alive) if at not in gone)

    def _hold(self, kept: Iterable[Held]) -> None:
        self._held = {Side.R: {}, Side.S: {}}
        self.size = 0
        for one in kept:
            self._held[one.side].setdefault(one.code, []).append(one)
            self.size += 1

    def _scores(self, held: list[Held]) -> Floats:
        codes = np.array([one.code for one in held])
        in_r = np.array([one.side is Side.R for one in held])
        of_r, of_s = self._worth_to(Side.S, codes), self._worth_to(Side.R, codes)
        if of_r is None or of_s is None:
            return np.array([float(one.arrival) for one in held])
        return np.where(in_r, of_r, of_s)

    def _worth_to(self, partner: Side, codes: Ints) -> Floats | None:
        """Results per step of time: per arrival of the partner, times how often it has one."""
        often = self._arrived[partner] / max(1, sum(self._arrived.values()))
        if self._condition is Condition.EQUAL:
            rates = self._worth[partner].of(codes)
            return None if rates is None else rates * often
        recent = np.sort(self._recent(partner))
        return self._chance(partner, codes, recent) * often if len(recent) else None

    def _recent(self, partner: Side) -> Ints:
        learner = self._worth[partner].learner
        assert isinstance(learner, OnlineModel)
        return learner.recent

    def _chance(self, partner: Side, codes: Ints, recent: Ints) -> Floats:
        """How many of the partner's recent codes each code joins: for comparisons a tail."""
        condition = self._condition if partner is Side.S else _MIRRORED[self._condition]
        match condition:
            case Condition.LESS:
                above = len(recent) - np.searchsorted(recent, codes, side="right")
            case Condition.AT_MOST:
                above = len(recent) - np.searchsorted(recent, codes, side="left")
            case Condition.GREATER:
                above = np.searchsorted(recent, codes, side="left")
            case _:
                above = np.searchsorted(recent, codes, side="right")
        return np.asarray(above / len(recent))
