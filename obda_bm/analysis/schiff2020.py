"""[S] Theorems 1 and 2, literally.

The dependency graph is taken as its transitive reduction: the closure of I > J > K has two parents
for K, yet [S] calls that example a tree. The last clause of C4 prints d = 0 where 1 is meant. A
"join" is an equality in P+ that no constant forces, or a non-redundant inequality in P+, where
"constant" and "element" mean what the query mentions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product

from obda_bm.analysis.arasu2002 import c1 as every_projected_bounded
from obda_bm.analysis.arasu2002 import c2 as every_equality_bounded
from obda_bm.analysis.arasu2002 import clashing_references
from obda_bm.ir.catalog import Extent
from obda_bm.ir.spj import Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef, Comparison, Op, Predicate, columns_of
from obda_bm.ir.verdict import PaperAnswer
from obda_bm.order.cells import CellSpace, all_regions, cell_space
from obda_bm.order.closure import Closure, close_query, predicates_of
from obda_bm.order.joins import Join
from obda_bm.order.references import references
from obda_bm.order.split_disequalities import split_disequalities
from obda_bm.order.streams import Stream, Timeline, merge_equal_times

THEOREM = {Semantics.BAG: "[S] Theorem 1", Semantics.SET: "[S] Theorem 2"}


def schiff2020(query: SpjUnion) -> PaperAnswer:
    """What [S] says about `query`: every branch must satisfy the theorem."""
    answer = PaperAnswer.yes(THEOREM[query.semantics], "every branch satisfies the conditions")
    for branch in query.branches:
        obstacle = _outside(branch)
        if obstacle:
            return PaperAnswer.silent(obstacle)
        for modified in _preprocess(branch):
            answer = _theorem(modified, query.semantics)
            if not answer.bounded:
                return answer
    return answer


def _outside(query: SpjQuery) -> str | None:
    streams = [o.relation.name for o in query.occurrences if o.relation.extent != Extent.STATIC]
    if len(set(streams)) < len(streams):
        return "[S] permits no stream twice"
    if any(isinstance(p, Comparison) and p.offset for p in query.predicates):
        return "[S] has no intervals"
    mentioned = {*query.projected, *(c for p in predicates_of(query) for c in columns_of(p))}
    if any(query.column(c).type.order is Order.DENSE for c in mentioned):
        return "[S] has discrete domains only"
    return None


def _preprocess(query: SpjQuery) -> Iterator[SpjQuery]:
    """Step 1, and `<=` on timestamps split into `<` and `=`, which steps 2 and 3 then treat."""
    for branch in split_disequalities(query):
        yield from _split_time_inequalities(branch)


def _split_time_inequalities(query: SpjQuery) -> Iterator[SpjQuery]:
    def alternatives(predicate: Predicate) -> tuple[Predicate, ...]:
        match predicate:
            case Comparison(ColumnRef() as left, Op.LE | Op.GE as op, ColumnRef()) if query.is_time(
                left
            ):
                strict = Op.LT if op is Op.LE else Op.GT
                return replace(predicate, op=strict), replace(predicate, op=Op.EQ)
            case _:
                return (predicate,)

    for predicates in product(*map(alternatives, query.predicates)):
        yield replace(query, predicates=predicates)


def _theorem(query: SpjQuery, semantics: Semantics) -> PaperAnswer:
    theorem = THEOREM[semantics]
    closure = close_query(query)
    if closure is None:
        return PaperAnswer.yes(theorem, "the selection is unsatisfiable")
    timeline = merge_equal_times(closure)
    if len(timeline.streams) <= 1 and semantics is Semantics.BAG:
        return PaperAnswer.yes(theorem, "at most one infinite stream")
    space = cell_space(timeline)
    conditions = _theorem_1(space) if semantics is Semantics.BAG else _theorem_2(space)
    for clause, violated in conditions:
        if violated is not None:
            return PaperAnswer.no(f"{theorem}, {clause}", violated)
    return PaperAnswer.yes(theorem, "all conditions hold")


def _theorem_2(space: CellSpace) -> Iterator[tuple[str, str | None]]:
    yield "C1", every_projected_bounded(space.timeline)
    yield "C2", every_equality_bounded(space.timeline)
    clash = next(clashing_references(space), None)
    yield (
        "C3",
        f"two references on one stream: {clash[0].join} and {clash[1].join}" if clash else None,
    )


def _theorem_1(space: CellSpace) -> Iterator[tuple[str, str | None]]:
    graph = dependency_graph(space.timeline)
    yield "C1", c1(graph)
    literal = list(literal_joins(space))
    yield "C2", c2(graph, literal)
    yield "C3", c3(graph)
    yield "C4", c4(graph, literal)
    yield "C5", c5(graph, space)


@dataclass(frozen=True, slots=True)
class DependencyGraph:
    """G(Q): an edge from a stream to those its timestamp is next above; parents come later."""

    timeline: Timeline
    edges: frozenset[tuple[Stream, Stream]]

    def parents(self, stream: Stream) -> list[Stream]:
        return [p for p in self.timeline.streams if (p, stream) in self.edges]

    def root(self, stream: Stream) -> Stream:
        above = self.parents(stream)
        return self.root(above[0]) if above else stream

    def depth(self, stream: Stream) -> int:
        above = self.parents(stream)
        return 1 + self.depth(above[0]) if above else 0

    @property
    def is_one_tree(self) -> bool:
        return len({self.root(s) for s in self.timeline.streams}) == 1

    def stream(self, column: ColumnRef) -> Stream:
        stream = self.timeline.stream_of(column)
        assert stream is not None
        return stream


def dependency_graph(timeline: Timeline) -> DependencyGraph:
    later = {(x, y) for x, y in permutations(timeline.streams, 2) if timeline.precedes(y, x)}
    reduced = {
        (x, y)
        for x, y in later
        if not any((x, z) in later and (z, y) in later for z in timeline.streams)
    }
    return DependencyGraph(timeline, frozenset(reduced))


def c1(graph: DependencyGraph) -> str | None:
    """C1: every component of the graph is a tree."""
    return next(
        (
            f"{s} has {len(graph.parents(s))} parents in the dependency graph"
            for s in graph.timeline.streams
            if len(graph.parents(s)) > 1
        ),
        None,
    )


def c2(graph: DependencyGraph, joins: list[Join]) -> str | None:
    """C2: joins are between siblings, parent and child, or two roots."""
    for join in joins:
        x, y = graph.stream(join.left), graph.stream(join.right)
        if graph.root(x) != graph.root(y):
            near = graph.depth(x) == graph.depth(y) == 0
        else:
            siblings = graph.parents(x) == graph.parents(y) != []
            near = siblings or x in graph.parents(y) or y in graph.parents(x)
        if not near:
            return f"{join} is neither between neighbours nor between roots of the dependency graph"
    return None


def c3(graph: DependencyGraph) -> str | None:
    """C3: projected attributes are at most one step below the root, and bounded but in the root."""
    closure = graph.timeline.closure
    for column in closure.query.projected:
        if graph.timeline.stream_of(column) is None:
            continue
        depth = graph.depth(graph.stream(column))
        if depth > 1:
            return f"{column} is projected from depth {depth} of the dependency graph"
        if (depth == 1 or not graph.is_one_tree) and not closure.bounded(column):
            return f"{column} is projected and not bounded"
    return None


def c4(graph: DependencyGraph, joins: list[Join]) -> str | None:
    """C4: equality joins are between bounded attributes; below the root of one tree, one side."""
    closure = graph.timeline.closure
    for join in joins:
        if join.op is not Op.EQ:
            continue
        depths = graph.depth(graph.stream(join.left)), graph.depth(graph.stream(join.right))
        bounded = closure.bounded(join.left), closure.bounded(join.right)
        if graph.is_one_tree and 0 in depths:
            at = 1 - depths.index(0)
            fine = bounded[at] and depths[at] == 1
        else:
            fine = all(bounded)
        if not fine:
            return f"{join} joins attributes that are not bounded"
    return None


def c5(graph: DependencyGraph, space: CellSpace) -> str | None:
    """C5: MaxRef and MinRef are empty, except in the root of one tree."""
    for reference in references(space):
        stream = graph.stream(reference.stored)
        if not (graph.is_one_tree and graph.depth(stream) == 0):
            return f"{reference.stored} is in MinRef or MaxRef ({reference.join})"
    return None


def literal_joins(space: CellSpace) -> Iterator[Join]:
    """The joins that C2 and C4 speak of, in some locally totally ordered query."""
    timeline = space.timeline
    columns = [c for c in timeline.closure.values.nodes if timeline.stream_of(c) is not None]
    for a, b in combinations(columns, 2):
        if timeline.stream_of(a) == timeline.stream_of(b):
            continue
        if timeline.closure.equals(a, b):
            if timeline.closure.constant(a) not in space.landmarks[a].constants:
                yield Join(a, Op.EQ, b)
            continue
        for low, high in permutations((a, b)):
            if timeline.closure.values.less(low, high) and _literally_joined(space, low, high):
                yield Join(low, Op.LT, high)


def _literally_joined(space: CellSpace, low: ColumnRef, high: ColumnRef) -> bool:
    pair = (low, high)
    base = space.timeline.closure
    if _literally_redundant(base, space.landmarks[low].constants, low, high):
        return False
    choices = {c: all_regions(space.landmarks[c], c) for c in pair}
    return any(
        not _literally_redundant(cell, space.landmarks[low].constants, low, high)
        for cell in space.cells(pair, choices)
    )


def _literally_redundant(
    cell: Closure, constants: tuple[int, ...], low: ColumnRef, high: ColumnRef
) -> bool:
    """[S] Definition 8: (1) an element in between, (2) and (3) a side that equals a constant."""
    values = cell.values
    if any(values.less(low, e) and values.less(e, high) for e in values.nodes):
        return True
    top, bottom = values.upper(low), values.lower(high)
    return any(
        top is not None
        and bottom is not None
        and (
            (top < k < bottom)
            or (top == k == values.lower(low) and k < bottom)
            or (top < k and k == bottom == values.upper(high))
        )
        for k in constants
    )
