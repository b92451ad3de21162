"""Which part of a bound each synopsis has: the verdict bounds states, the plan lays them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obda_bm.ir.plan import BranchPlan, SynopsisPlan
from obda_bm.ir.verdict import State


@dataclass(frozen=True, slots=True)
class BranchShares:
    """The states of the bound, by synopsis; `room` belongs to none."""

    synopses: tuple[tuple[State, ...], ...]
    room: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Shares:
    """Every state of a bound exactly once, so that the shares add up to it."""

    branches: tuple[BranchShares, ...]
    emitted: tuple[State, ...]


def share_bound(plan: SynopsisPlan) -> Shares:
    emitted = tuple(state for state in plan.bound.states if not state.streams)
    kept = [state for state in plan.bound.states if state.streams]
    return Shares(
        tuple(
            _share(branch, [state for state in kept if state.branch == i])
            for i, branch in enumerate(plan.branches)
        ),
        emitted,
    )


def _share(branch: BranchPlan, states: list[State]) -> BranchShares:
    owners = [next(_owners(branch, state), None) for state in states]
    pairs = list(zip(states, owners, strict=True))
    return BranchShares(
        tuple(
            tuple(state for state, owner in pairs if owner == i)
            for i in range(len(branch.synopses))
        ),
        tuple(state for state, owner in pairs if owner is None),
    )


def _owners(branch: BranchPlan, state: State) -> Iterator[int]:
    """The synopses that `state` may bound, the likeliest first.

    Streams that end are counted apart by the verdict, tuple by tuple, so a synopsis over one and
    an infinite stream is bounded by the state of the latter. Streams with equal timestamps are kept
    together by the plan, apart by the verdict where their tuples are kept as they are.
    """
    streams = frozenset(state.streams)
    for ended in (False, True):
        for i, synopsis in enumerate(branch.synopses):
            inputs = [branch.inputs[j] for j in synopsis.inputs]
            asked = [given for given in inputs if not ended or given.end is None]
            if streams == {scan.alias for given in asked for scan in given.scans}:
                yield i
    for i, synopsis in enumerate(branch.synopses):
        if len(synopsis.inputs) == 1:
            (only,) = synopsis.inputs
            if streams < {scan.alias for scan in branch.inputs[only].scans}:
                yield i
