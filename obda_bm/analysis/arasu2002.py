"""[A] Theorems 4.3 and 5.3 through Algorithm B.1; Appendix C for self-joins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from obda_bm.ir.catalog import Extent
from obda_bm.ir.spj import Semantics, SpjQuery, SpjUnion
from obda_bm.ir.terms import Comparison, Op, columns_of
from obda_bm.ir.verdict import PaperAnswer
from obda_bm.order.cells import CellSpace, cell_space
from obda_bm.order.closure import close_query
from obda_bm.order.containment import minimize
from obda_bm.order.joins import Join, joins
from obda_bm.order.references import Reference, joint_cells, references, same_reference
from obda_bm.order.streams import Stream, Timeline

THEOREM = {Semantics.BAG: "[A] Theorem 4.3", Semantics.SET: "[A] Theorem 5.3"}


def arasu2002(query: SpjUnion) -> PaperAnswer:
    """What [A] says about `query`; None where it leaves the paper's query class."""
    if len(query.branches) > 1:
        return PaperAnswer.silent("[A] has no unions")
    branch = query.branches[0]
    obstacle = _outside(branch)
    if obstacle:
        return PaperAnswer.silent(obstacle)
    if query.semantics is Semantics.SET:
        branch = minimize(branch)
    return _algorithm_b1(branch, query.semantics)


def _outside(query: SpjQuery) -> str | None:
    if any(o.relation.extent is not Extent.INFINITE for o in query.occurrences):
        return "[A] has infinite streams only"
    if any(query.is_time(c) for p in query.predicates for c in columns_of(p)):
        return "[A] knows no application time"
    if any(isinstance(p, Comparison) and p.op is Op.NE for p in query.predicates):
        return "[A] has no disequalities"
    return None


def _algorithm_b1(query: SpjQuery, semantics: Semantics) -> PaperAnswer:
    """[A] Algorithm B.1, step by step."""
    theorem = THEOREM[semantics]
    closure = close_query(query)
    if closure is None:
        return PaperAnswer.yes(theorem, "the selection is unsatisfiable")
    # Without comparisons of time no two timestamps are equal in P+, so nothing is merged here.
    timeline = Timeline(closure, tuple(Stream((o.alias,)) for o in query.occurrences))
    if len(timeline.streams) == 1 and semantics is Semantics.BAG:
        return PaperAnswer.yes(theorem, "one stream: every predicate is a filter")
    space = cell_space(timeline)
    for clause, violated in (
        ("C1", c1(timeline)),
        ("C2", c2(timeline)),
        ("C3", c3_bag(space) if semantics is Semantics.BAG else c3_set(space)),
    ):
        if violated is not None:
            return PaperAnswer.no(f"{theorem}, {clause}", violated)
    return PaperAnswer.yes(theorem, "C1, C2 and C3 hold in every locally totally ordered query")


def c1(timeline: Timeline) -> str | None:
    """C1: every attribute in the project list is bounded."""
    return next(
        (
            f"{column} is projected and not bounded"
            for column in timeline.closure.query.projected
            if not timeline.closure.bounded(column)
        ),
        None,
    )


def c2(timeline: Timeline) -> str | None:
    """C2: both attributes of every equality join are bounded."""
    return next(
        (
            f"{join} joins attributes that are not bounded"
            for join in joins(timeline)
            if join.op is Op.EQ and not both_bounded(timeline, join)
        ),
        None,
    )


def c3_bag(space: CellSpace) -> str | None:
    """C3 of Theorem 4.2: MaxRef and MinRef are empty."""
    found = next(references(space), None)
    return f"{found.stored} is in MinRef or MaxRef ({found.join})" if found else None


def c3_set(space: CellSpace) -> str | None:
    """C3 of Theorem 5.2: one equivalence class at most in MaxRef and MinRef, per stream."""
    clash = next(clashing_references(space), None)
    if clash is None:
        return None
    return f"two references on one stream: {clash[0].join} and {clash[1].join}"


def clashing_references(space: CellSpace) -> Iterator[tuple[Reference, Reference]]:
    """Pairs of references of one stream that no single extreme value serves, in some cell."""
    alive = list(references(space))
    for one, two in combinations(alive, 2):
        if space.timeline.stream_of(one.stored) != space.timeline.stream_of(two.stored):
            continue
        if any(not same_reference(cell, one, two) for cell in joint_cells(space, one, two)):
            yield one, two


def both_bounded(timeline: Timeline, join: Join) -> bool:
    return timeline.closure.bounded(join.left) and timeline.closure.bounded(join.right)
