"""Random queries over small streams, and a short way to write fixed ones."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from obda_bm.ir.catalog import Column, Extent, Relation
from obda_bm.ir.spj import Occurrence, Output, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import BOOLEAN, DOUBLE, INTEGER, TEXT, Family, Order, SqlType, decimal
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Membership, Op, Predicate, Term

STRICT = (Op.LT, Op.EQ, Op.GT)
"""The operators of [A]."""
EVERY = tuple(Op)
TENTHS = decimal(6, 1)
MIXED = (INTEGER, INTEGER, TENTHS, DOUBLE, TEXT, BOOLEAN)
NAMES = "XYZW"
FOUND = Output("found", Constant(1, INTEGER))
"""What a boolean query projects."""


@dataclass(frozen=True)
class Shape:
    """What random queries may look like."""

    streams: tuple[int, int] = (1, 3)
    columns: int = 2
    operators: tuple[Op, ...] = STRICT
    constants: tuple[int, ...] = (0, 3)
    joins: tuple[int, int] = (0, 3)
    filters: tuple[int, int] = (0, 3)
    local: float = 0.0  # how likely it is that a comparison stays within a stream
    times: tuple[Op, ...] = ()
    types: tuple[SqlType, ...] = (INTEGER,)
    statics: int = 0
    finite: float = 0.0
    self_joins: float = 0.0
    lists: float = 0.0
    intervals: float = 0.0
    semantics: tuple[Semantics, ...] = (Semantics.BAG, Semantics.SET)


def stream(name: str, types: dict[str, SqlType], end: int | None = None) -> Relation:
    extent = Extent.INFINITE if end is None else Extent.FINITE
    columns = tuple(Column(c, t, nullable=False) for c, t in {**types, "ts": INTEGER}.items())
    return Relation(name, columns, extent, time="ts", end=end)


def static(name: str, types: dict[str, SqlType]) -> Relation:
    columns = tuple(Column(c, t, nullable=False) for c, t in types.items())
    return Relation(name, columns, Extent.STATIC)


def integers(names: str) -> dict[str, SqlType]:
    return dict.fromkeys(names, INTEGER)


def term(text: str) -> Term:
    """`X.A` or a whole number."""
    alias, dot, column = text.partition(".")
    return ColumnRef(alias, column) if dot else Constant(int(text), INTEGER)


def comparison(text: str) -> Comparison:
    """`X.A < Y.B`; `X < Y` compares the time of two streams."""
    left, op, right = text.split()
    if left.isalpha() and right.isalpha():
        left, right = f"{left}.ts", f"{right}.ts"
    return Comparison(term(left), Op(op), term(right))


def written(streams: str, where: str, project: str = "", semantics: str = "set") -> SpjUnion:
    """A query in short: `written("X(A) Y(B)", "X.A < Y.B, X < Y")`."""
    occurrences = []
    for item in streams.split():
        name, _, columns = item.rstrip(")").partition("(")
        occurrences.append(Occurrence(name, stream(name, integers(columns))))
    predicates = tuple(comparison(p) for p in where.split(", ") if p)
    outputs = tuple(Output(f"o{i}", term(p)) for i, p in enumerate(project.split()))
    branch = SpjQuery(tuple(occurrences), outputs or (FOUND,), predicates)
    return SpjUnion((branch,), Semantics(semantics))


def random_query(rng: Random, shape: Shape) -> SpjUnion:
    occurrences = _occurrences(rng, shape)
    columns = [
        (ColumnRef(o.alias, c.name), c.type)
        for o in occurrences
        for c in o.relation.columns
        if c.name != o.relation.time
    ]
    predicates: list[Predicate] = []
    for _ in range(rng.randint(*shape.joins)):
        predicates += _join(rng, shape, columns)
    for _ in range(rng.randint(*shape.filters)):
        predicates.append(_filter(rng, shape, columns))
    predicates += _time_order(rng, shape, occurrences)
    rng.shuffle(predicates)
    count = rng.choice((0, 0, 1, 1, 2))
    chosen = rng.sample(columns, min(count, len(columns)))
    outputs = tuple(Output(f"o{i}", c) for i, (c, _) in enumerate(chosen))
    branch = SpjQuery(tuple(occurrences), outputs or (FOUND,), tuple(predicates))
    return SpjUnion((branch,), rng.choice(shape.semantics))


def random_queries(seed: int, count: int, shape: Shape) -> list[SpjUnion]:
    rng = Random(seed)
    return [random_query(rng, shape) for _ in range(count)]


def _occurrences(rng: Random, shape: Shape) -> list[Occurrence]:
    found: list[Occurrence] = []
    for name in NAMES[: rng.randint(*shape.streams)]:
        repeated = found and rng.random() < shape.self_joins
        relation = rng.choice(found).relation if repeated else _stream(rng, shape, name)
        found.append(Occurrence(name, relation))
    for i in range(rng.randint(0, shape.statics)):
        found.append(Occurrence(f"R{i}", static(f"R{i}", {"K": rng.choice(shape.types)})))
    return found


def _stream(rng: Random, shape: Shape, name: str) -> Relation:
    types = {c: rng.choice(shape.types) for c in "ABCD"[: rng.randint(1, shape.columns)]}
    return stream(name, types, end=5 if rng.random() < shape.finite else None)


def _join(rng: Random, shape: Shape, columns: list[tuple[ColumnRef, SqlType]]) -> list[Comparison]:
    local = rng.random() < shape.local
    pairs = [
        (a, b, t)
        for a, t in columns
        for b, s in columns
        if a != b and s.family is t.family and (a.occurrence == b.occurrence) == local
    ]
    if not pairs:
        return []
    left, right, kind = rng.choice(pairs)
    return [Comparison(left, _operator(rng, shape, kind), right)]


def _operator(rng: Random, shape: Shape, kind: SqlType) -> Op:
    return rng.choice([o for o in shape.operators if _applies(o, kind)])


def _applies(op: Op, kind: SqlType) -> bool:
    return op in (Op.EQ, Op.NE) or kind.order is not Order.UNORDERED


def _filter(rng: Random, shape: Shape, columns: list[tuple[ColumnRef, SqlType]]) -> Predicate:
    column, kind = rng.choice(columns)
    if rng.random() < shape.lists:
        values = dict.fromkeys(constant(rng, shape, kind) for _ in range(rng.randint(1, 3)))
        return Membership(column, tuple(values))
    return Comparison(column, _operator(rng, shape, kind), constant(rng, shape, kind))


def constant(rng: Random, shape: Shape, kind: SqlType) -> Constant:
    number = rng.choice(shape.constants)
    match kind.family:
        case Family.TEXT:
            return Constant(f"t{number}", TEXT)
        case Family.BOOLEAN:
            return Constant(rng.choice((0, 1)), BOOLEAN)
        case _ if kind == INTEGER:
            return Constant(number, INTEGER)
        case _:
            return Constant(_plain(number + Fraction(rng.choice((0, 0, 5)), 10)), TENTHS)


def _plain(value: Fraction) -> int | Fraction:
    return int(value) if value.denominator == 1 else value


def _time_order(rng: Random, shape: Shape, occurrences: list[Occurrence]) -> list[Comparison]:
    times = [o.time for o in occurrences if o.time is not None]
    if not shape.times or len(times) < 2:
        return []
    order = rng.sample(times, len(times))  # an order that exists: contradictions are rare this way
    found = []
    for i, earlier in enumerate(order):
        for later in order[i + 1 :]:
            if rng.random() < 0.5:
                offset = rng.randint(1, 4) if rng.random() < shape.intervals else 0
                op = Op.GE if offset else rng.choice(shape.times)
                found.append(Comparison(earlier, op, later, -offset))
    return found
