"""Put a plan together, branch by branch."""

from __future__ import annotations

from itertools import combinations

from obda_bm.ir.plan import BranchPlan, Memory, SynopsisPlan
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.verdict import Bounded
from obda_bm.order.closure import Closure
from obda_bm.order.prepare import prepare
from obda_bm.planning.inputs import read_arrivals
from obda_bm.planning.steps import steps
from obda_bm.planning.synopses import pieces, synopsis


def build_plan(query: SpjUnion, verdict: Bounded) -> SynopsisPlan:
    """How `query` runs within `verdict.bound`; an unbounded query cannot be planned by mistake."""
    runs = [c for branch in prepare(query) for c in branch.runs(query.semantics)]
    # Without a stream there is no marker at which anything could be emitted.
    closures = [c for c in runs if c.times.nodes]
    outputs = tuple(output.name for output in query.branches[0].projection)
    branches = tuple(_branch(c, query.semantics) for c in closures)
    memory = _memory(query, closures, branches)
    return SynopsisPlan(query.semantics, branches, outputs, memory, verdict.bound)


def _branch(closure: Closure, semantics: Semantics) -> BranchPlan:
    arrivals = read_arrivals(closure)
    kept = pieces(arrivals)
    return BranchPlan(
        arrivals.inputs,
        tuple(synopsis(arrivals, piece, semantics) for piece in kept),
        tuple(steps(arrivals, kept)),
        closure.query.projection,
        arrivals.scale,
    )


def _memory(query: SpjUnion, closures: list[Closure], branches: tuple[BranchPlan, ...]) -> Memory:
    """The old answer can be derived where each synopsis holds the best of everything."""
    if query.semantics is Semantics.BAG:
        return Memory.NONE
    if len(closures) != 1 or any(len(s.extremes) > 1 for s in branches[0].synopses):
        return Memory.STORED
    timeline = read_arrivals(closures[0]).timeline
    tied = any(timeline.related(x, y) for x, y in combinations(timeline.streams, 2))
    return Memory.STORED if tied or len(timeline.streams) < 2 else Memory.DERIVED
