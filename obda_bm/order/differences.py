"""Difference bounds: everything that a set of constraints `x - y <= c` implies.

Over one discrete grain this is shortest paths in a difference-bound matrix; a negative cycle is a
contradiction. Columns of different types have different grains (INTEGER against DECIMAL, DATE
against TIMESTAMP). Grains are nested, so `x - y` lies on the finer one of the two, and rounding
every bound down to it keeps the closure exact: a finer variable between two coarser ones can be
eliminated without loss, because the coarser values lie on its own grain, too. A dense column is
one of the finest grain, chosen finer than any chain of strict inequalities is long.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)

UNRELATED: Final = None
"""The bound between two nodes that no chain of constraints relates."""

_Matrix = list[list[int | None]]


@dataclass(frozen=True, slots=True)
class Difference(Generic[Node]):
    """`left - right <= bound`; None stands for the number zero."""

    left: Node | None
    right: Node | None
    bound: int


@dataclass(frozen=True, slots=True)
class DifferenceBounds(Generic[Node]):
    """A closed, satisfiable system. Row 0 is the number zero; row i + 1 is `nodes[i]`."""

    nodes: tuple[Node, ...]
    grains: tuple[int, ...]  # of each row; that of zero is a multiple of all
    rows: tuple[tuple[int | None, ...], ...]
    index: Mapping[Node | None, int]

    def bound(self, left: Node | None, right: Node | None) -> int | None:
        """The smallest c with `left - right <= c`, or None where there is none."""
        return self.rows[self.index[left]][self.index[right]]

    def at_most(self, left: Node | None, right: Node | None) -> bool:
        bound = self.bound(left, right)
        return bound is not None and bound <= 0

    def less(self, left: Node | None, right: Node | None) -> bool:
        bound = self.bound(left, right)
        return bound is not None and bound < 0

    def equal(self, left: Node | None, right: Node | None) -> bool:
        return self.at_most(left, right) and self.at_most(right, left)

    def equals_of(self, node: Node) -> tuple[Node, ...]:
        """The nodes that equal `node`, itself included."""
        i = self.index[node]
        row = self.rows[i]
        # In a satisfiable system x <= y <= x leaves no slack.
        return tuple(
            other for j, other in enumerate(self.nodes, 1) if row[j] == 0 == self.rows[j][i]
        )

    def upper(self, node: Node) -> int | None:
        return self.bound(node, None)

    def lower(self, node: Node) -> int | None:
        negated = self.bound(None, node)
        return None if negated is None else -negated

    def restrict(self, nodes: Sequence[Node]) -> DifferenceBounds[Node]:
        """What the system implies about `nodes` alone."""
        kept = [0, *(self.index[node] for node in nodes)]
        return DifferenceBounds(
            tuple(nodes),
            tuple(self.grains[i] for i in kept),
            tuple(tuple(self.rows[i][j] for j in kept) for i in kept),
            _index(nodes),
        )

    def refine(self, extra: Iterable[Difference[Node]]) -> DifferenceBounds[Node] | None:
        """The system with `extra` constraints, or None where they contradict it."""
        matrix = [list(row) for row in self.rows]
        for constraint in extra:
            if not _tighten(matrix, self.grains, self.index, constraint):
                return None
        if len(set(self.grains[1:])) > 1 and not _close(matrix, self.grains):
            return None
        return DifferenceBounds(
            self.nodes, self.grains, tuple(tuple(row) for row in matrix), self.index
        )


def close_differences(
    nodes: Sequence[Node], grains: Mapping[Node, int], constraints: Iterable[Difference[Node]]
) -> DifferenceBounds[Node] | None:
    """All that `constraints` imply, or None where they contradict each other.

    >>> system = close_differences("ab", {"a": 1, "b": 1}, [Difference("a", "b", -1)])
    >>> system.less("a", "b"), system.upper("a")
    (True, None)

    Over integers `10 < a < b < 12` is a contradiction:

    >>> below, above = Difference("b", None, 11), Difference(None, "a", -11)
    >>> close_differences("ab", {"a": 1, "b": 1}, [below, above, Difference("a", "b", -1)])
    """
    index = _index(nodes)
    row_grains = (max(grains.values(), default=1), *(grains[node] for node in nodes))
    matrix: _Matrix = [[UNRELATED] * len(row_grains) for _ in row_grains]
    for i in range(len(row_grains)):
        matrix[i][i] = 0
    for constraint in constraints:
        i, j = index[constraint.left], index[constraint.right]
        if i == j and constraint.bound < 0:
            return None
        old = matrix[i][j]
        if old is None or constraint.bound < old:
            matrix[i][j] = constraint.bound
    if not _close(matrix, row_grains):
        return None
    return DifferenceBounds(tuple(nodes), row_grains, tuple(tuple(row) for row in matrix), index)


def solve_differences(
    nodes: Sequence[Node], grains: Mapping[Node, int], constraints: Sequence[Difference[Node]]
) -> dict[Node, int] | None:
    """One assignment that satisfies `constraints`, or None.

    Bellman and Ford's relaxation from a common source: cheaper than the closure where the system
    is sparse and only one model is wanted.

    >>> solve_differences("ab", {"a": 1, "b": 1}, [Difference("a", "b", -1)])
    {'a': -1, 'b': 0}
    """
    value: dict[Node | None, int] = dict.fromkeys((None, *nodes), 0)
    grain: dict[Node | None, int] = {node: grains[node] for node in nodes}
    grain[None] = max(grains.values(), default=1)
    # One round per node settles a single grain; each coarser grain can restart the chain once.
    for _ in range((len(value) + 1) * (len(set(grain.values())) + 1)):
        changed = False
        for constraint in constraints:
            limit = value[constraint.right] + constraint.bound
            if value[constraint.left] > limit:
                value[constraint.left] = limit // grain[constraint.left] * grain[constraint.left]
                changed = True
        if not changed:
            return {node: value[node] - value[None] for node in nodes}
    return None


def _index(nodes: Sequence[Node]) -> dict[Node | None, int]:
    return {None: 0, **{node: i + 1 for i, node in enumerate(nodes)}}


def _rounded(bound: int, left_grain: int, right_grain: int) -> int:
    grain = min(left_grain, right_grain)
    return bound // grain * grain


def _close(matrix: _Matrix, grains: Sequence[int]) -> bool:
    """Close `matrix` in place; False where it is contradictory."""
    while True:
        _shortest_paths(matrix)
        if any((matrix[i][i] or 0) < 0 for i in range(len(matrix))):
            return False
        if not _round_to_grains(matrix, grains):
            return True


def _shortest_paths(matrix: _Matrix) -> None:
    """Floyd and Warshall."""
    for k, through in enumerate(matrix):
        steps = [(j, bound) for j, bound in enumerate(through) if bound is not None]
        for row in matrix:
            first = row[k]
            if first is None:
                continue
            for j, second in steps:
                bound = row[j]
                if bound is None or first + second < bound:
                    row[j] = first + second


def _round_to_grains(matrix: _Matrix, grains: Sequence[int]) -> bool:
    """Round every bound down to the finer grain of its two sides; whether one got tighter."""
    changed = False
    for i, row in enumerate(matrix):
        for j, bound in enumerate(row):
            if bound is not None and (exact := _rounded(bound, grains[i], grains[j])) < bound:
                row[j] = exact
                changed = True
    return changed


def _tighten(
    matrix: _Matrix,
    grains: Sequence[int],
    index: Mapping[Node | None, int],
    constraint: Difference[Node],
) -> bool:
    """Add one constraint to a closed matrix of one grain; False where it contradicts."""
    x, y = index[constraint.left], index[constraint.right]
    bound = _rounded(constraint.bound, grains[x], grains[y])
    back, old = matrix[y][x], matrix[x][y]
    if back is not None and back + bound < 0:
        return False
    if old is not None and old <= bound:
        return True
    from_y = [(j, b) for j, b in enumerate(matrix[y]) if b is not None]
    for row in matrix:
        to_x = row[x]
        if to_x is None:
            continue
        for j, second in from_y:
            candidate = to_x + bound + second
            known = row[j]
            if known is None or candidate < known:
                row[j] = candidate
    return True
