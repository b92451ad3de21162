"""The joins of a query: equalities and inequalities in P+ between columns of different streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

from obda_bm.ir.terms import ColumnRef, Op
from obda_bm.order.closure import Closure
from obda_bm.order.differences import DifferenceBounds
from obda_bm.order.streams import Timeline


@dataclass(frozen=True, slots=True)
class Join:
    """`left op right` with op one of `=`, `<>` (texts only), `<` and `<=`."""

    left: ColumnRef
    op: Op
    right: ColumnRef

    def __str__(self) -> str:
        return f"{self.left} {self.op.value} {self.right}"

    @property
    def mirrored(self) -> Join:
        return Join(self.right, self.op.mirrored, self.left)

    @property
    def is_inequality(self) -> bool:
        return self.op not in (Op.EQ, Op.NE)


def joins(timeline: Timeline) -> Iterator[Join]:
    """Equalities that no constant forces, `<>` of texts, and inequalities not redundant."""
    closure = timeline.closure
    columns = [c for c in closure.values.nodes if timeline.stream_of(c) is not None]
    pairs = [
        (a, b)
        for a, b in combinations(columns, 2)
        if timeline.stream_of(a) != timeline.stream_of(b)
    ]
    for a, b in pairs:
        if closure.equals(a, b):
            if closure.constant(a) is None:
                yield Join(a, Op.EQ, b)
            continue
        differ = (a, b) in closure.disequal or (b, a) in closure.disequal
        ordered = [(x, y) for x, y in permutations((a, b)) if closure.values.at_most(x, y)]
        if differ and not ordered:
            yield Join(a, Op.NE, b)
        for low, high in ordered:
            if not redundant(closure.values, low, high):
                yield Join(low, Op.LT if closure.values.less(low, high) else Op.LE, high)


def redundant(values: DifferenceBounds[ColumnRef], low: ColumnRef, high: ColumnRef) -> bool:
    """Whether `low < high` (or `<=`) follows from what lies between the two.

    [A] Definition 3.1 and [S] Definition 8, extended to `<=`: some element stands between them, or
    the constants that bound the two decide the comparison.
    """
    slack = -1 if values.less(low, high) else 0
    top, bottom = values.upper(low), values.lower(high)
    if top is not None and bottom is not None and top - bottom <= slack:
        return True
    return any(
        values.at_most(low, e)
        and values.at_most(e, high)
        and not values.equal(low, e)
        and not values.equal(e, high)
        and (slack == 0 or values.less(low, e) or values.less(e, high))
        for e in values.nodes
        if e not in (low, high)
    )


def is_unbounded_inequality(cell: Closure, join: Join) -> bool:
    """Whether `join` still compares two unbounded columns in a cell, and is not redundant there.

    Where one side has finitely many values, the other needs no more than its place among them.
    """
    return (
        cell.values.at_most(join.left, join.right)
        and not cell.equals(join.left, join.right)
        and not redundant(cell.values, join.left, join.right)
        and not cell.bounded(join.left)
        and not cell.bounded(join.right)
    )
