"""Put a plan together, branch by branch."""

from __future__ import annotations

from obda_bm.ir.plan import BranchPlan, SynopsisPlan
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.verdict import Bounded
from obda_bm.planning.steps import steps
from obda_bm.synopses import BranchLayout, lay_out


def build_plan(query: SpjUnion, verdict: Bounded) -> SynopsisPlan:
    """How `query` runs within `verdict.bound`; an unbounded query cannot be planned by mistake."""
    layout = lay_out(query)
    assert layout.bound == verdict.bound, "the verdict is about another query"
    outputs = tuple(output.name for output in query.branches[0].projection)
    branches = tuple(map(_branch, layout.branches))
    return SynopsisPlan(query.semantics, branches, outputs, layout.memory, layout.emitted)


def _branch(layout: BranchLayout) -> BranchPlan:
    arrivals = layout.arrivals
    return BranchPlan(
        arrivals.inputs,
        layout.synopses,
        tuple(steps(arrivals, layout.pieces)),
        arrivals.timeline.closure.query.projection,
        arrivals.scale,
    )
