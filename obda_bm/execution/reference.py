"""The naive, obvious evaluator: what every plan has to agree with. Used by tests only.

It knows nothing of plans, closures or states: nested loops over all tuples, each predicate checked
as soon as its columns are bound.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from obda_bm.ir.spj import Occurrence, Semantics, SpjQuery, SpjUnion
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

Tuple = Mapping[str, Value | None]
Tuples = Mapping[str, Sequence[Tuple]]
"""By the name of a stream or relation."""
Row = tuple[Value | None, ...]
Match = Mapping[str, Tuple]
"""By alias, the tuple that an occurrence takes."""

_COMPARE: dict[Op, Callable[[Value, Value], bool]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.GE: operator.ge,
    Op.GT: operator.gt,
}


def evaluate_reference(query: SpjUnion, tuples: Tuples) -> Counter[Row]:
    """The answer to `query` over `tuples`, all of them: each row with its multiplicity."""
    rows = Counter(row for branch in query.branches for _, row in _results(branch, tuples))
    return rows if query.semantics is Semantics.BAG else Counter(rows.keys())


def emit_reference(query: SpjUnion, tuples: Tuples) -> dict[int, Counter[Row]]:
    """What each marker emits: the rows that are new with the tuples of its timestamp.

    A query without negation loses no result when tuples arrive, so a result is new when the newest
    of its tuples arrives; under set semantics only the first time counts. A result of static
    relations alone is there at the first marker.
    """
    start = min(_timestamps(query, tuples), default=None)
    if start is None:
        return {}
    emitted: dict[int, Counter[Row]] = {}
    for branch in query.branches:
        for newest, row in _results(branch, tuples):
            emitted.setdefault(start if newest is None else newest, Counter())[row] += 1
    in_order = dict(sorted(emitted.items()))
    return in_order if query.semantics is Semantics.BAG else _first_time_only(in_order)


def _first_time_only(emitted: Mapping[int, Counter[Row]]) -> dict[int, Counter[Row]]:
    seen: set[Row] = set()
    found: dict[int, Counter[Row]] = {}
    for time, rows in emitted.items():
        if fresh := rows.keys() - seen:
            found[time] = Counter(fresh)
            seen |= fresh
    return found


def _timestamps(query: SpjUnion, tuples: Tuples) -> Iterator[int]:
    relations = {o.relation for branch in query.branches for o in branch.occurrences}
    for relation in relations:
        if relation.time is not None:
            yield from (_tick(row[relation.time]) for row in tuples.get(relation.name, ()))


def _results(branch: SpjQuery, tuples: Tuples) -> Iterator[tuple[int | None, Row]]:
    """Each result with the timestamp of the newest of its tuples; None where no stream has part."""
    times = [o.time for o in branch.occurrences if o.time is not None]
    for match in _matches(branch, tuples):
        newest = max((_tick(_value(time, match)) for time in times), default=None)
        yield newest, tuple(_value(output.term, match) for output in branch.projection)


def _matches(branch: SpjQuery, tuples: Tuples) -> Iterator[Match]:
    bound: set[str] = set()
    matches = _filtered(iter([{}]), _checks(branch, bound, None))
    for occurrence in branch.occurrences:
        checks = _checks(branch, bound, occurrence)
        alone = [p for p in checks if _aliases(p) == {occurrence.alias}]
        joins = [p for p in checks if p not in alone]
        rows = tuples.get(occurrence.relation.name, ())
        mine = list(_filtered(({occurrence.alias: row} for row in rows), alone))
        matches = _filtered(_product(matches, mine), joins)
        bound.add(occurrence.alias)
    return matches


def _product(matches: Iterator[Match], mine: Sequence[Match]) -> Iterator[Match]:
    return ({**match, **one} for match in matches for one in mine)


def _filtered(matches: Iterator[Match], predicates: Sequence[Predicate]) -> Iterator[Match]:
    return (match for match in matches if all(_holds(p, match) for p in predicates))


def _checks(branch: SpjQuery, bound: set[str], new: Occurrence | None) -> list[Predicate]:
    """The predicates whose columns are all bound once `new` is, and were not before."""
    now = bound if new is None else bound | {new.alias}
    return [
        p
        for p in branch.predicates
        if _aliases(p) <= now and (new is None or new.alias in _aliases(p))
    ]


def _aliases(predicate: Predicate) -> set[str]:
    return {column.occurrence for column in columns_of(predicate)}


def _holds(predicate: Predicate, match: Match) -> bool:
    """Whether `predicate` is true; with NULL it is unknown, which is not true."""
    match predicate:
        case Comparison(left, op, right, offset):
            one, two = _value(left, match), _value(right, match)
            if one is None or two is None:
                return False
            return _COMPARE[op](one, _tick(two) + offset if offset else two)
        case Membership(column, values):
            return _value(column, match) in [constant.value for constant in values]
        case NotNull(column):
            return _value(column, match) is not None


def _value(term: Term, match: Match) -> Value | None:
    match term:
        case ColumnRef(alias, column):
            return match[alias][column]
        case Constant(value):
            return value


def _tick(value: Value | None) -> int:
    assert isinstance(value, int), "a timestamp is a whole number and never NULL"
    return value
