"""The smallest edits that make a query bounded, each decided before it is offered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, count, islice, permutations

from obda_bm.analysis.assess import Finding, decide
from obda_bm.analysis.violation import Violation
from obda_bm.analysis.windows import duration
from obda_bm.ir.catalog import Catalog, Extent, Relation
from obda_bm.ir.spj import Occurrence, Output, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import DAY, INTEGER, Family, Order, SqlType, instant
from obda_bm.ir.terms import (
    ColumnRef,
    Comparison,
    Constant,
    Op,
    Predicate,
    columns_of,
    rename,
)
from obda_bm.ir.verdict import Repair
from obda_bm.order.closure import Closure
from obda_bm.order.prepare import prepare
from obda_bm.order.streams import Stream, Timeline

SHOWN = 5
ATTEMPTS = 40
"""Edited queries that are decided at most, of one edit, of two, and of three."""

EXAMPLE_SIZE = 100
"""How many values a suggested bound leaves: an example, for only the user knows the real one."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to one branch of a query, or to its semantics."""

    text: str
    cost: int  # how much it takes away from what the user asked
    branch: int = 0
    predicates: tuple[Predicate, ...] = ()
    occurrences: tuple[Occurrence, ...] = ()
    semantics: Semantics | None = None
    dropped: int | None = None


def suggest_repairs(query: SpjUnion, catalog: Catalog) -> tuple[Repair, ...]:
    """Edits after which the criterion holds, smallest first."""
    candidates = sorted(dict.fromkeys(_edits(query, catalog)), key=lambda e: e.cost)
    satisfiable = len(prepare(query))
    remaining: dict[Edit, frozenset[object]] = {}
    found: list[tuple[tuple[Edit, ...], Repair]] = []
    for size in (1, 2, 3):
        for chosen in islice(_promising(candidates, size, remaining), ATTEMPTS):
            decision = decide(edited := _apply(query, chosen))
            if size == 1:
                remaining[chosen[0]] = frozenset(_identity(f) for f in decision.findings)
            # An edit that empties a branch would be bounded, and useless.
            if not decision.findings and len(decision.branches) >= satisfiable:
                verdict = "bounded_by_window" if decision.expiring else "bounded"
                text = "; ".join(edit.text for edit in chosen)
                found.append((chosen, Repair(text, edited, verdict)))
        if found:
            break
    ranked = sorted(found, key=lambda f: _rank(*f))
    return tuple(repair for _, repair in ranked[:SHOWN])


def _promising(
    candidates: Sequence[Edit], size: int, remaining: Mapping[Edit, frozenset[object]]
) -> Iterator[tuple[Edit, ...]]:
    """Combinations of edits that leave no common violation when each is made alone.

    Edits only add conditions or take columns away, so what each leaves open, both do.
    """
    for chosen in combinations(candidates, size):
        left = [remaining[edit] for edit in chosen if edit in remaining]
        if size == 1 or (len(left) == size and not frozenset.intersection(*left)):
            yield chosen


def _identity(finding: Finding) -> object:
    violation = finding.violation
    return violation.condition.name, violation.columns, violation.joins


def _rank(edits: Sequence[Edit], repair: Repair) -> tuple[int, int, str]:
    return repair.verdict != "bounded", sum(e.cost for e in edits), repair.edit


def _edits(query: SpjUnion, catalog: Catalog) -> Iterator[Edit]:
    yield _other_semantics(query)
    for i, branch in enumerate(query.branches):
        for finding in decide(replace(query, branches=(branch,))).findings:
            yield from _edits_for(finding, i, catalog)
        yield from _dropped_columns(branch, i)


def _edits_for(finding: Finding, branch: int, catalog: Catalog) -> Iterator[Edit]:
    timeline, violation = finding.timeline, finding.violation
    for column in _concerned(timeline.closure, violation):
        yield from _bound_column(timeline.closure, column, branch)
        if not any(join.is_inequality for join in violation.joins):
            # A column that is compared by size is a measurement: no relation lists its values.
            yield from _join_static(timeline.closure, column, branch, catalog)
    for x, y in permutations(timeline.streams, 2):
        yield from _order_streams(timeline, x, y, branch)


def _concerned(closure: Closure, violation: Violation) -> list[ColumnRef]:
    """The columns of a violation, one of each class of equal ones."""
    joined = (c for join in violation.joins for c in (join.left, join.right))
    columns: list[ColumnRef] = []
    for column in sorted({*violation.columns, *joined}):
        if not any(closure.equals(column, known) for known in columns):
            columns.append(column)
    return columns


def _other_semantics(query: SpjUnion) -> Edit:
    several = len(query.branches) > 1
    if query.semantics is Semantics.BAG:
        text = "write UNION instead of UNION ALL" if several else "add DISTINCT"
        return Edit(text, 2, semantics=Semantics.SET)
    text = "write UNION ALL instead of UNION" if several else "drop DISTINCT"
    return Edit(text, 2, semantics=Semantics.BAG)


def _bound_column(closure: Closure, column: ColumnRef, branch: int) -> Iterator[Edit]:
    type_ = closure.query.column(column).type
    if type_.order is not Order.DISCRETE or closure.bounded(column):
        return
    lower, upper = _known_bounds(closure, column)
    span = Fraction(DAY if type_.family is Family.INSTANT else type_.grain) * (EXAMPLE_SIZE - 1)
    start = lower if lower is not None else (upper - span if upper is not None else _origin(type_))
    bounds = [
        Comparison(column, op, Constant(_whole(value), type_))
        for op, value, known in ((Op.GE, start, lower), (Op.LE, start + span, upper))
        if known is None
    ]
    yield Edit(f"bound {column}: {' AND '.join(map(str, bounds))}", 1, branch, tuple(bounds))


def _known_bounds(
    closure: Closure, column: ColumnRef
) -> tuple[int | Fraction | None, int | Fraction | None]:
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    return (
        None if lower is None else closure.scale.value(lower),
        None if upper is None else closure.scale.value(upper),
    )


def _origin(type_: SqlType) -> int:
    return instant("2026-01-01") if type_.family is Family.INSTANT else 0


def _whole(value: int | Fraction) -> int | Fraction:
    return int(value) if value == int(value) else value


def _join_static(
    closure: Closure, column: ColumnRef, branch: int, catalog: Catalog
) -> Iterator[Edit]:
    type_ = closure.query.column(column).type
    taken = {o.alias.lower() for o in closure.query.occurrences}
    for relation in catalog.relations:
        if relation.extent is not Extent.STATIC or relation.name.lower() in taken:
            continue
        key = _joinable(relation, type_)
        if key is not None and not closure.bounded(column):
            joined = Comparison(column, Op.EQ, ColumnRef(relation.name, key))
            occurrence = Occurrence(relation.name, relation)
            text = f"join with the static relation {relation.name}: {joined}"
            yield Edit(text, 3, branch, (joined,), (occurrence,))


def _joinable(relation: Relation, type_: SqlType) -> str | None:
    """The key of `relation`, or else its first column, if of the same family."""
    names = [key[0] for key in relation.keys if len(key) == 1]
    names += [column.name for column in relation.columns]
    same = [n for n in names if relation.column(n).type.family is type_.family]
    return same[0] if same else None


def _order_streams(timeline: Timeline, x: Stream, y: Stream, branch: int) -> Iterator[Edit]:
    query = timeline.closure.query
    before, after = (query.occurrence(s.aliases[0]).time for s in (x, y))
    if before is None or after is None or not timeline.can_precede(x, y):
        return
    earlier = Comparison(before, Op.LT, after)
    if timeline.can_precede(y, x):
        yield Edit(f"order the streams in time: {earlier}", 4, branch, (earlier,))
    if timeline.window(x, y) is not None:
        return
    instants = query.column(before).type.family is Family.INSTANT
    ticks = 3_600_000_000 if instants else 60
    window = tuple(
        p
        for p in (Comparison(before, Op.LE, after), Comparison(after, Op.LE, before, ticks))
        if not timeline.closure.implies(p)
    )
    length = duration(timeline.closure, before.occurrence, ticks)
    yield Edit(f"add an interval: {after} at most {length} after {before}", 5, branch, window)


def _dropped_columns(branch: SpjQuery, index: int) -> Iterator[Edit]:
    for i, output in enumerate(branch.projection):
        if isinstance(output.term, ColumnRef):
            yield Edit(f"do not project {output.term}", 3, index, dropped=i)


def _apply(query: SpjUnion, edits: Sequence[Edit]) -> SpjUnion:
    branches = list(query.branches)
    semantics = query.semantics
    dropped = {e.dropped for e in edits if e.dropped is not None}
    for edit in edits:
        semantics = edit.semantics or semantics
        branch = branches[edit.branch]
        fresh = {o.alias: _fresh(branch, o.alias) for o in edit.occurrences}
        branches[edit.branch] = replace(
            branch,
            predicates=branch.predicates + tuple(_realiased(p, fresh) for p in edit.predicates),
            occurrences=branch.occurrences
            + tuple(replace(o, alias=fresh[o.alias]) for o in edit.occurrences),
        )
    return SpjUnion(tuple(_without(b, dropped) for b in branches), semantics)


def _fresh(branch: SpjQuery, alias: str) -> str:
    taken = {o.alias.lower() for o in branch.occurrences}
    names = (f"{alias}_{i}" if i > 1 else alias for i in count(1))
    return next(name for name in names if name.lower() not in taken)


def _realiased(predicate: Predicate, fresh: Mapping[str, str]) -> Predicate:
    return rename(
        predicate,
        {
            c: ColumnRef(fresh.get(c.occurrence, c.occurrence), c.column)
            for c in columns_of(predicate)
        },
    )


def _without(branch: SpjQuery, dropped: set[int]) -> SpjQuery:
    kept = tuple(o for i, o in enumerate(branch.projection) if i not in dropped)
    return replace(branch, projection=kept or (Output("found", Constant(1, INTEGER)),))
