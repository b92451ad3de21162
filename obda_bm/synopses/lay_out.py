"""The synopses of every branch, with their sizes; their sum is the bound of the query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from obda_bm.ir.plan import Memory, Synopsis
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.verdict import Bound, State
from obda_bm.order.cells import cell_space
from obda_bm.order.closure import Closure
from obda_bm.order.joins import joins
from obda_bm.order.prepare import prepare
from obda_bm.synopses.inputs import Arrivals, read_arrivals
from obda_bm.synopses.keys import emitted_keys
from obda_bm.synopses.sizes import sizes
from obda_bm.synopses.synopsis import Piece, pieces, synopsis


@dataclass(frozen=True, slots=True)
class BranchLayout:
    arrivals: Arrivals
    pieces: tuple[Piece, ...]
    synopses: tuple[Synopsis, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    branches: tuple[BranchLayout, ...]
    memory: Memory
    emitted: tuple[State, ...]

    @property
    def bound(self) -> Bound:
        kept = [size for b in self.branches for s in b.synopses for size in s.size]
        return Bound((*kept, *self.emitted))


def lay_out(query: SpjUnion) -> Layout:
    """What a bounded query keeps; of one that is not bounded, some sizes have no limit."""
    runs = [c for branch in prepare(query) for c in branch.runs(query.semantics)]
    # Without a stream there is no marker at which anything could be emitted.
    closures = [c for c in runs if c.times.nodes]
    branches = tuple(_branch(c, query.semantics) for c in closures)
    memory = _memory(query, branches)
    emitted = [_emitted(c) for c in closures] if memory is Memory.STORED else []
    return Layout(branches, memory, tuple(emitted))


def _branch(closure: Closure, semantics: Semantics) -> BranchLayout:
    arrivals = read_arrivals(closure)
    kept = pieces(arrivals)
    laid_out = [synopsis(arrivals, piece, semantics) for piece in kept]
    space = cell_space(arrivals.timeline)
    sized = [replace(s, size=sizes(arrivals, space, s, semantics)) for s in laid_out]
    return BranchLayout(arrivals, tuple(kept), tuple(sized))


def _emitted(closure: Closure) -> State:
    timeline = read_arrivals(closure).timeline
    return State((), emitted_keys(cell_space(timeline), tuple(joins(timeline))), "present")


def _memory(query: SpjUnion, branches: tuple[BranchLayout, ...]) -> Memory:
    """The old answer can be derived where each synopsis holds the best of everything."""
    if query.semantics is Semantics.BAG:
        return Memory.NONE
    several = [s for b in branches for s in b.synopses if len(s.extremes) > 1]
    if len(branches) != 1 or several:
        return Memory.STORED
    timeline = branches[0].arrivals.timeline
    tied = any(timeline.related(x, y) for x, y in combinations(timeline.streams, 2))
    return Memory.STORED if tied or len(timeline.streams) < 2 else Memory.DERIVED
