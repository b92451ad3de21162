"""A plan in words: one reading of it, for text, JSON and pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from obda_bm.ir.plan import BranchPlan, Input, Memory, Scan, Synopsis, SynopsisPlan
from obda_bm.ir.plan_words import Words
from obda_bm.ir.spj import Output, Semantics
from obda_bm.ir.terms import ColumnRef
from obda_bm.ir.verdict import Bound, State


@dataclass(frozen=True, slots=True)
class InputOutline:
    """What arrives at one timestamp, with the static rows it is joined with."""

    name: str
    streams: tuple[str, ...]
    statics: tuple[str, ...]
    filters: tuple[str, ...]
    joins: tuple[str, ...]
    last: str | None  # the time after which nothing arrives


@dataclass(frozen=True, slots=True)
class KeyOutline:
    """A key column; `domain` and `values` are what the bound knows of it."""

    column: str
    domain: str | None = None
    values: int | None = None
    stored_as: str | None = None  # the clamp: what lies beyond is alike


@dataclass(frozen=True, slots=True)
class StateOutline:
    """A synopsis, numbered through the plan; `size` is its part of the bound."""

    number: int
    inputs: tuple[str, ...]
    key: tuple[KeyOutline, ...]
    values: tuple[str, ...]
    forgets: tuple[str, ...]
    size: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class StepOutline:
    """New tuples of one timestamp meet older states; `target` is what they fill, None emits."""

    new: tuple[str, ...]
    old: tuple[int, ...]
    joins: tuple[str, ...]
    target: int | None


@dataclass(frozen=True, slots=True)
class BranchOutline:
    inputs: tuple[InputOutline, ...]
    states: tuple[StateOutline, ...]
    steps: tuple[StepOutline, ...]
    projection: tuple[str, ...]

    def filling(self, state: StateOutline) -> tuple[StepOutline, ...]:
        return tuple(step for step in self.steps if step.target == state.number)

    def reading(self, state: StateOutline) -> tuple[StepOutline, ...]:
        return tuple(step for step in self.steps if state.number in step.old)

    @property
    def emitting(self) -> tuple[StepOutline, ...]:
        return tuple(step for step in self.steps if step.target is None)


@dataclass(frozen=True, slots=True)
class PlanOutline:
    semantics: Semantics
    branches: tuple[BranchOutline, ...]
    memory: Memory
    emitted: tuple[State, ...]
    bound: Bound


def outline(plan: SynopsisPlan) -> PlanOutline:
    """The plan, read once."""
    first = 1
    branches = []
    for branch in plan.branches:
        branches.append(_branch(branch, first, plan.semantics))
        first += len(branch.synopses)
    return PlanOutline(plan.semantics, tuple(branches), plan.emitted, plan.emitted_size, plan.bound)


def _branch(branch: BranchPlan, first: int, semantics: Semantics) -> BranchOutline:
    words = Words(branch)
    states = tuple(
        _state(words, synopsis, first + i, semantics) for i, synopsis in enumerate(branch.synopses)
    )
    steps = tuple(
        StepOutline(
            tuple(branch.inputs[i].name for i in step.new),
            tuple(first + i for i in step.old),
            tuple(map(words.predicate, step.joins)),
            None if step.target is None else first + step.target,
        )
        for step in branch.steps
    )
    inputs = tuple(_input(words, given) for given in branch.inputs)
    return BranchOutline(inputs, states, steps, _projection(branch.projection))


def _projection(outputs: Iterable[Output]) -> tuple[str, ...]:
    return tuple(
        str(o.term)
        if isinstance(o.term, ColumnRef) and o.term.column == o.name
        else f"{o.term} AS {o.name}"
        for o in outputs
    )


def _input(words: Words, given: Input) -> InputOutline:
    scans = (*given.scans, *given.statics)
    time = given.scans[0].relation.time
    assert time is not None
    return InputOutline(
        given.name,
        tuple(map(_named, given.scans)),
        tuple(map(_named, given.statics)),
        tuple(dict.fromkeys(text for scan in scans for text in words.filters(scan))),
        tuple(map(words.predicate, given.joins)),
        None if given.end is None else given.scans[0].relation.column(time).type.literal(given.end),
    )


def _named(scan: Scan) -> str:
    name = scan.relation.name
    return name if name == scan.alias else f"{name} {scan.alias}"


def _state(words: Words, synopsis: Synopsis, number: int, semantics: Semantics) -> StateOutline:
    known = {k.column: k for size in synopsis.size for k in size.key}
    clamps = {c.column: c for c in synopsis.clamps if (c.lower, c.upper) != (None, None)}
    key = tuple(
        KeyOutline(
            str(c),
            known[c].text if c in known else None,
            known[c].values if c in known else None,
            words.interval(clamps[c]) if c in clamps else None,
        )
        for c in synopsis.key
    )
    values = tuple(map(words.extreme, synopsis.extremes))
    if not values:
        values = ("count",) if semantics is Semantics.BAG else ("present",)
    inputs = tuple(words.branch.inputs[i].name for i in synopsis.inputs)
    forgets = tuple(dict.fromkeys(words.forgets(synopsis)))
    return StateOutline(number, inputs, key, values, forgets, synopsis.size)
