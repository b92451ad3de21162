"""What must not change a verdict, and what may change it in one direction only."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from obda_bm.analysis import assess, suggest_repairs
from obda_bm.ir.catalog import Catalog
from obda_bm.ir.spj import Occurrence, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import INTEGER
from obda_bm.ir.terms import (
    ColumnRef,
    Comparison,
    Constant,
    Membership,
    Op,
    Predicate,
    Term,
    columns_of,
    rename,
)
from obda_bm.ir.verdict import Bounded, Unbounded

from .queries import EVERY, MIXED, Shape, random_queries, static

SHAPES = [
    Shape((1, 3), 2, EVERY, times=(Op.LT, Op.LE, Op.EQ), local=0.2, lists=0.1),
    Shape((2, 4), 2, times=(Op.LT,), joins=(1, 4)),
    Shape((1, 3), 2, EVERY, types=MIXED, statics=1, times=(Op.LT,), finite=0.1, lists=0.2),
    Shape((2, 3), 2, EVERY, times=(Op.LT, Op.LE), self_joins=0.4),
    Shape((2, 3), 2, times=(Op.LT, Op.LE), intervals=0.4),
]
QUERIES = [q for seed, shape in enumerate(SHAPES) for q in random_queries(seed, 80, shape)]


def outcome(query: SpjUnion) -> tuple[str, int | None]:
    verdict = assess(query)
    return verdict.name, verdict.bound.units if isinstance(verdict, Bounded) else None


def decided(query: SpjUnion) -> tuple[str, int | None, bool | None, bool | None]:
    """The verdict, the units, and the papers' answers."""
    papers = assess(query).papers
    return *outcome(query), papers.arasu2002.bounded, papers.schiff2020.bounded


def changed(query: SpjUnion, branch: SpjQuery) -> SpjUnion:
    return replace(query, branches=(branch,))


def test_reordering() -> None:
    rng = Random(1)
    for query in QUERIES:
        branch = query.branches[0]
        shuffled = SpjQuery(
            tuple(rng.sample(branch.occurrences, len(branch.occurrences))),
            tuple(rng.sample(branch.projection, len(branch.projection))),
            tuple(rng.sample(branch.predicates, len(branch.predicates))),
        )
        assert decided(query) == decided(changed(query, shuffled)), f"{query.semantics}: {query}"


def test_renaming() -> None:
    for query in QUERIES:
        branch = query.branches[0]
        columns = [
            ColumnRef(o.alias, c.name) for o in branch.occurrences for c in o.relation.columns
        ]
        new = {c: ColumnRef(_alias(c.occurrence), _column(c.column)) for c in columns}

        def term(old: Term, new: dict[ColumnRef, ColumnRef] = new) -> Term:
            return new[old] if isinstance(old, ColumnRef) else old

        renamed = SpjQuery(
            tuple(_renamed(o) for o in branch.occurrences),
            tuple(replace(o, term=term(o.term)) for o in branch.projection),
            tuple(rename(p, new) for p in branch.predicates),
        )
        assert decided(query) == decided(changed(query, renamed)), f"{query.semantics}: {query}"


def _alias(alias: str) -> str:
    return {"X": "w9", "Y": "q", "Z": "a", "W": "X"}.get(alias, f"z_{alias}")


def _column(name: str) -> str:
    return {"A": "zz", "B": "b", "ts": "a"}.get(name, f"c_{name}")


def _renamed(occurrence: Occurrence) -> Occurrence:
    relation = occurrence.relation
    columns = tuple(replace(c, name=_column(c.name)) for c in relation.columns)
    time = None if relation.time is None else _column(relation.time)
    new = replace(relation, name=_alias(relation.name) + "_r", columns=columns, time=time)
    return Occurrence(_alias(occurrence.alias), new)


def test_mirrored_comparisons() -> None:
    for query in QUERIES:
        branch = query.branches[0]
        mirrored = replace(branch, predicates=tuple(map(_mirrored, branch.predicates)))
        assert decided(query) == decided(changed(query, mirrored)), f"{query.semantics}: {query}"


def _mirrored(predicate: Predicate) -> Predicate:
    if not isinstance(predicate, Comparison):
        return predicate
    left, op, right, offset = predicate.left, predicate.op, predicate.right, predicate.offset
    return Comparison(right, op.mirrored, left, -offset)


def test_equality_as_two_inequalities() -> None:
    """[S] has no `<=` between timestamps and splits it, so only the verdict is compared."""
    for query in QUERIES:
        branch = query.branches[0]
        split = tuple(q for p in branch.predicates for q in _two_sided(branch, p))
        assert outcome(query) == outcome(changed(query, replace(branch, predicates=split))), str(
            query
        )


def _two_sided(branch: SpjQuery, predicate: Predicate) -> tuple[Predicate, ...]:
    ordered = all(branch.column(c).type.order.value != "unordered" for c in columns_of(predicate))
    if isinstance(predicate, Comparison) and predicate.op is Op.EQ and ordered:
        return replace(predicate, op=Op.LE), replace(predicate, op=Op.GE)
    return (predicate,)


def test_shifted_constants() -> None:
    for query in [q for shape in (0, 1, 3, 4) for q in random_queries(shape, 80, SHAPES[shape])]:
        branch = query.branches[0]
        shifted = replace(branch, predicates=tuple(map(_shifted, branch.predicates)))
        assert decided(query) == decided(changed(query, shifted)), f"{query.semantics}: {query}"


def _shifted(predicate: Predicate) -> Predicate:
    def of(term: Term) -> Term:
        return _by_thousand(term) if isinstance(term, Constant) else term

    match predicate:
        case Comparison(left, _, right):
            return replace(predicate, left=of(left), right=of(right))
        case Membership(_, values):
            return replace(predicate, values=tuple(map(_by_thousand, values)))
        case _:
            return predicate


def _by_thousand(constant: Constant) -> Constant:
    assert isinstance(constant.value, int)
    return replace(constant, value=constant.value + 1000)


def test_filters_never_make_unbounded() -> None:
    """[A] Lemma 4.1, for comparisons of one column with a constant."""
    rng = Random(2)
    bounded = [q for q in QUERIES if isinstance(assess(q), Bounded)]
    assert len(bounded) > 50
    for query in bounded:
        branch = query.branches[0]
        columns = [
            ColumnRef(o.alias, c.name)
            for o in branch.occurrences
            for c in o.relation.columns
            if c.type == INTEGER and c.name != o.relation.time
        ]
        if not columns:
            continue
        limit = Constant(rng.choice((-1, 0, 1, 3, 4)), INTEGER)
        extra = Comparison(rng.choice(columns), rng.choice(EVERY), limit)
        more = changed(query, replace(branch, predicates=(*branch.predicates, extra)))
        assert isinstance(assess(more), Bounded), f"{query.semantics}: {query} with {extra}"


def test_comparison_with_itself_changes_nothing() -> None:
    for query in QUERIES:
        branch = query.branches[0]
        twice = replace(branch, predicates=(*branch.predicates, *branch.predicates[:1]))
        assert decided(query) == decided(changed(query, twice)), f"{query.semantics}: {query}"


@pytest.mark.parametrize("shape", [0, 1, 2])
def test_repairs_are_bounded(shape: int) -> None:
    catalog = Catalog((static("known", {"id": INTEGER}),))
    repaired = 0
    for query in random_queries(30 + shape, 40, SHAPES[shape]):
        if not isinstance(assess(query), Unbounded):
            continue
        for repair in suggest_repairs(query, catalog):
            repaired += 1
            verdict = assess(repair.query)
            assert isinstance(verdict, Bounded), f"{query.semantics}: {query}: {repair.edit}"
            assert verdict.name == repair.verdict, f"{query.semantics}: {query}: {repair.edit}"
    assert repaired > 10


def test_a_single_stream_is_bounded_as_a_bag() -> None:
    shape = Shape((1, 1), 3, EVERY, joins=(0, 3), local=1.0, semantics=(Semantics.BAG,))
    for query in random_queries(40, 100, shape):
        assert isinstance(assess(query), Bounded), str(query)
