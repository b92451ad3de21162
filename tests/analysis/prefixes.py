"""What must be remembered, counted: prefixes of streams that some continuation tells apart.

No theory here: no closure, no cells, no references. The values are cut to a window around the
query's constants, and memory is bounded iff what is counted stays small while the window widens.

A partial match over some of the streams is worth what it accepts: the values of the remaining
streams that complete it, and the rows they give. This is its *residual*.

- Under bag semantics the counts of results are sums over partial matches, so a prefix is worth the
  sum of its residuals. Distinct residuals are distinct 0/1 vectors: bounded many counters suffice
  iff the number of distinct residuals does not grow (2^r vectors at most have rank r).
- Under set semantics a prefix is worth the union of its residuals, less the rows already emitted.
  Worth is a right congruence, so a search over one representative per worth finds all of them.

Without self-joins every continuation can be sent by itself, so different worths are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any, TypeVar

from obda_bm.ir.catalog import Extent
from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.sqltypes import Family, Order, SqlType, Value
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

Values = tuple[Value, ...]
Assignment = Mapping[ColumnRef, Value]
Answer = TypeVar("Answer")


def compare(left: Value, op: Op, right: Value) -> bool:
    if op is Op.EQ:
        return left == right
    if op is Op.NE:
        return left != right
    assert not isinstance(left, str)
    assert not isinstance(right, str)
    if op in (Op.LT, Op.LE):
        return left < right or (op is Op.LE and left == right)
    return left > right or (op is Op.GE and left == right)


def satisfied(predicate: Predicate, at: Assignment) -> bool:
    def value(term: Term) -> Value:
        return at[term] if isinstance(term, ColumnRef) else term.value

    match predicate:
        case Comparison(left, op, right, offset):
            goal = value(right)
            if offset:
                assert not isinstance(goal, str)
                goal += offset
            return compare(value(left), op, goal)
        case Membership(column, values):
            return at[column] in [v.value for v in values]
        case NotNull():
            return True


def ground(query: SpjQuery, known: Assignment) -> SpjQuery:
    """`query` for static relations of one tuple each."""

    def of(term: Term) -> Term:
        if isinstance(term, ColumnRef) and term in known:
            return Constant(known[term], query.column(term).type)
        return term

    def grounded(predicate: Predicate) -> Predicate:
        match predicate:
            case Comparison(left, _, right):
                return replace(predicate, left=of(left), right=of(right))
            case _ if columns_of(predicate)[0] in known:
                yes = Constant(1, _INTEGER_LIKE)
                no = Constant(1 if satisfied(predicate, known) else 0, _INTEGER_LIKE)
                return Comparison(yes, Op.EQ, no)
            case _:
                return predicate

    kept = tuple(o for o in query.occurrences if o.relation.extent is not Extent.STATIC)
    outputs = tuple(replace(o, term=of(o.term)) for o in query.projection)
    return SpjQuery(kept, outputs, tuple(map(grounded, query.predicates)))


_INTEGER_LIKE = SqlType("INTEGER", Family.NUMBER, Order.DISCRETE, Fraction(1))


@dataclass(frozen=True)
class Window:
    """A query over streams whose columns have finitely many values."""

    query: SpjQuery
    domain: Mapping[ColumnRef, Sequence[Value]]
    aliases: tuple[str, ...]
    asked: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, question: Hashable, answer: Callable[[], Answer]) -> Answer:
        """The search asks the same few things about the query over and over."""
        if question not in self.asked:
            self.asked[question] = answer()
        found: Answer = self.asked[question]
        return found

    @property
    def size(self) -> int:
        return max((len(values) for values in self.domain.values()), default=1)

    def columns(self, aliases: Sequence[str]) -> list[ColumnRef]:
        """The columns that the query mentions, times left out."""
        mentioned = {c for p in self.query.predicates for c in columns_of(p)}
        mentioned |= set(self.query.projected)
        return sorted(c for c in mentioned if c.occurrence in aliases and not self.query.is_time(c))

    def inside(self, aliases: Sequence[str], *, times: bool) -> list[Predicate]:
        return [
            p
            for p in self.query.predicates
            if {c.occurrence for c in columns_of(p)} <= set(aliases)
            and any(map(self.query.is_time, columns_of(p))) == times
        ]

    def across(self, now: Sequence[str], later: Sequence[str]) -> list[Comparison]:
        both = [p for p in self.query.predicates if isinstance(p, Comparison)]
        return [
            p
            for p in both
            if len(owners := {c.occurrence for c in columns_of(p)}) == 2
            and owners <= {*now, *later}
            and not owners <= set(now)
            and not owners <= set(later)
        ]

    def assignments(self, aliases: Sequence[str]) -> Iterator[dict[ColumnRef, Value]]:
        """The values that satisfy all that the query says about these streams alone."""
        columns = self.columns(aliases)
        tests = self.inside(aliases, times=False)
        due: list[list[Predicate]] = [[] for _ in columns]
        for test in tests:
            if not columns_of(test):
                if not satisfied(test, {}):
                    return
            else:
                due[max(columns.index(c) for c in columns_of(test))].append(test)

        def extend(i: int, at: dict[ColumnRef, Value]) -> Iterator[dict[ColumnRef, Value]]:
            if i == len(columns):
                yield dict(at)
                return
            for value in self.domain[columns[i]]:
                at[columns[i]] = value
                if all(satisfied(p, at) for p in due[i]):
                    yield from extend(i + 1, at)
            at.pop(columns[i], None)

        yield from extend(0, {})

    def can_separate(self, now: Sequence[str], later: Sequence[str]) -> bool:
        """Whether all of `now` can arrive before all of `later`, in one match."""
        times = {a: self.query.occurrence(a).time for a in (*now, *later)}
        tests = self.inside([*now, *later], times=True)
        for ticks in product(range(len(times)), repeat=len(times)):
            at = {t: tick for t, tick in zip(times.values(), ticks, strict=True) if t is not None}
            first, second = ticks[: len(now)], ticks[len(now) :]
            if max(first, default=-1) < min(second, default=len(times)) and all(
                satisfied(p, at) for p in tests
            ):
                return True
        return False

    def splits(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """What may have arrived, and what may still arrive."""
        for size in range(1, len(self.aliases)):
            for now in combinations(self.aliases, size):
                later = tuple(a for a in self.aliases if a not in now)
                if self.can_separate(now, later):
                    yield now, later


def window(query: SpjQuery, width: int) -> Window:
    """Integers up to `width` beyond the constants; as many points between them for DOUBLE."""
    numbers = sorted({v for v in _constants(query) if not isinstance(v, str)} | {0})
    low, high = int(numbers[0]) - width, int(numbers[-1]) + 1 + width
    texts = sorted({v for v in _constants(query) if isinstance(v, str)})
    texts += [f"new{i}" for i in range(width + 2)]

    def values(kind: SqlType) -> Sequence[Value]:
        if kind.values is not None:
            return kind.values
        if kind.family is Family.TEXT:
            return texts
        if kind.order is Order.DENSE:
            parts = 10 * (width + 1)  # a grid that constants with one decimal lie on
            steps = sorted({*range(0, parts, 10), parts // 2})
            return [n + Fraction(s, parts) for n in range(low, high + 1) for s in steps]
        parts = kind.grain.denominator
        numbers_on_grain = range(low * parts, high * parts + 1)
        return numbers_on_grain if parts == 1 else [Fraction(n, parts) for n in numbers_on_grain]

    return Window(
        query,
        {
            ColumnRef(o.alias, c.name): values(c.type)
            for o in query.occurrences
            for c in o.relation.columns
        },
        tuple(o.alias for o in query.occurrences),
    )


def _constants(query: SpjQuery) -> Iterator[Value]:
    for p in query.predicates:
        match p:
            case Comparison(left, _, right):
                yield from (t.value for t in (left, right) if isinstance(t, Constant))
            case Membership(_, values):
                yield from (v.value for v in values)


@dataclass(frozen=True)
class Future:
    """The values of `later` that may still arrive, as bits of a mask."""

    model: Window
    now: tuple[str, ...]
    later: tuple[str, ...]
    rows: Mapping[Values, int]  # those that project the same
    tests: tuple[tuple[ColumnRef, Mapping[Value, int]], ...]
    every: int

    def residual(self, at: Assignment) -> int:
        mask = self.every
        for column, accepted in self.tests:
            mask &= accepted[at[column]]
        return mask

    def projected(self, at: Assignment) -> Values:
        return tuple(at[c] for c in self.model.query.projected if c.occurrence in self.now)

    def known_rows(self, projected: Values, emitted: frozenset[Values]) -> int:
        """Those values to come whose row, with `projected`, would not be new."""

        def known() -> int:
            mine = [c.occurrence in self.now for c in self.model.query.projected]
            bits = 0
            for row in emitted:
                if tuple(v for v, is_mine in zip(row, mine, strict=True) if is_mine) == projected:
                    rest = tuple(v for v, is_mine in zip(row, mine, strict=True) if not is_mine)
                    bits |= self.rows.get(rest, 0)
            return bits

        return self.model.once((self.now, projected, emitted), known)


def future(model: Window, now: tuple[str, ...], later: tuple[str, ...]) -> Future:
    arriving = list(model.assignments(later))
    tests = []
    for p in model.across(now, later):
        if any(map(model.query.is_time, columns_of(p))):
            continue
        (known,) = (c for c in columns_of(p) if c.occurrence in now)
        (coming,) = (c for c in columns_of(p) if c.occurrence in later)
        having = _bits(arriving, coming)
        accepted = {
            value: sum(having[v] for v in having if satisfied(p, {known: value, coming: v}))
            for value in model.domain[known]
        }
        tests.append((known, accepted))
    projected = [c for c in model.query.projected if c.occurrence in later]
    rows: dict[Values, int] = {}
    for i, at in enumerate(arriving):
        row = tuple(at[c] for c in projected)
        rows[row] = rows.get(row, 0) | 1 << i
    return Future(model, now, later, rows, tuple(tests), (1 << len(arriving)) - 1)


def _bits(arriving: Sequence[Assignment], column: ColumnRef) -> dict[Value, int]:
    """Per value of `column`, those of `arriving` that have it."""
    texts: dict[Value, list[int]] = {}
    for i, at in enumerate(arriving):
        texts.setdefault(at[column], []).append(i)
    return {value: sum(1 << i for i in bits) for value, bits in texts.items()}


def count_residuals(model: Window) -> int:
    """Bag semantics: how many kinds of partial matches must be counted apart."""
    total = 0
    for now, later in model.splits():
        ahead = future(model, now, later)
        kinds = {(ahead.residual(at), ahead.projected(at)) for at in model.assignments(now)}
        total += sum(mask != 0 for mask, _ in kinds)
    return total


Kind = tuple[tuple[str, ...], Values]
State = Mapping[Kind, Mapping[int, Assignment]]
"""Per streams and projected values: the residuals, each with a partial match that has it."""


def count_states(model: Window, limit: int) -> int:
    """Set semantics: how many prefixes some continuation tells apart; `limit` if that many."""
    futures = {now: future(model, now, later) for now, later in model.splits()}
    batches = list(_batches(model))
    start: State = {}
    empty: frozenset[Values] = frozenset()
    seen = {_worth(futures, start, empty)}
    queue = [(start, empty)]
    while queue and len(seen) < limit:
        state, emitted = queue.pop()
        for batch in batches:
            after, rows = _receive(model, futures, state, batch)
            known = emitted | rows
            worth = _worth(futures, after, known)
            if worth not in seen:
                seen.add(worth)
                queue.append((after, known))
    return min(len(seen), limit)


def _batches(model: Window) -> Iterator[dict[str, dict[ColumnRef, Value]]]:
    """One tuple; or one of each of two streams, where only a shared timestamp lets them join.

    Three streams that must share their timestamp are not tried together.
    """
    alone = {a: list(model.assignments((a,))) for a in model.aliases}
    for alias, tuples in alone.items():
        yield from ({alias: at} for at in tuples)
    for one, two in combinations(model.aliases, 2):
        if not (model.can_separate((one,), (two,)) or model.can_separate((two,), (one,))):
            yield from ({one: a, two: b} for a in alone[one] for b in alone[two])


def _receive(
    model: Window,
    futures: Mapping[tuple[str, ...], Future],
    state: State,
    batch: Mapping[str, Assignment],
) -> tuple[State, frozenset[Values]]:
    """The state after `batch`, all of one timestamp, and the rows that it completes."""
    after = {kind: dict(residuals) for kind, residuals in state.items()}
    rows: set[Values] = set()
    for size in range(1, len(batch) + 1):
        for fresh in combinations(sorted(batch), size):
            new = {c: v for a in fresh for c, v in batch[a].items()}
            inside = model.once(("in", fresh), lambda f=fresh: model.inside(f, times=False))
            if not (_at_once(model, fresh) and _meets(inside, new)):
                continue
            for old, at in _partial_matches(model, state, fresh):
                both = {**at, **new}
                if _meets(_value_joins(model, old, fresh), both):
                    _add(model, futures, after, rows, matched=(*old, *fresh), at=both)
    return after, frozenset(rows)


def _partial_matches(
    model: Window, state: State, fresh: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Assignment]]:
    yield (), {}
    for (old, _), residuals in state.items():
        if not set(old) & set(fresh) and _in_order(model, old, fresh):
            for at in residuals.values():
                yield old, at


def _add(
    model: Window,
    futures: Mapping[tuple[str, ...], Future],
    after: dict[Kind, dict[int, Assignment]],
    rows: set[Values],
    *,
    matched: tuple[str, ...],
    at: Assignment,
) -> None:
    now = tuple(a for a in model.aliases if a in matched)
    if len(now) == len(model.aliases):
        rows.add(tuple(at[c] for c in model.query.projected))
        return
    ahead = futures.get(now)
    mask = ahead.residual(at) if ahead else 0
    if ahead is None or not mask:
        return
    kept = after.setdefault((now, ahead.projected(at)), {})
    if any(mask & ~other == 0 for other in kept):
        return  # what it accepts, another partial match accepts, too, with the same rows
    for other in [o for o in kept if o & ~mask == 0]:
        del kept[other]
    kept[mask] = at


def _worth(
    futures: Mapping[tuple[str, ...], Future], state: State, emitted: frozenset[Values]
) -> tuple[frozenset[Values], frozenset[tuple[Kind, int]]]:
    worth = set()
    for (now, projected), residuals in state.items():
        union = 0
        for mask in residuals:
            union |= mask
        if emitted:
            union &= ~futures[now].known_rows(projected, emitted)
        if union:
            worth.add(((now, projected), union))
    return emitted, frozenset(worth)


def _meets(tests: Sequence[Predicate], at: Assignment) -> bool:
    return all(satisfied(p, at) for p in tests)


def _at_once(model: Window, fresh: tuple[str, ...]) -> bool:
    def allowed() -> bool:
        return _meets(model.inside(fresh, times=True), _ticks(model, fresh, 0))

    return model.once(("at once", fresh), allowed)


def _in_order(model: Window, old: tuple[str, ...], fresh: tuple[str, ...]) -> bool:
    def allowed() -> bool:
        tests = [p for p in model.across(old, fresh) if model.query.is_time(p.left)]
        return _meets(tests, {**_ticks(model, old, 0), **_ticks(model, fresh, 1)})

    return model.once(("in order", old, fresh), allowed)


def _ticks(model: Window, aliases: Sequence[str], tick: int) -> dict[ColumnRef, Value]:
    times = (model.query.occurrence(a).time for a in aliases)
    return {t: tick for t in times if t is not None}


def _value_joins(
    model: Window, old: tuple[str, ...], fresh: tuple[str, ...]
) -> Sequence[Predicate]:
    def joins() -> Sequence[Predicate]:
        return [p for p in model.across(old, fresh) if not model.query.is_time(p.left)]

    return model.once(("joins", old, fresh), joins)
