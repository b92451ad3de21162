"""Closure and satisfiability against all assignments over a small set of values.

Every column of a generated query is bounded explicitly, so the values enumerated are all there are.
DOUBLE is enumerated on fortieths: between two neighbouring tenths, on which all constants and all
DECIMAL values lie, three points are left, and no query has more than three columns to order there.
The negation of a comparison that is not implied is one more comparison of the same kind, so the
same points show that it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obda_bm.ir.spj import Occurrence, SpjQuery
from obda_bm.ir.sqltypes import DOUBLE, INTEGER, TEXT, Family, SqlType, Value
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Membership, Op, Predicate, columns_of
from obda_bm.order.closure import close_query
from obda_bm.order.differences import Difference, close_differences, solve_differences
from obda_bm.order.split_disequalities import split_disequalities

from .prefixes import Assignment, satisfied
from .queries import FOUND, TENTHS, stream

ORDERED = (Op.LT, Op.LE, Op.EQ, Op.GE, Op.GT)
HIGH = {INTEGER: 5, TENTHS: 1, DOUBLE: 1}
"""The upper bound of every column; the lower one is 0. One for all columns of a mixed query."""


def values(kind: SqlType, high: int) -> Sequence[Value]:
    if kind is TEXT:
        return ["t0", "t1", "t2", "new0", "new1", "new2"]
    parts = {INTEGER: 1, TENTHS: 10, DOUBLE: 40}[kind]
    return [_plain(Fraction(n, parts)) for n in range(high * parts + 1)]


def _plain(value: Fraction) -> Value:
    return int(value) if value.denominator == 1 else value


def models(query: SpjQuery, high: int) -> list[Assignment]:
    """All assignments that satisfy the query, columns added one by one."""
    columns = [
        ColumnRef(o.alias, c.name)
        for o in query.occurrences
        for c in o.relation.columns
        if c.name != o.relation.time
    ]
    found: list[dict[ColumnRef, Value]] = [{}]
    for i, column in enumerate(columns):
        tests = [
            p
            for p in query.predicates
            if column in columns_of(p) and set(columns_of(p)) <= set(columns[: i + 1])
        ]
        extended = (
            {**at, column: v} for at in found for v in values(query.column(column).type, high)
        )
        found = [at for at in extended if all(satisfied(p, at) for p in tests)]
    return list(found)


def random_closed(
    rng: Random,
    types: Sequence[SqlType],
    operators: Sequence[Op],
    filters: Sequence[Op],
    lists: float,
) -> tuple[SpjQuery, int]:
    """A query over X and Y whose columns all lie in 0..high, and high."""
    kinds = [rng.choice(list(types)) for _ in range(3)]
    high = min(HIGH.get(k, 5) for k in kinds)
    relations = {"X": {"A": kinds[0], "B": kinds[1]}, "Y": {"A": kinds[2]}}
    columns = [(ColumnRef(a, c), k) for a, cs in relations.items() for c, k in cs.items()]
    predicates: list[Predicate] = []
    for column, kind in columns:
        if kind.family is Family.NUMBER:
            predicates.append(Comparison(column, Op.GE, Constant(0, INTEGER)))
            predicates.append(Comparison(column, Op.LE, Constant(high, INTEGER)))
    for _ in range(rng.randint(1, 4)):
        (left, _), (right, _) = rng.sample(columns, 2)
        predicates.append(Comparison(left, rng.choice(operators), right))
    for _ in range(rng.randint(0, 3)):
        column, kind = rng.choice(columns)
        if rng.random() < lists:
            several = {_constant(rng, kind, high) for _ in range(rng.randint(1, 3))}
            predicates.append(Membership(column, tuple(sorted(several, key=str))))
        else:
            predicates.append(Comparison(column, rng.choice(filters), _constant(rng, kind, high)))
    occurrences = tuple(Occurrence(a, stream(a, cs)) for a, cs in relations.items())
    return SpjQuery(occurrences, (FOUND,), tuple(predicates)), high


def _constant(rng: Random, kind: SqlType, high: int) -> Constant:
    if kind is TEXT:
        return Constant(f"t{rng.randint(0, 2)}", TEXT)
    if kind is INTEGER:
        return Constant(rng.randint(0, high), INTEGER)
    return Constant(_plain(Fraction(rng.randint(0, 10 * high), 10)), TENTHS)


def _asked(query: SpjQuery, high: int, operators: Sequence[Op]) -> Iterator[Comparison]:
    columns = [ColumnRef("X", "A"), ColumnRef("X", "B"), ColumnRef("Y", "A")]
    for op in operators:
        yield from (Comparison(a, op, b) for a, b in permutations(columns, 2))
        for p in query.predicates:
            for k in (p.left, p.right) if isinstance(p, Comparison) else ():
                if isinstance(k, Constant):
                    yield from (
                        Comparison(c, op, k)
                        for c in columns
                        if query.column(c).type.family is k.type.family
                    )


@pytest.mark.parametrize(
    ("types", "count"),
    [((INTEGER,), 300), ((INTEGER, TENTHS), 60), ((INTEGER, TENTHS, DOUBLE), 60)],
    ids=["integer", "decimal", "dense"],
)
def test_order_comparisons_are_closed_exactly(types: tuple[SqlType, ...], count: int) -> None:
    rng = Random(1)
    satisfiable = 0
    for _ in range(count):
        query, high = random_closed(rng, types, ORDERED, ORDERED, 0)
        found = models(query, high)
        closure = close_query(query)
        assert (closure is not None) == bool(found), str(query)
        if closure is None:
            continue
        satisfiable += 1
        for asked in _asked(query, high, (*ORDERED, Op.NE)):
            expected = all(satisfied(asked, at) for at in found)
            if asked.op is Op.NE and expected:
                continue  # `<>` may follow although neither < nor > does: not claimed
            assert closure.implies(asked) == expected, f"{query} |= {asked}"
        for a, b in permutations(found[0], 2):
            assert closure.values.less(a, b) == all(_less(at[a], at[b]) for at in found), str(query)
            assert closure.equals(a, b) == all(at[a] == at[b] for at in found), str(query)
    assert 0 < satisfiable < count


def _less(a: Value, b: Value) -> bool:
    assert not isinstance(a, str)
    assert not isinstance(b, str)
    return a < b


@pytest.mark.parametrize("types", [(INTEGER,), (INTEGER, TENTHS)], ids=["integer", "decimal"])
def test_listed_and_excluded_values(types: tuple[SqlType, ...]) -> None:
    """With IN and `<>` a constant: satisfiability and the range of each column are exact."""
    rng = Random(2)
    for _ in range(200 if types == (INTEGER,) else 60):
        query, high = random_closed(rng, types, ORDERED, (*ORDERED, Op.NE, Op.NE), 0.4)
        found = models(query, high)
        closure = close_query(query)
        assert (closure is not None) == bool(found), str(query)
        if closure is None:
            continue
        for column in found[0]:
            reached = {at[column] for at in found}
            lower, upper = closure.values.lower(column), closure.values.upper(column)
            assert lower is not None
            assert upper is not None
            ends = [closure.scale.value(lower), closure.scale.value(upper)]
            assert ends == [min(reached), max(reached)], f"{query}: {column}"
            if column in closure.allowed:
                allowed = {closure.scale.value(n) for n in closure.allowed[column]}
                assert reached <= allowed, f"{query}: {column}"
        for asked in _asked(query, high, tuple(Op)):
            if closure.implies(asked):
                assert all(satisfied(asked, at) for at in found), f"{query} |= {asked}"


def test_split_disequalities_keeps_the_models() -> None:
    rng = Random(3)
    for _ in range(150):
        query, high = random_closed(rng, (INTEGER,), (*ORDERED, Op.NE, Op.NE), ORDERED, 0)
        parts = split_disequalities(query)
        found = models(query, high)
        split = [models(part, high) for part in parts]
        assert sum(map(len, split)) == len(found), "disjoint, and nothing is lost"
        assert all(at in found for part in split for at in part)
        assert any(close_query(part) is not None for part in parts) == bool(found), str(query)


def test_texts() -> None:
    """Three unmentioned texts: no more than three columns ever have to differ."""
    rng = Random(4)
    satisfiable = 0
    for _ in range(400):
        query, high = random_closed(rng, (TEXT,), (Op.EQ, Op.NE), (Op.EQ, Op.NE), 0)
        found = models(query, high)
        closure = close_query(query)
        assert (closure is not None) == bool(found), str(query)
        if closure is None:
            continue
        satisfiable += 1
        for asked in _asked(query, high, (Op.EQ, Op.NE)):
            if closure.implies(asked):
                assert all(satisfied(asked, at) for at in found), f"{query} |= {asked}"
        for a, b in permutations(found[0], 2):
            assert closure.equals(a, b) == all(at[a] == at[b] for at in found), str(query)
    assert 0 < satisfiable < 400


def test_listed_texts() -> None:
    """What is called contradictory is; three columns may all differ, so lists can hide one."""
    rng = Random(5)
    for _ in range(300):
        query, high = random_closed(rng, (TEXT,), (Op.EQ, Op.EQ, Op.NE), (Op.EQ, Op.NE), 0.5)
        found = models(query, high)
        closure = close_query(query)
        if found:
            assert closure is not None, str(query)
            for column, allowed in closure.allowed.items():
                codes = {closure.scale.number(at[column]) for at in found}
                assert codes <= allowed, f"{query}: {column}"
        elif closure is not None:
            differing = [p for p in query.predicates if isinstance(p, Comparison)]
            assert sum(p.op is Op.NE and len(columns_of(p)) == 2 for p in differing) >= 1


NODES = "abc"
REACH = 8


@st.composite
def systems(draw: st.DrawFn) -> tuple[dict[str, int], list[Difference[str]]]:
    """Differences over at most three nodes of nested grains."""
    coarse = draw(st.sampled_from([(1, 1), (1, 2), (1, 4), (2, 4), (1, 8)]))
    grains = {n: draw(st.sampled_from(coarse)) for n in NODES}
    ends = st.sampled_from([None, *NODES])
    stated = st.builds(Difference, ends, ends, st.integers(-7, 7))
    return grains, draw(st.lists(stated, max_size=7))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(systems())
def test_differences_over_all_values(system: tuple[dict[str, int], list[Difference[str]]]) -> None:
    """Every node lies in -8..8 by constraints of its own, so no other value has to be tried."""
    grains, stated = system
    limits = [d for n in NODES for d in (Difference(n, None, REACH), Difference(None, n, REACH))]
    constraints = [*stated, *limits]
    found = [at for at in _grid(grains) if _all_hold(constraints, at)]
    closed = close_differences(NODES, grains, constraints)
    solved = solve_differences(NODES, grains, constraints)
    assert (closed is not None) == (solved is not None) == bool(found)
    if closed is None or solved is None:
        return
    assert solved in found
    for a, b in permutations((None, *NODES), 2):
        widest = max((at[a] if a else 0) - (at[b] if b else 0) for at in found)
        assert closed.bound(a, b) == widest, (a, b)
    refined = close_differences(NODES, grains, limits)
    assert refined is not None
    again = refined.refine(stated)
    assert again is not None
    assert again.rows == closed.rows


@settings(max_examples=300, deadline=None, derandomize=True)
@given(systems())
def test_differences_without_limits(system: tuple[dict[str, int], list[Difference[str]]]) -> None:
    """A system of three nodes whose bounds are at most 7 has a solution within 3·(7+8) if any."""
    grains, stated = system
    closed = close_differences(NODES, grains, stated)
    solved = solve_differences(NODES, grains, stated)
    assert (closed is None) == (solved is None)
    if solved is not None:
        assert all(value % grains[node] == 0 for node, value in solved.items())
        assert _all_hold(stated, solved)


def _grid(grains: dict[str, int]) -> Iterator[dict[str, int]]:
    axes = [[v for v in range(-REACH, REACH + 1) if v % grains[n] == 0] for n in NODES]
    for at in product(*axes):
        yield dict(zip(NODES, at, strict=True))


def _all_hold(constraints: Sequence[Difference[str]], at: dict[str, int]) -> bool:
    value: dict[str | None, int] = {None: 0, **at}
    return all(value[d.left] - value[d.right] <= d.bound for d in constraints)


def test_refining_step_by_step_is_refining_at_once() -> None:
    rng = Random(6)
    for _ in range(100):
        query, _ = random_closed(rng, (INTEGER, TENTHS), ORDERED, ORDERED, 0)
        whole = close_query(query)
        fewer = close_query(replace(query, predicates=query.predicates[:-1]))
        if whole is not None:
            assert fewer is not None, "a part of a satisfiable conjunction is satisfiable"
