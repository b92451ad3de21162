"""P+: every comparison that a query's predicates imply, over values and over time.

Values and time are two separate systems ([S] Definition 4: they are never compared). The catalog's
constraints (CHECK, finite types, the end of a finite stream) are part of P. Texts have no order:
their constants get codes of their own, and only equalities ever relate them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.sqltypes import FIRST_INSTANT, Family, Order, Value
from obda_bm.ir.terms import (
    ColumnRef,
    Comparison,
    Constant,
    Membership,
    NotNull,
    Op,
    Predicate,
    Term,
    columns_of,
)
from obda_bm.order.differences import Difference, DifferenceBounds, close_differences


@dataclass(frozen=True, slots=True)
class Scale:
    """Exact values as whole numbers of a common unit, `1 / parts`; texts by a code."""

    parts: int
    texts: tuple[str, ...] = ()
    fine: int = 1  # units between neighbouring constants, for dense values to lie in

    def number(self, value: Value) -> int:
        if isinstance(value, str):
            # A text that the query does not mention equals none that it does.
            known = self.texts.index(value) if value in self.texts else len(self.texts)
            return (known + 1) * self.parts
        return int(value * self.parts)

    def value(self, number: int) -> int | Fraction:
        exact = Fraction(number, self.parts)
        return int(exact) if exact.denominator == 1 else exact


@dataclass(frozen=True, slots=True)
class Closure:
    """P+ of one satisfiable query.

    `endless` are the aliases of which tuples may arrive forever: an upper-bounded timestamp makes a
    stream finite ([S] preprocessing 3). `allowed` holds, for every column that is restricted to
    listed values, those that remain. `disequal` holds pairs of texts that must differ.
    """

    query: SpjQuery
    values: DifferenceBounds[ColumnRef]
    times: DifferenceBounds[ColumnRef]
    scale: Scale
    allowed: Mapping[ColumnRef, frozenset[int]]
    disequal: tuple[tuple[ColumnRef, ColumnRef], ...]
    endless: frozenset[str]

    def infinite(self, alias: str) -> bool:
        return alias in self.endless

    def symbolic(self) -> tuple[ColumnRef, ...]:
        """Columns of what is static or ends: constants, once their tuples are known."""
        return tuple(c for c in self.values.nodes if not self.infinite(c.occurrence))

    def equals(self, left: ColumnRef, right: ColumnRef) -> bool:
        known = left in self.values.index and right in self.values.index
        return left == right or (known and self.values.equal(left, right))

    def class_of(self, column: ColumnRef) -> frozenset[ColumnRef]:
        if column not in self.values.index:
            return frozenset([column])
        return frozenset(self.values.equals_of(column))

    def bounded(self, column: ColumnRef) -> bool:
        """Whether finitely many values of `column` can take part in an answer.

        [A] Definition 3.2 generalised to |sat(A, P)| ([A] section 6), with static columns as
        symbolic constants ([S] Definition 5).
        """
        return any(map(self._bounded_itself, self.class_of(column)))

    def _bounded_itself(self, column: ColumnRef) -> bool:
        if not self.infinite(column.occurrence) or column in self.allowed:
            return True
        if column not in self.values.index:
            return False
        if self.constant(column) is not None:
            return True
        if self.query.column(column).type.order is not Order.DISCRETE:
            return False
        constants: tuple[ColumnRef | None, ...] = (None, *self.symbolic())
        return any(self.values.bound(column, c) is not None for c in constants) and any(
            self.values.bound(c, column) is not None for c in constants
        )

    def constant(self, column: ColumnRef) -> int | None:
        """The one number that `column` can have, or None."""
        if column not in self.values.index:
            return None
        lower, upper = self.values.lower(column), self.values.upper(column)
        return lower if lower is not None and lower == upper else None

    def grain(self, column: ColumnRef) -> int:
        """The distance between neighbouring values of `column`, in units of the scale."""
        return grain_of(self.query, column, self.scale)

    def implies(self, predicate: Predicate) -> bool:
        """Whether every assignment that satisfies P satisfies `predicate`, too.

        A CHECK bounds a column and lets NULL pass, which satisfies no comparison.
        """
        if not all(map(self.non_null, columns_of(predicate))):
            return False
        match predicate:
            case Comparison(Constant(left), op, Constant(right), offset):
                return _holds(left, op, right, offset)
            case Comparison(left, Op.NE, right):
                return self._apart(left, right)
            case Comparison():
                return all(map(self._implies_difference, self._differences(predicate)))
            case Membership(column, values):
                numbers = frozenset(self.scale.number(v.value) for v in values)
                listed = self.allowed.get(column)
                return self.constant(column) in numbers or (
                    listed is not None and listed <= numbers
                )
            case NotNull():
                return True

    def non_null(self, column: ColumnRef) -> bool:
        declared = self.query.column(column)
        return not declared.nullable or any(column in columns_of(p) for p in self.query.predicates)

    def _apart(self, left: Term, right: Term) -> bool:
        pair = {left, right}
        if any({a, b} == pair for a, b in self.disequal):
            return True
        if _is_text(self.query, left, right):
            known = [self._known(left), self._known(right)]
            return None not in known and known[0] != known[1]
        return any(self.implies(Comparison(left, op, right)) for op in (Op.LT, Op.GT))

    def _known(self, term: Term) -> int | None:
        match term:
            case ColumnRef():
                return self.constant(term)
            case Constant(value):
                return self.scale.number(value)

    def _differences(self, comparison: Comparison) -> Iterable[Difference[ColumnRef]]:
        if self.query.is_time(comparison.left) or self.query.is_time(comparison.right):
            return differences(comparison, Scale(1))
        return differences(comparison, self.scale)

    def _implies_difference(self, wanted: Difference[ColumnRef]) -> bool:
        columns = [c for c in (wanted.left, wanted.right) if c is not None]
        if any(not (c in self.values.index or c in self.times.index) for c in columns):
            # A column that no predicate mentions: only `c = c` holds.
            return wanted.left == wanted.right and wanted.bound >= 0
        system = self.times if any(c in self.times.index for c in columns) else self.values
        bound = system.bound(wanted.left, wanted.right)
        return bound is not None and bound <= wanted.bound


def close_query(query: SpjQuery, also: Iterable[Value] = ()) -> Closure | None:
    """P+ of `query`, or None where its predicates contradict each other.

    `also` lists further constants that the closure will be asked about.
    """
    predicates = predicates_of(query)
    if not all(map(_possible, predicates)):
        return None
    about_time = [p for p in predicates if any(query.is_time(c) for c in columns_of(p))]
    about_values = [p for p in predicates if p not in about_time]
    times = _close_times(query, about_time)
    columns = _value_columns(query, about_values)
    constants = [v for p in about_values for v in constants_of(p)]
    scale = _scale(query, columns, [*constants, *also])
    grains = {c: grain_of(query, c, scale) for c in columns}
    constraints = [d for p in about_values for d in differences(p, scale)]
    values = close_differences(columns, grains, constraints)
    if times is None or values is None:
        return None
    endless = frozenset(time.occurrence for time in times.nodes if times.upper(time) is None)
    disequal = _disequal(query, about_values)
    closed = Closure(query, values, times, scale, {}, disequal, endless)
    return _apply_listed_values(closed, about_values)


def differences(predicate: Predicate, scale: Scale) -> tuple[Difference[ColumnRef], ...]:
    """`predicate` as difference constraints; none for what is not a conjunction of them."""
    match predicate:
        case Comparison(left, op, right, offset):
            x, a = _split(left, scale)
            y, b = _split(right, scale)
            upper = b - a + offset  # x - y op upper
            match op:
                case Op.LT:
                    return (Difference(x, y, upper - 1),)
                case Op.LE:
                    return (Difference(x, y, upper),)
                case Op.EQ:
                    return (Difference(x, y, upper), Difference(y, x, -upper))
                case Op.GE:
                    return (Difference(y, x, -upper),)
                case Op.GT:
                    return (Difference(y, x, -upper - 1),)
                case Op.NE:
                    return ()
        case Membership() | NotNull():
            return ()


def _split(term: Term, scale: Scale) -> tuple[ColumnRef | None, int]:
    match term:
        case ColumnRef():
            return term, 0
        case Constant(value):
            return None, scale.number(value)


def predicates_of(query: SpjQuery) -> list[Predicate]:
    finite_types = [
        Membership(ColumnRef(o.alias, c.name), tuple(Constant(v, c.type) for v in c.type.values))
        for o in query.occurrences
        for c in o.relation.columns
        if c.type.values is not None
    ]
    ends = [
        Comparison(o.time, Op.LE, Constant(o.relation.end, o.relation.column(o.time.column).type))
        for o in query.occurrences
        if o.time is not None and o.relation.end is not None
    ]
    return [*query.predicates, *query.checks(), *finite_types, *ends]


def _possible(predicate: Predicate) -> bool:
    """False for what no tuple satisfies by itself: `1 = 2`, `a <> a`, `a IN ()`."""
    match predicate:
        case Comparison(Constant(left), op, Constant(right), offset):
            return _holds(left, op, right, offset)
        case Comparison(left, Op.NE, right, 0):
            return left != right
        case Membership(_, values):
            return bool(values)
        case _:
            return True


def _holds(left: Value, op: Op, right: Value, offset: int) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        return (left == right) == (op in (Op.EQ, Op.LE, Op.GE))
    difference = left - right - offset
    return {
        Op.LT: difference < 0,
        Op.LE: difference <= 0,
        Op.EQ: difference == 0,
        Op.NE: difference != 0,
        Op.GE: difference >= 0,
        Op.GT: difference > 0,
    }[op]


def _close_times(
    query: SpjQuery, predicates: Sequence[Predicate]
) -> DifferenceBounds[ColumnRef] | None:
    columns = [o.time for o in query.occurrences if o.time is not None]
    grains = {c: int(query.column(c).type.grain) for c in columns}
    start = [Difference(None, c, -_first_time(query, c)) for c in columns]
    listed = [d for p in predicates if isinstance(p, Membership) for d in _hull(p)]
    stated = [d for p in predicates for d in differences(p, Scale(1))]
    return close_differences(columns, grains, [*start, *listed, *stated])


def _first_time(query: SpjQuery, column: ColumnRef) -> int:
    """Time has a minimum ([S] Execution Model): tick 0, or the first day that SQL knows."""
    return FIRST_INSTANT if query.column(column).type.family is Family.INSTANT else 0


def _hull(listed: Membership) -> list[Difference[ColumnRef]]:
    numbers = [int(v.value) for v in listed.values]
    return [
        Difference(listed.column, None, max(numbers)),
        Difference(None, listed.column, -min(numbers)),
    ]


def _value_columns(query: SpjQuery, predicates: Iterable[Predicate]) -> list[ColumnRef]:
    mentioned = {c for p in predicates for c in columns_of(p)}
    return sorted(mentioned | {c for c in query.projected if not query.is_time(c)})


def _scale(query: SpjQuery, columns: Sequence[ColumnRef], constants: Sequence[Value]) -> Scale:
    types = [query.column(c).type for c in columns]
    numbers = [t.grain for t in types if t.order is Order.DISCRETE]
    numbers += [Fraction(v) for v in constants if not isinstance(v, str)]
    parts = lcm(1, *(n.denominator for n in numbers))
    texts = tuple(sorted({v for v in constants if isinstance(v, str)}))
    # Dense: finer than any chain of strict inequalities is long, and still a decimal fraction.
    dense = any(t.order is Order.DENSE for t in types)
    fine = 10 ** len(str(len(columns) + 2)) if dense else 1
    return Scale(parts * fine, texts, fine)


def constants_of(predicate: Predicate) -> tuple[Value, ...]:
    match predicate:
        case Comparison(left, _, right):
            return tuple(t.value for t in (left, right) if isinstance(t, Constant))
        case Membership(_, values):
            return tuple(v.value for v in values)
        case NotNull():
            return ()


def grain_of(query: SpjQuery, column: ColumnRef, scale: Scale) -> int:
    kind = query.column(column).type
    return int(kind.grain * scale.parts) if kind.order is Order.DISCRETE else 1


def _is_text(query: SpjQuery, left: Term, right: Term) -> bool:
    return any(
        query.column(t).type.order is Order.UNORDERED
        for t in (left, right)
        if isinstance(t, ColumnRef)
    )


def _disequal(
    query: SpjQuery, predicates: Iterable[Predicate]
) -> tuple[tuple[ColumnRef, ColumnRef], ...]:
    return tuple(
        (p.left, p.right)
        for p in predicates
        if isinstance(p, Comparison)
        and p.op is Op.NE
        and isinstance(p.left, ColumnRef)
        and isinstance(p.right, ColumnRef)
    )


def _apply_listed_values(closure: Closure, predicates: list[Predicate]) -> Closure | None:
    """Narrow columns to the values that `IN` lists and `<>` a constant leaves, to a fixpoint.

    Every constraint here is closed under taking minima, so narrowing the bounds of each column
    to its nearest remaining values decides satisfiability.
    """
    listed = [p for p in predicates if isinstance(p, Membership)]
    holes = [
        (c, closure.scale.number(v))
        for p in predicates
        if isinstance(p, Comparison) and p.op is Op.NE
        for c in columns_of(p)
        for v in constants_of(p)
    ]
    current = closure
    while True:
        narrowed = _narrow(current, listed, holes)
        if narrowed is None or any(narrowed.equals(a, b) for a, b in narrowed.disequal):
            return None
        if (narrowed.values.rows, narrowed.allowed) == (current.values.rows, current.allowed):
            return current
        current = narrowed


def _narrow(
    closure: Closure, listed: list[Membership], holes: list[tuple[ColumnRef, int]]
) -> Closure | None:
    allowed: dict[ColumnRef, frozenset[int]] = {}
    bounds: list[Difference[ColumnRef]] = []
    for column in closure.values.nodes:
        equal = closure.class_of(column)
        excluded = {hole for c, hole in holes if c in equal}
        lists = [
            {closure.scale.number(v.value) for v in p.values} for p in listed if p.column in equal
        ]
        if lists:
            left = _remaining(closure, column, set.intersection(*lists) - excluded)
            if not left:
                return None
            allowed[column] = frozenset(left)
            bounds += _narrowed_to_list(closure, column, left)
        else:
            bounds += _stepped_over_holes(closure, column, excluded)
    bounds += _made_strict(closure)
    values = closure.values.refine(bounds)
    return None if values is None else replace(closure, values=values, allowed=allowed)


def _made_strict(closure: Closure) -> list[Difference[ColumnRef]]:
    """`a <= b` and `a <> b` together are `a < b`."""
    return [
        Difference(low, high, -1)
        for a, b in closure.disequal
        if not _is_text(closure.query, a, b)
        for low, high in ((a, b), (b, a))
        if closure.values.at_most(low, high)
    ]


def _remaining(closure: Closure, column: ColumnRef, numbers: set[int]) -> set[int]:
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    return {n for n in numbers if (lower is None or lower <= n) and (upper is None or n <= upper)}


def _narrowed_to_list(
    closure: Closure, column: ColumnRef, numbers: set[int]
) -> list[Difference[ColumnRef]]:
    # The codes of texts have no order: only a single remaining value says something.
    if closure.query.column(column).type.order is Order.UNORDERED and len(numbers) > 1:
        return []
    return [Difference(column, None, max(numbers)), Difference(None, column, -min(numbers))]


def _stepped_over_holes(
    closure: Closure, column: ColumnRef, holes: set[int]
) -> list[Difference[ColumnRef]]:
    stepped: list[Difference[ColumnRef]] = []
    if (upper := closure.values.upper(column)) in holes and upper is not None:
        stepped.append(Difference(column, None, upper - 1))
    if (lower := closure.values.lower(column)) in holes and lower is not None:
        stepped.append(Difference(None, column, -lower - 1))
    return stepped
