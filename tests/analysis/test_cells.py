"""Cells, Algorithm B.1 and the timeline criterion against the definitions they shortcut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest

from obda_bm.analysis.arasu2002 import arasu2002
from obda_bm.analysis.timeline import situation, violations
from obda_bm.ir.spj import Semantics, SpjQuery, SpjUnion
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of
from obda_bm.order.cells import cell_space
from obda_bm.order.closure import Closure, close_query
from obda_bm.order.joins import redundant
from obda_bm.order.streams import Timeline, merge_equal_times

from . import lto
from .queries import Shape, random_queries

ORDERS = (Op.LT, Op.LT, Op.LT, Op.GT, Op.GT, Op.EQ)
"""Equalities are rare: most of them leave nothing to order."""
TIMELESS = [
    (Shape((1, 3), 1, ORDERS, (0, 3), (0, 3), (0, 3)), 250),
    (Shape((2, 2), 2, ORDERS, (0, 3), (1, 3), (0, 3), local=0.2), 400),
    (Shape((3, 3), 2, ORDERS, (0,), (2, 4), (0, 2), local=0.2), 150),
    (Shape((3, 3), 2, ORDERS, joins=(2, 4), filters=(0, 0), local=0.2), 150),
]
TIMED = [
    (replace(shape, times=(Op.LT, Op.LT, Op.LT, Op.GT, Op.EQ)), count) for shape, count in TIMELESS
]
TIMED += [
    (
        Shape(
            (4, 4),
            1,
            constants=(0,),
            joins=(2, 4),
            filters=(0, 2),
            times=(Op.LT,),
            operators=ORDERS,
        ),
        150,
    ),
    (Shape((4, 4), 2, joins=(2, 4), filters=(0, 0), times=(Op.LT,), operators=ORDERS), 100),
]


def generated(seed: int, shapes: list[tuple[Shape, int]]) -> list[SpjUnion]:
    return [q for shape, count in shapes for q in random_queries(seed, count, shape)]


def disagreeing(
    queries: list[SpjUnion],
    code: Callable[[SpjUnion], object],
    oracle: Callable[[SpjUnion], object],
) -> list[str]:
    answers = [(q, code(q), oracle(q)) for q in queries]
    assert {expected for _, _, expected in answers} == {True, False}, "both answers occur"
    satisfiable = sum(next(lto.ltos(q.branches[0]), None) is not None for q in queries)
    assert satisfiable > 500
    return [
        f"{q.semantics.value}: {q} is {said}, not {expected}"
        for q, said, expected in answers
        if said != expected
    ]


def literal_arasu(query: SpjUnion) -> bool:
    return lto.arasu(query.branches[0], query.semantics)


def literal_timeline(query: SpjUnion) -> bool:
    return lto.timeline(query.branches[0], query.semantics)


@pytest.mark.parametrize("seed", [1, 2])
def test_algorithm_b1(seed: int) -> None:
    queries = generated(seed, TIMELESS)
    assert disagreeing(queries, lambda q: arasu2002(q).bounded, literal_arasu) == []


@pytest.mark.parametrize("seed", [3, 4])
def test_full_cells(seed: int) -> None:
    queries = [q for q in generated(seed, TIMELESS) if len(q.branches[0].occurrences) > 1]
    assert disagreeing(queries, by_cells, literal_arasu) == []


@pytest.mark.parametrize("seed", [5, 6])
def test_timeline_criterion(seed: int) -> None:
    assert disagreeing(generated(seed, TIMED), holds, literal_timeline) == []


def holds(query: SpjUnion) -> bool:
    closure = close_query(query.branches[0])
    if closure is None:
        return True
    case = situation(merge_equal_times(closure), frozenset())
    return not any(violations(case, query.semantics))


def by_cells(query: SpjUnion) -> bool:
    """C1 to C3 in every cell of all columns."""
    closure = close_query(query.branches[0])
    if closure is None:
        return True
    space = cell_space(merge_equal_times(closure))
    columns = list(closure.values.nodes)
    cells = space.cells(columns, {c: space.regions(c) for c in columns})
    return all(_c1_to_c3(space.timeline, cell, query.semantics) for cell in cells)


def _c1_to_c3(timeline: Timeline, cell: Closure, semantics: Semantics) -> bool:
    columns = cell.values.nodes
    pairs = [(a, b) for a, b in combinations(columns, 2) if a.occurrence != b.occurrence]
    if not all(cell.bounded(c) for c in cell.query.projected):
        return False
    if any(cell.equals(a, b) and not cell.bounded(a) for a, b in pairs):
        return False
    refs = {
        (column.occurrence, side, min(cell.class_of(column)))
        for a, b in pairs
        for low, high in ((a, b), (b, a))
        if cell.values.less(low, high) and not redundant(cell.values, low, high)
        for column, side in ((low, "min"), (high, "max"))
        if not cell.bounded(column)
    }
    if semantics is Semantics.BAG:
        return not refs
    streams = [alias for alias, _, _ in refs]
    return len(set(streams)) == len(streams)


def test_cells_cover_and_exclude_each_other() -> None:
    """Every assignment lies in the cells' union, and unbounded cells do not overlap."""
    shape = Shape((1, 2), 2, constants=(0, 2), joins=(1, 3), filters=(0, 2), local=0.3)
    for query in random_queries(9, 120, shape):
        closure = close_query(query.branches[0])
        if closure is None:
            continue
        space = cell_space(merge_equal_times(closure))
        columns = list(closure.values.nodes)
        cells = list(space.cells(columns, {c: space.regions(c) for c in columns}))
        for at in _assignments(query.branches[0], columns):
            inside = [cell for cell in cells if _contains(cell, at)]
            assert len(inside) == 1, f"{query}: {at} lies in {len(inside)} cells"


def _assignments(query: SpjQuery, columns: list[ColumnRef]) -> list[dict[ColumnRef, int]]:
    found: list[dict[ColumnRef, int]] = [{}]
    for column in columns:
        found = [{**at, column: v} for at in found for v in range(-3, 6)]
        tests = [p for p in query.predicates if set(columns_of(p)) <= set(found[0])]
        found = [at for at in found if all(_true(p, at) for p in tests)]
        if not found:
            return []
    return found


def _true(predicate: object, at: dict[ColumnRef, int]) -> bool:
    assert isinstance(predicate, Comparison)
    sides = [
        at[t] if isinstance(t, ColumnRef) else t.value for t in (predicate.left, predicate.right)
    ]
    left, right = sides
    return {Op.LT: left < right, Op.EQ: left == right, Op.GT: left > right}[predicate.op]


def _contains(cell: Closure, at: dict[ColumnRef, int]) -> bool:
    value: dict[ColumnRef | None, int] = {None: 0, **at}
    return all(
        bound is None or value[a] - value[b] <= bound
        for a in value
        for b in value
        for bound in [cell.values.bound(a, b)]
    )
