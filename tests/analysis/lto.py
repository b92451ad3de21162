"""The definitions of [A] and of THEORY 7, literally: every locally totally ordered query.

Slow and obvious. A query is a conjunction of `<`, `=` and `>` over integers. [A] Definition 4.1:
each stream orders all its columns together with all constants of the query, and all combinations
of such orders are tried. Integers make `x < y` the difference `x - y <= -1`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

from obda_bm.ir.spj import Semantics, SpjQuery
from obda_bm.ir.sqltypes import INTEGER
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Op, Term

FAR = 10**9
Matrix = list[list[int]]
Group = frozenset[str]
"""Streams with equal timestamps: they are joined per timestamp, and count as one."""


@dataclass(frozen=True)
class Lto:
    """One locally totally ordered query; position 0 stands for zero, others for columns."""

    columns: list[ColumnRef]
    constants: list[int]
    distance: Matrix  # distance[i][j] = d: element i is at most element j + d

    def at(self, column: ColumnRef) -> int:
        return self.columns.index(column) + 1

    def less(self, a: ColumnRef, b: ColumnRef) -> bool:
        return self.distance[self.at(a)][self.at(b)] < 0

    def equal(self, a: ColumnRef, b: ColumnRef) -> bool:
        i, j = self.at(a), self.at(b)
        return self.distance[i][j] <= 0 and self.distance[j][i] <= 0

    def bounded(self, column: ColumnRef) -> bool:
        """[A] Definition 3.2."""
        i = self.at(column)
        return self.distance[i][0] < FAR and self.distance[0][i] < FAR

    def is_constant(self, column: ColumnRef, constant: int) -> bool:
        i = self.at(column)
        return self.distance[i][0] == constant and self.distance[0][i] == -constant

    def below(self, column: ColumnRef, constant: int) -> bool:
        return self.distance[self.at(column)][0] < constant

    def above(self, column: ColumnRef, constant: int) -> bool:
        return self.distance[0][self.at(column)] < -constant

    def redundant(self, low: ColumnRef, high: ColumnRef) -> bool:
        """[A] Definition 3.1 = [S] Definition 8(1); 8(2) and (3): one side equals a constant."""
        return (
            any(self.less(low, e) and self.less(e, high) for e in self.columns)
            or any(self.below(low, k) and self.above(high, k) for k in self.constants)
            or any(self.is_constant(c, k) for c in (low, high) for k in self.constants)
        )


def close(matrix: Matrix) -> bool:
    """Floyd and Warshall; False for a contradiction."""
    size = range(len(matrix))
    for k in size:
        for i in size:
            step = matrix[i][k]
            if step < FAR:
                for j in size:
                    if matrix[k][j] < FAR and step + matrix[k][j] < matrix[i][j]:
                        matrix[i][j] = step + matrix[k][j]
    return all(matrix[i][i] >= 0 for i in size)


def ltos(query: SpjQuery, groups: list[Group] | None = None) -> Iterator[Lto]:
    """[A] Theorem 4.1: the satisfiable locally totally ordered queries whose union is `query`.

    Streams of one group are merged before ([S] preprocessing 2), so their columns are ordered, too.
    """
    streams = groups or [frozenset({o.alias}) for o in query.occurrences]
    columns = sorted(
        ColumnRef(o.alias, c.name)
        for o in query.occurrences
        for c in o.relation.columns
        if c.name != o.relation.time
    )
    constants = sorted({t.value for p in _values(query) for t in (p.left, p.right) if _is_k(t)})
    base: Matrix = [[FAR] * (len(columns) + 1) for _ in range(len(columns) + 1)]
    for i in range(len(base)):
        base[i][i] = 0
    for p in _values(query):
        _require(base, columns, p.left, p.op, p.right)
    if not close(base):
        return
    local = [
        list(total_orders([c for c in columns if c.occurrence in stream], constants))
        for stream in streams
    ]
    yield from _combined(columns, constants, base, local)


def _combined(
    columns: list[ColumnRef],
    constants: list[int],
    base: Matrix,
    local: list[list[list[tuple[Term, Op, Term]]]],
) -> Iterator[Lto]:
    if not local:
        yield Lto(columns, constants, base)
        return
    for order in local[0]:
        matrix = [list(row) for row in base]
        for left, op, right in order:
            _require(matrix, columns, left, op, right)
        if close(matrix):
            yield from _combined(columns, constants, matrix, local[1:])


def total_orders(
    columns: list[ColumnRef], constants: list[int]
) -> Iterator[list[tuple[Term, Op, Term]]]:
    """TO(E) of [A] section 3: each two elements are <, = or >; impossible ones are closed away."""
    pairs: list[tuple[Term, Term]] = [
        *combinations(columns, 2),
        *((c, _constant(k)) for c in columns for k in constants),
    ]
    matrix: Matrix = [[FAR] * (len(columns) + 1) for _ in range(len(columns) + 1)]
    for i in range(len(matrix)):
        matrix[i][i] = 0
    yield from _ordered(columns, pairs, matrix)


def _ordered(
    columns: list[ColumnRef], pairs: list[tuple[Term, Term]], known: Matrix
) -> Iterator[list[tuple[Term, Op, Term]]]:
    if not pairs:
        yield []
        return
    left, right = pairs[0]
    for op in (Op.LT, Op.EQ, Op.GT):
        matrix = [list(row) for row in known]
        _require(matrix, columns, left, op, right)
        if close(matrix):
            for rest in _ordered(columns, pairs[1:], matrix):
                yield [(left, op, right), *rest]


def _require(matrix: Matrix, columns: list[ColumnRef], left: Term, op: Op, right: Term) -> None:
    (i, a), (j, b) = _place(columns, left), _place(columns, right)
    strict = -1 if op in (Op.LT, Op.GT) else 0
    if op in (Op.LT, Op.EQ):
        matrix[i][j] = min(matrix[i][j], b - a + strict)
    if op in (Op.GT, Op.EQ):
        matrix[j][i] = min(matrix[j][i], a - b + strict)


def _place(columns: list[ColumnRef], term: Term) -> tuple[int, int]:
    if isinstance(term, ColumnRef):
        return columns.index(term) + 1, 0
    assert isinstance(term.value, int)
    return 0, term.value


def _values(query: SpjQuery) -> list[Comparison]:
    found = [p for p in query.predicates if isinstance(p, Comparison)]
    assert len(found) == len(query.predicates)
    return [p for p in found if not (query.is_time(p.left) or query.is_time(p.right))]


def _is_k(term: Term) -> bool:
    return isinstance(term, Constant)


def _constant(value: int) -> Constant:
    return Constant(value, INTEGER)


def arasu(query: SpjQuery, semantics: Semantics) -> bool:
    """[A] Theorems 4.3 and 5.3: every LTO query satisfies C1 to C3."""
    if len(query.occurrences) == 1 and semantics is Semantics.BAG:
        return True
    return all(_c1_to_c3(query, lto, semantics) for lto in ltos(query))


def _c1_to_c3(query: SpjQuery, lto: Lto, semantics: Semantics) -> bool:
    if not all(lto.bounded(c) for c in query.projected):
        return False
    for a, b in combinations(lto.columns, 2):
        if a.occurrence != b.occurrence and lto.equal(a, b) and not lto.bounded(a):
            return False
    for o in query.occurrences:
        low, high = max_ref(lto, o.alias), min_ref(lto, o.alias)
        if semantics is Semantics.BAG and low + high:
            return False
        if classes(lto, low) + classes(lto, high) > 1:
            return False
    return True


def max_ref(lto: Lto, alias: str) -> list[ColumnRef]:
    """[A] Definition 4.2: unbounded columns above a column of another stream."""
    return [a for a in lto.columns if a.occurrence == alias and _refers(lto, a, above=True)]


def min_ref(lto: Lto, alias: str) -> list[ColumnRef]:
    return [a for a in lto.columns if a.occurrence == alias and _refers(lto, a, above=False)]


def _refers(lto: Lto, column: ColumnRef, *, above: bool) -> bool:
    if lto.bounded(column):
        return False
    others = [b for b in lto.columns if b.occurrence != column.occurrence]
    pairs = [(b, column) if above else (column, b) for b in others]
    return any(lto.less(low, high) and not lto.redundant(low, high) for low, high in pairs)


def classes(lto: Lto, columns: list[ColumnRef]) -> int:
    return len({min(c for c in lto.columns if lto.equal(c, column)) for column in columns})


@dataclass(frozen=True)
class Order:
    """The timestamps of a query: `<` and `=` only."""

    groups: list[Group]
    before: set[tuple[Group, Group]]

    def group(self, column: ColumnRef) -> Group:
        return next(g for g in self.groups if column.occurrence in g)

    def can_precede(self, x: Group, y: Group) -> bool:
        return x != y and (y, x) not in self.before

    def down(self, x: Group) -> frozenset[Group]:
        return frozenset({x} | {y for y in self.groups if (y, x) in self.before})


def time_order(query: SpjQuery) -> Order | None:
    """The order of the timestamps, those that are equal merged; None for a contradiction."""
    times = [p for p in query.predicates if isinstance(p, Comparison) and query.is_time(p.left)]
    group = {o.alias: frozenset({o.alias}) for o in query.occurrences}
    for p in times:
        if p.op is Op.EQ:
            merged = group[_alias(p.left)] | group[_alias(p.right)]
            group.update(dict.fromkeys(merged, merged))
    before = set()
    for p in times:
        x, y = group[_alias(p.left)], group[_alias(p.right)]
        before |= {(x, y)} if p.op is Op.LT else {(y, x)} if p.op is Op.GT else set()
    while more := {(x, z) for x, y in before for w, z in before if w == y} - before:
        before |= more
    if any(x == y for x, y in before):
        return None
    return Order(list(dict.fromkeys(group.values())), before)


def _alias(term: Term) -> str:
    assert isinstance(term, ColumnRef)
    return term.occurrence


def timeline(query: SpjQuery, semantics: Semantics) -> bool:
    """B1 and B2, or S0 to S3, of THEORY 7 in every LTO query."""
    order = time_order(query)
    if order is None:
        return True
    conditions = (b1, b2) if semantics is Semantics.BAG else (s0, s1, s2, s3)
    every = ltos(query, order.groups)
    return all(holds(query, order, lto) for lto in every for holds in conditions)


def b1(query: SpjQuery, order: Order, lto: Lto) -> bool:
    """Every projected X.A is bounded, unless X can precede no other stream."""
    return all(
        lto.bounded(c) or not any(order.can_precede(order.group(c), y) for y in order.groups)
        for c in query.projected
    )


def b2(query: SpjQuery, order: Order, lto: Lto) -> bool:
    """For every equality join and non-redundant inequality join: X.A bounded if X can precede Y."""
    return all(
        lto.bounded(a)
        for a, b in permutations(lto.columns, 2)
        if order.can_precede(order.group(a), order.group(b)) and _joined(lto, a, b)
    )


def _joined(lto: Lto, a: ColumnRef, b: ColumnRef) -> bool:
    return lto.equal(a, b) or any(
        lto.less(low, high) and not lto.redundant(low, high) for low, high in ((a, b), (b, a))
    )


def s0(query: SpjQuery, order: Order, lto: Lto) -> bool:
    return all(lto.bounded(c) for c in query.projected)


def s1(query: SpjQuery, order: Order, lto: Lto) -> bool:
    return all(
        lto.bounded(a) and lto.bounded(b)
        for a, b in combinations(lto.columns, 2)
        if order.group(a) != order.group(b) and lto.equal(a, b)
    )


Reference = tuple[ColumnRef, str, ColumnRef]
"""(X.A, min or max, the future column), each column standing for its class."""


def references(order: Order, lto: Lto, x: Group, stored: frozenset[Group]) -> set[Reference]:
    """The references of `x` towards outside `stored`."""

    def named(column: ColumnRef) -> ColumnRef:
        return min(c for c in lto.columns if lto.equal(c, column))

    found = set()
    for a, b in permutations(lto.columns, 2):
        if order.group(a) != x or order.group(b) in stored or lto.bounded(a):
            continue
        if lto.less(a, b) and not lto.redundant(a, b):
            found.add((named(a), "min", named(b)))
        if lto.less(b, a) and not lto.redundant(b, a):
            found.add((named(a), "max", named(b)))
    return found


def s2(query: SpjQuery, order: Order, lto: Lto) -> bool:
    """Every X has at most one reference towards outside ↓X."""
    return all(
        len({(a, side) for a, side, _ in references(order, lto, x, order.down(x))}) <= 1
        for x in order.groups
    )


def s3(query: SpjQuery, order: Order, lto: Lto) -> bool:
    """X ≺ Y: not both have references towards outside ↓Y, unless all serve one single test."""
    for x, y in order.before:
        stored = order.down(y)
        one, two = references(order, lto, x, stored), references(order, lto, y, stored)
        if one and two and len({(b, side) for _, side, b in one | two}) > 1:
            return False
    return True
