"""Execute a witness: evaluate the query over its tuples, and compare the answers.

Nothing here knows closures, cells or conditions. A select-project-join query is monotone and each
of its answers comes from one tuple per occurrence, so all matches over all tuples, each with the
candidates and the continuation that it uses, give the answer after every subset.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from obda_bm.ir.spj import Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import Value
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
from obda_bm.ir.witness import Evidence, Tuple, Witness

EXHAUSTIVE = 10
"""Up to this many candidates every subset is tried; beyond, SAMPLE of them."""
SAMPLE = 512

Row = tuple[Value | None, ...]
Bindings = Mapping[ColumnRef, Value | None]


@dataclass(frozen=True, slots=True)
class Tagged:
    """A tuple with the candidates (as bits) and the continuation that it belongs to."""

    tuple: Tuple
    candidates: int = 0
    continuation: int | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """`count` ways to get `row` from these candidates and this continuation."""

    row: Row
    candidates: int
    continuation: int | None
    count: int = 1


def execute(query: SpjUnion, witness: Witness) -> Evidence | None:
    """What the witness shows about `query`, or None where it does not tell all subsets apart."""
    if not _valid(witness):
        return None
    found = [m for branch in query.branches for m in matches(branch, _tagged(witness))]
    subsets = _subsets(witness.n)
    answers = {
        subset: tuple(answer(found, query.semantics, subset, k) for k in range(witness.n))
        for subset in subsets
    }
    if len(set(answers.values())) < len(answers):
        return None
    return Evidence(witness.n, len(subsets), _exact(answers, witness.n))


def answer(
    found: Sequence[Match], semantics: Semantics, subset: int, continuation: int
) -> frozenset[tuple[Row, int]]:
    """The new results, with their counts, when `continuation` follows the `subset`."""
    possible = [m for m in found if m.candidates & ~subset == 0]
    new: Counter[Row] = Counter()
    for m in possible:
        if m.continuation == continuation:
            new[m.row] += m.count
    if semantics is Semantics.BAG:
        return frozenset(new.items())
    old = {m.row for m in possible if m.continuation is None}
    return frozenset((row, 1) for row in new if row not in old)


def matches(query: SpjQuery, tuples: Sequence[Tagged]) -> Iterator[Match]:
    """Every way to satisfy the query, with one tuple for each of its occurrences.

    Occurrence by occurrence; what no later condition needs is forgotten, and equal partial
    matches are counted together, so that a cross product is counted and not listed.
    """
    if not all(holds(p, {}) for p in query.predicates if not columns_of(p)):
        return
    partial: Counter[Partial] = Counter({Partial(): 1})
    for i, occurrence in enumerate(query.occurrences):
        known = {o.alias for o in query.occurrences[: i + 1]}
        now = [p for p in query.predicates if _about(p, known, occurrence.alias)]
        needed = _needed(query, known)
        choices = [t for t in tuples if t.tuple.relation.name == occurrence.relation.name]
        grown: Counter[Partial] = Counter()
        for one, count in partial.items():
            for choice in choices:
                joined = one.extended(occurrence.alias, choice)
                if joined is not None and all(holds(p, joined.bound) for p in now):
                    grown[joined.restricted(needed)] += count
        partial = grown
    for one, count in partial.items():
        row = tuple(value_of(o.term, one.bound) for o in query.projection)
        yield Match(row, one.candidates, one.continuation, count)


@dataclass(frozen=True, slots=True)
class Partial:
    """The values of a partial match that are still needed, and where its tuples come from."""

    values: tuple[tuple[ColumnRef, Value | None], ...] = ()
    candidates: int = 0
    continuation: int | None = None

    @property
    def bound(self) -> Bindings:
        return dict(self.values)

    def extended(self, alias: str, choice: Tagged) -> Partial | None:
        """With one more tuple; None for a second continuation, as only one ever arrives."""
        other = choice.continuation
        if None not in (other, self.continuation) and other != self.continuation:
            return None
        columns = choice.tuple.relation.columns
        values = zip(columns, choice.tuple.values, strict=True)
        return Partial(
            self.values + tuple((ColumnRef(alias, c.name), v) for c, v in values),
            self.candidates | choice.candidates,
            self.continuation if other is None else other,
        )

    def restricted(self, needed: set[ColumnRef]) -> Partial:
        return replace(self, values=tuple(pair for pair in self.values if pair[0] in needed))


def _needed(query: SpjQuery, known: set[str]) -> set[ColumnRef]:
    """The columns that the projection, or a condition about occurrences not yet known, needs."""
    later = [p for p in query.predicates if not {c.occurrence for c in columns_of(p)} <= known]
    return {*query.projected, *(c for p in later for c in columns_of(p))}


def holds(predicate: Predicate, bound: Bindings) -> bool:
    """SQL's truth of `predicate`; unknown, because of NULL, is not true."""
    match predicate:
        case Comparison(left, op, right, offset):
            a, b = value_of(left, bound), value_of(right, bound)
            return a is not None and b is not None and _compare(a, op, b, offset)
        case Membership(column, values):
            value = value_of(column, bound)
            return value is not None and any(value == v.value for v in values)
        case NotNull(column):
            return value_of(column, bound) is not None


def value_of(term: Term, bound: Bindings) -> Value | None:
    match term:
        case ColumnRef():
            return bound[term]
        case Constant(value):
            return value


def _compare(left: Value, op: Op, right: Value, offset: int) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        return (left == right) == (op is Op.EQ)
    right = right + offset
    match op:
        case Op.LT:
            return left < right
        case Op.LE:
            return left <= right
        case Op.EQ:
            return left == right
        case Op.NE:
            return left != right
        case Op.GE:
            return left >= right
        case Op.GT:
            return left > right


def _about(predicate: Predicate, known: set[str], newest: str) -> bool:
    """Whether `predicate` can be decided now, and not before."""
    mentioned = {c.occurrence for c in columns_of(predicate)}
    return newest in mentioned and mentioned <= known


def _tagged(witness: Witness) -> list[Tagged]:
    return [
        *(Tagged(t) for t in witness.common),
        *(Tagged(t, candidates=1 << i) for i, c in enumerate(witness.candidates) for t in c),
        *(Tagged(t, continuation=k) for k, c in enumerate(witness.continuations) for t in c),
    ]


def _subsets(n: int) -> list[int]:
    if n <= EXHAUSTIVE:
        return list(range(2**n))
    generator = random.Random(n)
    single = {1 << i for i in range(n)}
    return sorted({0, 2**n - 1} | single | {generator.getrandbits(n) for _ in range(SAMPLE)})


def _exact(answers: dict[int, tuple[frozenset[tuple[Row, int]], ...]], n: int) -> bool:
    """Whether the answer to each continuation depends on its own candidate alone."""
    return all(
        len({a[k] for subset, a in answers.items() if bool(subset >> k & 1) == received}) == 1
        for k in range(n)
        for received in (True, False)
    )


def _valid(witness: Witness) -> bool:
    """Whether the tuples could arrive: in order, and within the catalog's constraints."""
    before = [t for c in (witness.common, *witness.candidates) for t in c]
    last = max((t.time for c in witness.candidates for t in c if t.time is not None), default=0)
    return all(
        all(t.time is not None and t.time > last for t in later)
        and all(map(_satisfies_checks, (*before, *later)))
        and _keys_hold([*before, *later])
        for later in witness.continuations
    )


def _satisfies_checks(item: Tuple) -> bool:
    relation = item.relation
    complete = all(
        c.nullable or value is not None
        for c, value in zip(relation.columns, item.values, strict=True)
    )
    in_time = relation.end is None or (item.time is not None and item.time <= relation.end)
    row = {ColumnRef("", c.name): item[c.name] for c in relation.columns}
    return complete and in_time and all(holds(check, row) for check in relation.checks)


def _keys_hold(tuples: Sequence[Tuple]) -> bool:
    seen: set[tuple[str, tuple[str, ...], Row]] = set()
    for item in tuples:
        for key in item.relation.keys:
            entry = (item.relation.name, key, tuple(item[c] for c in key))
            if entry in seen:
                return False
            seen.add(entry)
    return True
