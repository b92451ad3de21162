"""What is drawn: the order in time of a branch, and its states."""

from __future__ import annotations

from collections.abc import Iterator

from obda_bm.ir.explanation import BranchExplanation, TimeEdge, TimeRelation
from obda_bm.ir.plan_outline import BranchOutline, InputOutline, StateOutline, StepOutline
from obda_bm.ir.verdict import units_as_text
from obda_bm.report.page.svg import Arrow, Graph, Node


def time_graph(branch: BranchExplanation) -> Graph:
    """The streams, each with an arrow to those that must come later."""
    nodes = [
        Node(name, "input", name, () if name in branch.streams else ("ends",))
        for name in branch.arrivals
    ]
    said = "; ".join(map(str, branch.order)) or "no order between the timestamps"
    return Graph("Order in time", said, tuple(nodes), tuple(_time_arrows(branch)))


def _time_arrows(branch: BranchExplanation) -> Iterator[Arrow]:
    """One arrow per pair; a window is written on the arrow of its order, or drawn with dashes."""
    windows = {(e.earlier, e.later): e.interval for e in branch.order if _is_window(e)}
    ordered = [e for e in branch.order if not _is_window(e)]
    for edge in ordered:
        window = windows.get((edge.earlier, edge.later))
        sign = "<" if edge.relation is TimeRelation.BEFORE else "≤"
        label = sign if window is None else f"{sign} within {window}"
        yield Arrow(edge.earlier, edge.later, label)
    drawn = {frozenset((e.earlier, e.later)) for e in ordered}
    for (earlier, later), interval in windows.items():
        pair = frozenset((earlier, later))
        if pair not in drawn:  # of two windows the first: drawings have no circles
            drawn.add(pair)
            back = windows.get((later, earlier))
            label = f"within {interval}" + (f", back {back}" if back else "")
            yield Arrow(earlier, later, label, "window")


def _is_window(edge: TimeEdge) -> bool:
    return edge.relation is TimeRelation.WITHIN


def state_graph(branch: BranchOutline) -> Graph:
    """Inputs fill states, states and inputs lead to results."""
    nodes = (*map(_input, branch.inputs), *map(_state, branch.states), _emission(branch))
    arrows = dict.fromkeys(arrow for step in branch.steps for arrow in _arrows(step))
    said = f"{len(branch.inputs)} inputs, {len(branch.states)} states and what is emitted"
    return Graph("States", said, nodes, tuple(arrows), last=EMIT)


EMIT = "emit"


def _input(given: InputOutline) -> Node:
    joined = (f"with {', '.join(given.statics)}",) if given.statics else ()
    lines = (*given.filters, *joined, *((f"until {given.last}",) if given.last else ()))
    return Node(f"input {given.name}", "input", " and ".join(given.streams), lines)


def _state(state: StateOutline) -> Node:
    key = ", ".join(k.column for k in state.key)
    value = ", ".join(value.partition(", asked by")[0] for value in state.values)
    lines = (f"{value} per {key}" if key else value, units_as_text(state.size))
    return Node(_name(state.number), "state", f"state {state.number}", lines)


def _emission(branch: BranchOutline) -> Node:
    return Node(EMIT, "emission", "emit", branch.projection)


def _arrows(step: StepOutline) -> Iterator[Arrow]:
    target = EMIT if step.target is None else _name(step.target)
    for given in step.new:
        yield Arrow(f"input {given}", target)
    for number in step.old:
        yield Arrow(_name(number), target, kind="past")


def _name(number: int) -> str:
    return f"state {number}"
