"""Region cells: locally total orders without their explosion (THEORY 4).

[A] Definition 4.1 orders, per stream, all columns with all constants. Of a discrete column only
three regions matter: below every constant, above every constant, and in between, where it is
bounded. A dense column has a region for each open interval between neighbouring constants, too,
for such an interval is not finite. Inside an unbounded region the columns of one stream are
totally preordered; between different regions the constants imply the order.

A column is ordered only with the constants it is connected to by comparisons. Columns of static
relations and of finite streams are symbolic constants: their order is not known, so "in between"
becomes "at least one of them and at most another".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef, Comparison, Predicate, columns_of
from obda_bm.order.closure import Closure, constants_of, predicates_of
from obda_bm.order.differences import Difference
from obda_bm.order.streams import Timeline

Region = tuple[Difference[ColumnRef], ...]
"""The constraints that put one column into a region."""

Mark = int | ColumnRef
"""A constant, or a column that is one once the static tuples are known."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """The constants (ascending) and symbolic constants that a column is connected to."""

    constants: tuple[int, ...]
    symbolic: tuple[ColumnRef, ...]

    @property
    def lowest(self) -> tuple[Mark, ...]:
        return (*self.constants[:1], *self.symbolic)

    @property
    def highest(self) -> tuple[Mark, ...]:
        return (*self.constants[-1:], *self.symbolic)


@dataclass(frozen=True, slots=True)
class CellSpace:
    """A query with what is needed to cut it into cells."""

    timeline: Timeline
    component: Mapping[ColumnRef, frozenset[ColumnRef]]
    landmarks: Mapping[ColumnRef, Landmarks]

    def regions(self, column: ColumnRef) -> Sequence[Region]:
        """The regions of THEORY 4 that suffice for `column`."""
        closure = self.timeline.closure
        order = closure.query.column(column).type.order
        if order is Order.UNORDERED or column in closure.allowed:
            return [()]
        marks = self.landmarks[column]
        return all_regions(marks, column) if order is Order.DENSE else three_regions(marks, column)

    def cells(
        self, columns: Sequence[ColumnRef], choices: Mapping[ColumnRef, Sequence[Region]]
    ) -> Iterator[Closure]:
        """Every satisfiable cell of `columns`, as the closure refined and restricted to them.

        [A] Algorithm B.1 asks for at most four columns; with all of them, the cells are
        equivalent to the locally total orders of [A] Theorem 4.1.
        """
        closure = self.timeline.closure
        equal = {e for c in columns for e in closure.class_of(c)}
        kept = dict.fromkeys((*columns, *sorted(equal), *closure.symbolic()))
        start = replace(closure, values=closure.values.restrict(list(kept)))
        for chosen in product(*(choices[c] for c in columns)):
            values = start.values.refine(d for region in chosen for d in region)
            if values is not None:
                yield from self._preorders(replace(start, values=values), columns)

    def _preorders(self, cell: Closure, columns: Sequence[ColumnRef]) -> Iterator[Closure]:
        """`cell` with the unbounded columns of each stream totally preordered."""
        pair = next((p for p in combinations(columns, 2) if self._undecided(cell, *p)), None)
        if pair is None:
            yield cell
            return
        a, b = pair
        for order in ((Difference(a, b, -1),), (Difference(b, a, -1),), _equal(a, b)):
            values = cell.values.refine(order)
            if values is not None:
                yield from self._preorders(replace(cell, values=values), columns)

    def _undecided(self, cell: Closure, a: ColumnRef, b: ColumnRef) -> bool:
        # Columns that no comparison connects stay unordered: every order of them is possible.
        return (
            self.timeline.stream_of(a) == self.timeline.stream_of(b)
            and b in self.component[a]
            and cell.query.column(a).type.order is not Order.UNORDERED
            and not (cell.values.less(a, b) or cell.values.less(b, a) or cell.equals(a, b))
            and not cell.bounded(a)
            and not cell.bounded(b)
        )


def cell_space(timeline: Timeline) -> CellSpace:
    closure = timeline.closure
    predicates = predicates_of(closure.query)
    component = {c: _component(predicates, c) for c in closure.values.nodes}
    landmarks = {c: _landmarks(closure, predicates, component[c]) for c in component}
    return CellSpace(timeline, component, landmarks)


def three_regions(marks: Landmarks, column: ColumnRef) -> Sequence[Region]:
    """Below every constant, above every constant, and in between."""
    if not marks.lowest:
        return [()]
    low = tuple(_below(column, m) for m in marks.lowest)
    high = tuple(_above(column, m) for m in marks.highest)
    between = [
        (_at_least(column, lower), _at_most(column, upper))
        for lower in marks.lowest
        for upper in marks.highest
    ]
    return [low, high, *between]


def all_regions(marks: Landmarks, column: ColumnRef) -> Sequence[Region]:
    """Each constant, and each open interval between neighbours: all of [A] Definition 4.1."""
    every: tuple[Mark, ...] = (*marks.constants, *marks.symbolic)
    points: list[Region] = [(_at_least(column, m), _at_most(column, m)) for m in every]
    cuts = [
        [True] * i + [False] * (len(marks.constants) - i) + list(sides)
        for i in range(len(marks.constants) + 1)
        for sides in product((True, False), repeat=len(marks.symbolic))
    ]
    intervals: list[Region] = [
        tuple(
            _above(column, m) if above else _below(column, m)
            for m, above in zip(every, cut, strict=True)
        )
        for cut in cuts
    ]
    return points + intervals


def _landmarks(
    closure: Closure, predicates: Sequence[Predicate], component: frozenset[ColumnRef]
) -> Landmarks:
    constants = {
        closure.scale.number(value)
        for p in predicates
        if columns_of(p) and component.issuperset(columns_of(p))
        for value in constants_of(p)
    }
    symbolic = tuple(c for c in closure.symbolic() if c in component)
    return Landmarks(tuple(sorted(constants)), symbolic)


def _component(predicates: Sequence[Predicate], column: ColumnRef) -> frozenset[ColumnRef]:
    """The columns that comparisons connect `column` to, through joins, too."""
    links = [set(columns_of(p)) for p in predicates if isinstance(p, Comparison)]
    component = {column}
    while grown := [link for link in links if link & component and not link <= component]:
        component.update(*grown)
    return frozenset(component)


def _equal(a: ColumnRef, b: ColumnRef) -> Region:
    return (Difference(a, b, 0), Difference(b, a, 0))


def _at_most(column: ColumnRef, mark: Mark) -> Difference[ColumnRef]:
    match mark:
        case int():
            return Difference(column, None, mark)
        case ColumnRef():
            return Difference(column, mark, 0)


def _at_least(column: ColumnRef, mark: Mark) -> Difference[ColumnRef]:
    match mark:
        case int():
            return Difference(None, column, -mark)
        case ColumnRef():
            return Difference(mark, column, 0)


def _below(column: ColumnRef, mark: Mark) -> Difference[ColumnRef]:
    limit = _at_most(column, mark)
    return replace(limit, bound=limit.bound - 1)


def _above(column: ColumnRef, mark: Mark) -> Difference[ColumnRef]:
    limit = _at_least(column, mark)
    return replace(limit, bound=limit.bound - 1)
