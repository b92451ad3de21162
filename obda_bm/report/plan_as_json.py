"""The JSON of `plan`; docs/plan.md says what its keys mean."""

from __future__ import annotations

from obda_bm.ir.plan_outline import (
    BranchOutline,
    InputOutline,
    PlanOutline,
    StateOutline,
    StepOutline,
)
from obda_bm.ir.verdict import Bound, State
from obda_bm.report.as_json import Json


def plan_as_json(plan: PlanOutline) -> dict[str, Json]:
    return {
        "semantics": plan.semantics.value,
        "bound": _bound(plan.bound.states),
        "branches": [_branch(branch) for branch in plan.branches],
        "emitted": {"memory": plan.memory.value, "bound": _bound(plan.emitted)},
    }


def _branch(branch: BranchOutline) -> Json:
    return {
        "inputs": [_input(given) for given in branch.inputs],
        "states": [_state(branch, state) for state in branch.states],
        "emit": {
            "columns": list(branch.projection),
            "when": [_step(step) for step in branch.emitting],
        },
    }


def _input(given: InputOutline) -> Json:
    return {
        "name": given.name,
        "streams": list(given.streams),
        "static": list(given.statics),
        "filters": list(given.filters),
        "joins": list(given.joins),
        "last": given.last,
    }


def _state(branch: BranchOutline, state: StateOutline) -> Json:
    return {
        "state": state.number,
        "over": list(state.inputs),
        "key": [
            {"column": k.column, "in": k.domain, "values": k.values, "stored_as": k.stored_as}
            for k in state.key
        ],
        "value": list(state.values),
        "filled": [_step(step) for step in branch.filling(state)],
        "read_by": list(dict.fromkeys(step.target or "emit" for step in branch.reading(state))),
        "forgets": list(state.forgets),
        "bound": _bound(state.size),
    }


def _step(step: StepOutline) -> Json:
    return {"new": list(step.new), "states": list(step.old), "joins": list(step.joins)}


def _bound(states: tuple[State, ...]) -> Json:
    bound = Bound(states)
    return {"units": bound.units, "formula": bound.formula}
