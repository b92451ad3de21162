"""Witnesses, executed by DuckDB and by an evaluator that knows nothing but the query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import duckdb
import pytest

from obda_bm.analysis import assess, find_witness
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.sqltypes import BOOLEAN, INTEGER, TEXT, Value
from obda_bm.ir.terms import ColumnRef, Op, columns_of
from obda_bm.ir.verdict import Unbounded, Undecided
from obda_bm.ir.witness import Tuple, Witness
from obda_bm.sql import render_sql

from .prefixes import satisfied
from .queries import EVERY, STRICT, TENTHS, Shape, random_queries, written

STRICT_JOINS = Shape((1, 4), 2, STRICT, times=(Op.LT, Op.EQ), local=0.1)
ANY_JOINS = Shape((1, 3), 2, EVERY, times=(Op.LT, Op.LE, Op.EQ), local=0.2, lists=0.1)
TYPES = (INTEGER, TENTHS, TEXT, BOOLEAN)
ANYTHING = Shape(
    (1, 3), 2, EVERY, types=TYPES, times=(Op.LT,), statics=1, finite=0.1, self_joins=0.2, lists=0.1
)
WINDOWED = Shape((2, 3), 2, STRICT, times=(Op.LT, Op.LE), intervals=0.4)
FOUR = "X < Y, Y < Z, Y < W, X.A < Z.D, Y.C < W.E"

Answer = frozenset[tuple[tuple[object, ...], int]]


def test_witnesses_hold() -> None:
    """All subsets of the candidates have different answers, by plain evaluation."""
    count = 0
    shapes = [(STRICT_JOINS, 150), (ANY_JOINS, 150), (ANYTHING, 150), (WINDOWED, 60)]
    for seed, (shape, size) in enumerate(shapes):
        for query in random_queries(seed, size, shape):
            verdict = assess(query)
            if isinstance(verdict, Unbounded):
                count += 1
                _check_arrival(verdict.witness)
                answers = _answers(query, verdict.witness)
                assert len(set(answers)) == 2**verdict.witness.n, f"{query.semantics}: {query}"
                assert verdict.evidence.subsets == 2**verdict.witness.n
    assert count > 100


@pytest.mark.parametrize("shape", [STRICT_JOINS, ANY_JOINS, ANYTHING, WINDOWED])
def test_witnesses_hold_in_duckdb(shape: Shape) -> None:
    verdicts = [(q, assess(q)) for q in random_queries(11, 60, shape)]
    unbounded = [(q, v.witness) for q, v in verdicts if isinstance(v, Unbounded)][:10]
    assert unbounded
    for query, witness in unbounded:
        answers = _answers_of_duckdb(query, witness)
        assert len(set(answers)) == 2**witness.n, f"{query.semantics}: {query}"
        assert answers == _answers(query, witness)


def test_the_staircase() -> None:
    """THEORY 6: [S] Theorem 2 calls this bounded; 2^8 states are needed after 8 pairs."""
    query = written("X(A) Y(C) Z(D) W(E)", FOUR, semantics="set")
    found = find_witness(query, 8)
    assert found is not None
    witness, evidence = found
    assert (evidence.n, evidence.subsets, evidence.exact) == (8, 256, True)
    assert len(set(_answers(query, witness))) == 256


def test_strict_joins_are_never_undecided() -> None:
    """`<`, `>` and `=` between integers, one branch, no self-join: always decided."""
    undecided = [
        f"{q.semantics.value}: {q}"
        for seed in (20, 21)
        for q in random_queries(seed, 400, STRICT_JOINS)
        if isinstance(assess(q), Undecided)
    ]
    assert undecided == []


def test_bags_are_never_undecided() -> None:
    """B1 and B2 are exact: for every comparison between integers, filters with `<>` included."""
    shape = Shape((1, 3), 2, EVERY, times=(Op.LT,), semantics=(Semantics.BAG,))
    undecided = [str(q) for q in random_queries(22, 400, shape) if isinstance(assess(q), Undecided)]
    assert undecided == []


@pytest.mark.parametrize(
    ("streams", "where", "project"),
    [
        ("X(A) Y(B)", "X.A <> 3, X.A >= 0", "X.A"),
        ("X(A) Y(B)", "X.A = Y.B, X.A >= 0, X.A <> 3", ""),
    ],
)
def test_excluded_value_above_a_bound(streams: str, where: str, project: str) -> None:
    """Infinitely many values are left beyond the excluded one; those below it are few."""
    assert isinstance(assess(written(streams, where, project, "bag")), Unbounded)


def _subsets(witness: Witness) -> list[list[Tuple]]:
    chosen = product((False, True), repeat=witness.n)
    return [
        [t for part, taken in zip(witness.candidates, takes, strict=True) if taken for t in part]
        for takes in chosen
    ]


def _answers(query: SpjUnion, witness: Witness) -> list[tuple[Answer, ...]]:
    """For each subset, the new results of each continuation."""
    answers = []
    for received in _subsets(witness):
        before = [*witness.common, *received]
        old = _evaluate(query, before)
        after = [_evaluate(query, [*before, *later]) for later in witness.continuations]
        answers.append(tuple(_new(query, old, each) for each in after))
    return answers


def _new(
    query: SpjUnion, old: Counter[tuple[object, ...]], now: Counter[tuple[object, ...]]
) -> Answer:
    if query.semantics is Semantics.SET:
        return frozenset((row, 1) for row in now if row not in old)
    assert old <= now
    return frozenset((now - old).items())


def _evaluate(query: SpjUnion, tuples: Sequence[Tuple]) -> Counter[tuple[object, ...]]:
    """Every combination of tuples, one after another."""
    rows: Counter[tuple[object, ...]] = Counter()
    for branch in query.branches:
        found: list[dict[ColumnRef, Value]] = [{}]
        if not all(satisfied(p, {}) for p in branch.predicates if not columns_of(p)):
            continue
        for o in branch.occurrences:
            choices = [t for t in tuples if t.relation.name == o.relation.name]
            named = [
                {ColumnRef(o.alias, c.name): t[c.name] for c in t.relation.columns} for t in choices
            ]
            found = [{**at, **new} for at in found for new in named]  # type: ignore[dict-item]
            known = set(found[0]) if found else set()
            tests = [
                p for p in branch.predicates if o.alias in {c.occurrence for c in columns_of(p)}
            ]
            tests = [p for p in tests if set(columns_of(p)) <= known]
            found = [at for at in found if all(satisfied(p, at) for p in tests)]
        for at in found:
            rows[
                tuple(
                    at[x.term] if isinstance(x.term, ColumnRef) else x.term.value
                    for x in branch.projection
                )
            ] += 1
    return rows


def _check_arrival(witness: Witness) -> None:
    """Continuations come after all candidates; finite streams end in time."""
    last = max(
        (t.time for part in witness.candidates for t in part if t.time is not None), default=0
    )
    for later in witness.continuations:
        assert all(t.time is not None and t.time > last for t in later)
    for item in (t for part in (witness.common, *witness.candidates) for t in part):
        assert item.relation.end is None or (item.time or 0) <= item.relation.end


def _answers_of_duckdb(query: SpjUnion, witness: Witness) -> list[tuple[Answer, ...]]:
    with duckdb.connect() as connection:
        sql = render_sql(query, "duckdb")
        answers = []
        for received in _subsets(witness):
            before = [*witness.common, *received]
            old = _run(connection, query, sql, before)
            after = [_run(connection, query, sql, [*before, *c]) for c in witness.continuations]
            answers.append(tuple(_new(query, old, each) for each in after))
        return answers


def _run(
    connection: duckdb.DuckDBPyConnection, query: SpjUnion, sql: str, tuples: Sequence[Tuple]
) -> Counter[tuple[object, ...]]:
    for relation in {o.relation for b in query.branches for o in b.occurrences}:
        columns = ", ".join(f'"{c.name}" {c.type.storage}' for c in relation.columns)
        connection.execute(f'CREATE OR REPLACE TABLE "{relation.name}" ({columns})')
        rows = [t for t in tuples if t.relation == relation]
        for item in dict.fromkeys(rows):
            copies = rows.count(item)
            cells = ", ".join(
                c.type.literal(v)
                for c, v in zip(relation.columns, item.values, strict=True)
                if v is not None
            )
            for _ in range(copies):
                connection.execute(f'INSERT INTO "{relation.name}" VALUES ({cells})')
    return Counter(tuple(row) for row in connection.execute(sql).fetchall())
