"""The text form of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obda_bm.ir.plan import Memory
from obda_bm.ir.plan_outline import (
    BranchOutline,
    InputOutline,
    KeyOutline,
    PlanOutline,
    StateOutline,
    StepOutline,
)
from obda_bm.ir.verdict import units_as_text

MEMORY = {
    Memory.NONE: "not remembered, every match is a result",
    Memory.STORED: "every row is remembered, so that none comes twice",
    Memory.DERIVED: "not remembered, the states before a marker tell",
}


def plan_as_text(plan: PlanOutline) -> str:
    return "\n".join(_plan(plan))


def _plan(plan: PlanOutline) -> Iterator[str]:
    yield f"plan ({plan.semantics.value}): {plan.bound}"
    if not plan.branches:
        yield "  nothing runs: no tuple can ever lead to a result"
        return
    for i, branch in enumerate(plan.branches, 1):
        if len(plan.branches) > 1:
            yield f"branch {i} of {len(plan.branches)}"
        yield from (f"  {line}" for line in _branch(branch))
    yield f"emitted: {MEMORY[plan.memory]}"
    if plan.emitted:
        yield f"  bound {units_as_text(plan.emitted)}"


def _branch(branch: BranchOutline) -> Iterator[str]:
    for given in branch.inputs:
        yield from _input(given)
    for state in branch.states:
        yield from _state(branch, state)
    yield f"emit {', '.join(branch.projection)}"
    yield from (f"  when {step_as_text(step)}" for step in branch.emitting)


def _input(given: InputOutline) -> Iterator[str]:
    together = " and ".join(given.streams)
    yield f"input {given.name}: {together}" + (", at one time" if len(given.streams) > 1 else "")
    if given.filters:
        yield f"  where {' ∧ '.join(given.filters)}"
    if given.statics:
        yield f"  with static {', '.join(given.statics)}"
    if given.joins:
        yield f"  on {' ∧ '.join(given.joins)}"
    if given.last is not None:
        yield f"  until {given.last}"


def _state(branch: BranchOutline, state: StateOutline) -> Iterator[str]:
    yield f"state {state.number} over {'+'.join(state.inputs)}"
    yield from (f"  key {key_as_text(key)}" for key in state.key)
    yield from (f"  value {value}" for value in state.values)
    yield from (f"  filled when {step_as_text(step)}" for step in branch.filling(state))
    yield from (f"  read by {line}" for line in readers_as_text(branch.reading(state)))
    yield from (f"  forgets: {line}" for line in state.forgets)
    yield f"  bound {units_as_text(state.size)}"


def key_as_text(key: KeyOutline) -> str:
    domain = "" if key.domain is None else f" in {key.domain}"
    values = "" if key.values is None else f" ({key.values})"
    stored = "" if key.stored_as is None else f", stored as {key.stored_as}"
    return f"{key.column}{domain}{values}{stored}"


def step_as_text(step: StepOutline) -> str:
    """What arrives, what of the past it meets, and what is compared.

    >>> step_as_text(StepOutline(("a",), (1,), ("t.x = a.x",), None))
    'a arrives and meets state 1 where t.x = a.x'
    """
    one = len(step.new) == 1
    text = f"{' and '.join(step.new)} {'arrives' if one else 'arrive together'}"
    if step.old:
        met = " × ".join(f"state {number}" for number in step.old)
        text += f" and {'meets' if one else 'meet'} {met}"
    return text + (f" where {' ∧ '.join(step.joins)}" if step.joins else "")


def readers_as_text(steps: Iterable[StepOutline]) -> Iterator[str]:
    """What the steps are for: other states, or the results."""
    targets = dict.fromkeys(step.target for step in steps)
    return ("emit" if target is None else f"state {target}" for target in targets)
