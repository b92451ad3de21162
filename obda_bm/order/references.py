"""References: unbounded columns whose extreme value must be kept for tuples still to come.

MinRef and MaxRef of [A] Definition 4.2 and [S] Definition 9, seen from one stream at one time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from obda_bm.ir.terms import ColumnRef, Op
from obda_bm.order.cells import CellSpace, Region
from obda_bm.order.closure import Closure
from obda_bm.order.differences import Difference
from obda_bm.order.joins import Join, is_unbounded_inequality, joins


@dataclass(frozen=True, slots=True)
class Reference:
    """A join, oriented from the stored column to the future one, and the cells it is alive in."""

    join: Join
    cells: tuple[Region, ...]

    @property
    def stored(self) -> ColumnRef:
        return self.join.left

    @property
    def future(self) -> ColumnRef:
        return self.join.right


def references(space: CellSpace) -> Iterator[Reference]:
    """Every join of two columns that are unbounded together in some cell, in both orientations."""
    for join in joins(space.timeline):
        cells = unbounded_cells(space, join)
        if cells:
            yield Reference(join, cells)
            yield Reference(join.mirrored, cells)


def unbounded_cells(space: CellSpace, join: Join) -> tuple[Region, ...]:
    """The cells in which both columns of `join` are unbounded and it is not redundant."""
    closure = space.timeline.closure
    if join.op is Op.EQ:
        return ()
    if join.op is Op.NE:
        return () if closure.bounded(join.left) or closure.bounded(join.right) else ((),)
    pair = (join.left, join.right)
    every = space.cells(pair, {column: space.regions(column) for column in pair})
    return tuple(region_of(cell) for cell in every if is_unbounded_inequality(cell, join))


def joint_cells(space: CellSpace, one: Reference, two: Reference) -> Iterator[Closure]:
    """The cells of (at most) four columns in which both references are alive ([A] B.1, step 4)."""
    columns = tuple(dict.fromkeys((one.stored, one.future, two.stored, two.future)))
    first, *rest = columns
    for a, b in product(one.cells, two.cells):
        for cell in space.cells(columns, {first: [a + b], **{c: [()] for c in rest}}):
            if alive(cell, one) and alive(cell, two):
                yield cell


def alive(cell: Closure, reference: Reference) -> bool:
    join = reference.join if reference.join.op in (Op.LT, Op.LE) else reference.join.mirrored
    return not join.is_inequality or is_unbounded_inequality(cell, join)


def same_reference(cell: Closure, one: Reference, two: Reference) -> bool:
    """Whether one extreme value serves both: equal columns, and the same side."""
    return side(one) == side(two) and cell.equals(one.stored, two.stored)


def same_test(cell: Closure, one: Reference, two: Reference) -> bool:
    """Whether both are tested by the same future column, on the same side."""
    return side(one) == side(two) and cell.equals(one.future, two.future)


def side(reference: Reference) -> str:
    return {Op.LT: "min", Op.LE: "min", Op.GT: "max", Op.GE: "max"}.get(
        reference.join.op, "different values"
    )


def region_of(cell: Closure) -> Region:
    """All that `cell` says about its columns, as constraints on a copy of them."""
    names: tuple[ColumnRef | None, ...] = (None, *cell.values.nodes)
    return tuple(
        Difference(a, b, bound)
        for a in names
        for b in names
        if a != b and (bound := cell.values.bound(a, b)) is not None
    )
