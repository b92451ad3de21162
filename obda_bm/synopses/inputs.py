"""What arrives: each stream with its filters, and the static rows that it is joined with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from obda_bm.ir.plan import ROW, Input, Range, Scan
from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.sqltypes import Family, Order
from obda_bm.ir.terms import (
    ColumnRef,
    Comparison,
    Constant,
    Membership,
    Op,
    Predicate,
    columns_of,
    rename,
)
from obda_bm.order.closure import Closure
from obda_bm.order.joins import joins
from obda_bm.order.streams import Timeline, every_stream


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The inputs of a branch, and the comparisons between different ones."""

    timeline: Timeline
    inputs: tuple[Input, ...]
    joins: tuple[Comparison, ...]
    scale: int

    def owner(self, column: ColumnRef) -> int:
        """The input that `column` arrives with."""
        return next(i for i, x in enumerate(self.inputs) if column.occurrence in x.aliases)


def read_arrivals(closure: Closure) -> Arrivals:
    timeline = every_stream(closure)
    owners = _static_owners(closure, timeline)
    scale = _scale(closure)
    inputs = tuple(
        _input(closure, timeline, i, [a for a, owner in owners.items() if owner == i], scale)
        for i in range(len(timeline.streams))
    )
    meetings = [m for alias, i in owners.items() for m in _meetings(closure, timeline, alias, i)]
    for meeting in meetings:
        inputs = tuple(
            _with_copy(x, meeting, closure, scale) if i == meeting.input else x
            for i, x in enumerate(inputs)
        )
    crossing = _cross_joins(closure, Arrivals(timeline, inputs, (), scale))
    inside = {p for meeting in meetings for p in meeting.predicates}
    joins = [*(j for j in crossing if j not in inside), *(m.same_row for m in meetings)]
    return Arrivals(timeline, inputs, tuple(joins), scale)


COPY = "@"
"""Between the alias of a static relation and the input that has a copy of it; no alias has it."""


def original(alias: str) -> str:
    """The occurrence in the query that `alias` is, or is a copy of."""
    return alias.partition(COPY)[0]


@dataclass(frozen=True, slots=True)
class Meeting:
    """A static relation that an input is compared with, although another one owns it."""

    alias: str
    input: int
    predicates: tuple[Predicate, ...]

    @property
    def copy(self) -> str:
        return f"{self.alias}{COPY}{self.input}"

    @property
    def same_row(self) -> Comparison:
        return Comparison(ColumnRef(self.alias, ROW), Op.EQ, ColumnRef(self.copy, ROW))


def _meetings(closure: Closure, timeline: Timeline, alias: str, owner: int) -> Iterator[Meeting]:
    """The inputs that wait for others without the owner: they are keyed by the rows they met."""
    for i, stream in enumerate(timeline.streams):
        predicates = tuple(
            p
            for p in closure.query.predicates
            if alias in (names := {c.occurrence for c in columns_of(p)})
            and len(names) == 2
            and names & set(stream.aliases)
        )
        waits = timeline.down(stream) != frozenset(timeline.streams)
        if predicates and waits and timeline.streams[owner] not in timeline.down(stream):
            yield Meeting(alias, i, predicates)


def _with_copy(given: Input, meeting: Meeting, closure: Closure, scale: int) -> Input:
    """The input, joined with static rows of its own."""
    scan = _scan(closure, meeting.alias, scale)
    renaming = {
        c: ColumnRef(meeting.copy, c.column)
        for p in (*meeting.predicates, *scan.filters)
        for c in columns_of(p)
        if c.occurrence == meeting.alias
    }
    copy = Scan(
        meeting.copy,
        scan.relation,
        tuple(rename(p, renaming) for p in scan.filters),
        tuple(replace(r, column=ColumnRef(meeting.copy, r.column.column)) for r in scan.ranges),
    )
    joins = tuple(rename(p, renaming) for p in meeting.predicates)
    return replace(given, statics=(*given.statics, copy), joins=(*given.joins, *joins))


def _scale(closure: Closure) -> int:
    """Numbers become whole by this factor: the finest grain of a discrete column."""
    grains = [
        column.type.grain.denominator
        for o in closure.query.occurrences
        for column in o.relation.columns
        if column.type.order is Order.DISCRETE
    ]
    return max(grains, default=1)


def _static_owners(closure: Closure, timeline: Timeline) -> Mapping[str, int]:
    """For each static occurrence the stream that it is joined with as soon as that arrives."""
    query = closure.query
    static = [o.alias for o in query.occurrences if o.time is None]
    links = [
        {c.occurrence for c in columns_of(p)} for p in query.predicates if len(columns_of(p)) == 2
    ]
    owners: dict[str, int] = {}
    while len(owners) < len(static):
        missing = [alias for alias in static if alias not in owners]
        found = {
            alias: owner
            for alias in missing
            if (owner := _linked_owner(alias, links, timeline, owners)) is not None
        }
        owners.update(found or {missing[0]: 0})  # joined with nothing: a cross product
    return owners


def _linked_owner(
    alias: str, links: list[set[str]], timeline: Timeline, owners: Mapping[str, int]
) -> int | None:
    near = {other for link in links if alias in link for other in link - {alias}}
    direct = [i for i, s in enumerate(timeline.streams) if near & set(s.aliases)]
    # Rather one that others wait for: those have the row in what they are joined with.
    direct.sort(key=lambda i: len(timeline.down(timeline.streams[i])))
    indirect = [owners[other] for other in sorted(near) if other in owners]
    return next(iter(direct + indirect), None)


def _input(
    closure: Closure, timeline: Timeline, index: int, statics: list[str], scale: int
) -> Input:
    aliases = timeline.streams[index].aliases
    together = {*aliases, *statics}
    inner = tuple(
        p
        for p in closure.query.predicates
        if len({c.occurrence for c in columns_of(p)}) > 1
        and {c.occurrence for c in columns_of(p)} <= together
        and not any(closure.query.is_time(c) for c in columns_of(p))
    )
    return Input(
        tuple(_scan(closure, alias, scale) for alias in aliases),
        tuple(_scan(closure, alias, scale) for alias in statics),
        tuple(dict.fromkeys((*inner, *_across(_implied_equalities(closure, together))))),
        closure.times.upper(timeline.time(timeline.streams[index])),
    )


def _implied_equalities(closure: Closure, aliases: set[str]) -> Iterator[Comparison]:
    """Columns that are equal through another stream: what arrives unequal is never part of a match.

    Where a CHECK makes them equal, NULL passes it.
    """
    # What is fixed by constants is filtered already.
    columns = [
        c
        for c in closure.values.nodes
        if c.occurrence in aliases and closure.non_null(c) and closure.constant(c) is None
    ]
    for column in columns:
        first = next(c for c in columns if closure.equals(column, c))
        if first != column and not _is_stated(closure.query, first, column):
            yield Comparison(first, Op.EQ, column)


def _is_stated(query: SpjQuery, left: ColumnRef, right: ColumnRef) -> bool:
    either = (Comparison(left, Op.EQ, right), Comparison(right, Op.EQ, left))
    return any(p in query.predicates for p in either)


def _across(equalities: Iterable[Comparison]) -> Iterator[Comparison]:
    return (p for p in equalities if len({c.occurrence for c in columns_of(p)}) > 1)


def _scan(closure: Closure, alias: str, scale: int) -> Scan:
    query = closure.query
    own = [p for p in query.predicates if {c.occurrence for c in columns_of(p)} == {alias}]
    # A constraint of the catalog lets NULL pass; only what the query compares must have a value.
    stated = {c for p in query.predicates for c in columns_of(p)}
    columns = [c for c in closure.values.nodes if c.occurrence == alias and c in stated]
    implied = [f for c in columns for f in _implied(closure, c)]
    ranges = [r for c in columns if (r := number_range(closure, c, scale)) is not None]
    filters = dict.fromkeys([*own, *implied, *_implied_equalities(closure, {alias})])
    return Scan(alias, query.occurrence(alias).relation, tuple(filters), tuple(ranges))


def _implied(closure: Closure, column: ColumnRef) -> list[Predicate]:
    """Listed values and equal texts that P+ implies, so that a filter sees them."""
    type_ = closure.query.column(column).type
    texts = {closure.scale.number(text): text for text in closure.scale.texts}
    if column in closure.allowed:
        numbers = sorted(closure.allowed[column])
        values = [
            texts.get(n) if type_.order is Order.UNORDERED else closure.scale.value(n)
            for n in numbers
        ]
        return [Membership(column, tuple(Constant(v, type_) for v in values if v is not None))]
    code = closure.constant(column)
    if code is not None and type_.order is Order.UNORDERED:
        return [Comparison(column, Op.EQ, Constant(texts[code], type_))]
    return _dense_bounds(closure, column) if type_.order is Order.DENSE else []


def _dense_bounds(closure: Closure, column: ColumnRef) -> list[Predicate]:
    """The bounds of a dense column; what lies off the constants' own grain is a strict bound."""
    type_, fine = closure.query.column(column).type, closure.scale.fine
    found: list[Predicate] = []
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    if lower is not None:
        at = Constant(closure.scale.value(lower // fine * fine), type_)
        found.append(Comparison(column, Op.GT if lower % fine else Op.GE, at))
    if upper is not None:
        at = Constant(closure.scale.value(-(-upper // fine) * fine), type_)
        found.append(Comparison(column, Op.LT if upper % fine else Op.LE, at))
    return found


def number_range(closure: Closure, column: ColumnRef, scale: int) -> Range | None:
    """The bounds that P+ gives a discrete column, in numbers of the plan."""
    if closure.query.column(column).type.order is not Order.DISCRETE:
        return None
    if column not in closure.values.index:
        return None
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    if lower is None and upper is None:
        return None
    unit = units_per_one(closure.query, column, scale)
    return Range(column, _number(closure, lower, unit), _number(closure, upper, unit))


def told_apart(arrivals: Arrivals, clamp: Range) -> int | None:
    """How many values a clamped column has, or None where nothing limits them."""
    closure, column = arrivals.timeline.closure, clamp.column
    type_ = closure.query.column(column).type
    if type_.order is not Order.DISCRETE:
        return None
    own = number_range(closure, column, arrivals.scale)
    limits = [clamp] if own is None else [clamp, own]
    lowers = [limit.lower for limit in limits if limit.lower is not None]
    uppers = [limit.upper for limit in limits if limit.upper is not None]
    if not lowers or not uppers:
        return None
    grain = int(type_.grain * units_per_one(closure.query, column, arrivals.scale))
    lower, upper = max(lowers), min(uppers)
    first, last = -(-lower // grain), upper // grain
    # A clamp may lie between two values of the type, and is then one more.
    return max(0, last - first + 1) + bool(lower % grain) + bool(upper % grain)


def units_per_one(query: SpjQuery, column: ColumnRef, scale: int) -> int:
    """Only numbers are scaled; instants, truth values and time are whole already."""
    scaled = query.column(column).type.family is Family.NUMBER and not query.is_time(column)
    return scale if scaled else 1


def _number(closure: Closure, bound: int | None, unit: int) -> int | None:
    return None if bound is None else int(closure.scale.value(bound) * unit)


def _cross_joins(closure: Closure, arrivals: Arrivals) -> list[Comparison]:
    """Non-redundant joins of streams, what static columns are compared with, and intervals."""
    between = [Comparison(j.left, j.op, j.right) for j in joins(arrivals.timeline)]
    stated = [
        p
        for p in closure.query.predicates
        if isinstance(p, Comparison)
        and len(columns_of(p)) == 2
        and (_touches_static(closure, p) or (p.offset and _is_about_time(closure, p)))
    ]
    return [
        p
        for p in dict.fromkeys([*between, *stated])
        if len({arrivals.owner(c) for c in columns_of(p)}) == 2
    ]


def _touches_static(closure: Closure, predicate: Predicate) -> bool:
    return any(closure.query.occurrence(c.occurrence).time is None for c in columns_of(predicate))


def _is_about_time(closure: Closure, predicate: Predicate) -> bool:
    return any(closure.query.is_time(c) for c in columns_of(predicate))
