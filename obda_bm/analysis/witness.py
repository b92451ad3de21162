"""Build the streams that show why a violated condition forces memory to grow.

Candidate k is one copy of the stored part of a match, continuation k the rest of the same copy.
Constraints between the copies make continuation k meet candidate k but not the others
([A] Lemmas A.2 to A.6, and the staircase of THEORY 6 for S2 and S3). All constraints are
differences, so a solver finds the tuples; `evaluate` then executes them against the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from obda_bm.analysis.timeline import S0
from obda_bm.analysis.violation import Violation
from obda_bm.ir.catalog import Column
from obda_bm.ir.spj import Occurrence, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import DAY, FIRST_INSTANT, Family, Order, Value
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of
from obda_bm.ir.witness import Tuple, Witness
from obda_bm.order.closure import (
    Closure,
    Scale,
    constants_of,
    differences,
    grain_of,
    predicates_of,
)
from obda_bm.order.differences import Difference, solve_differences
from obda_bm.order.joins import Join
from obda_bm.order.streams import Timeline

SHARED = 0
"""The copy that static relations and finite streams belong to; candidates count from 1."""

Copy = tuple[ColumnRef, int]
Model = dict[Copy, Value]
Differences = list[Difference[Copy]]


@dataclass(frozen=True, slots=True)
class Copies:
    """`n` copies of a query's columns, those of what is static or finite shared."""

    timeline: Timeline
    violation: Violation
    n: int
    beyond: int  # all numbers that any branch of the union mentions

    @property
    def closure(self) -> Closure:
        return self.timeline.closure

    @property
    def query(self) -> SpjQuery:
        return self.closure.query

    def node(self, column: ColumnRef, copy: int) -> Copy:
        return column, copy if self.closure.infinite(column.occurrence) else SHARED

    def instance(self, difference: Difference[ColumnRef], copy: int) -> Difference[Copy]:
        def of(column: ColumnRef | None) -> Copy | None:
            return None if column is None else self.node(column, copy)

        return Difference(of(difference.left), of(difference.right), difference.bound)

    def stored(self, alias: str) -> bool:
        return any(alias in stream.aliases for stream in self.violation.stored)

    @property
    def replayed(self) -> bool:
        """S0: the continuation is the whole match again, which must not be emitted twice."""
        return self.violation.condition is S0


def witnesses(
    query: SpjUnion, timeline: Timeline, violation: Violation, n: int
) -> Iterator[Witness]:
    """Streams that may show that a `violation` in one branch of `query` needs unbounded memory."""
    copies = Copies(timeline, violation, n, _largest_number(query))
    times = _solve_times(copies, _gap(timeline))
    if times is None:
        return
    for separation in separations(copies):
        values = _solve_values(copies, separation)
        if values is not None:
            yield _assemble(copies, {**values, **_texts(copies), **times})


def _largest_number(query: SpjUnion) -> int:
    predicates = [p for branch in query.branches for p in branch.predicates]
    values = [v for p in predicates for v in constants_of(p) if not isinstance(v, str)]
    return max((ceil(v) for v in values), default=0)


def separations(copies: Copies) -> Iterator[Differences]:
    """Constraints between copies that make each continuation meet its own candidate only."""
    joins = copies.violation.joins
    match joins:
        case (one, two):
            yield _fails(copies, one, earlier=True) + _fails(copies, two, earlier=False)
            yield _fails(copies, one, earlier=False) + _fails(copies, two, earlier=True)
        case (join,) if join.is_inequality:
            for earlier in (True, False):
                yield _fails(copies, join, earlier)
            for step in (1, -1):
                yield _meets_neighbour(copies, join, step)
        case _:
            yield _increasing(copies, copies.violation.columns[0])


def _fails(copies: Copies, join: Join, earlier: bool) -> Differences:
    """`join` fails between what earlier (or later) copies stored and this copy's future."""
    if not join.is_inequality:
        return []
    negated = Comparison(join.left, _NEGATED[join.op], join.right)
    (difference,) = differences(negated, Scale(1))
    pairs = [(i, j) for j in range(1, copies.n + 1) for i in range(1, copies.n + 1)]
    return [_across(difference, join, i, j) for i, j in pairs if (i < j if earlier else i > j)]


_NEGATED = {Op.LT: Op.GE, Op.LE: Op.GT, Op.GT: Op.LE, Op.GE: Op.LT}


def _across(
    difference: Difference[ColumnRef], join: Join, stored: int, future: int
) -> Difference[Copy]:
    def of(column: ColumnRef | None) -> Copy:
        assert column is not None
        return column, stored if column == join.left else future

    return Difference(of(difference.left), of(difference.right), difference.bound)


def _meets_neighbour(copies: Copies, join: Join, step: int) -> Differences:
    """The future column equals the stored one of the next copy: tells a `<>` apart, too."""
    neighbours = [(k, k + step) for k in range(1, copies.n + 1) if 1 <= k + step <= copies.n]
    return [
        d
        for k, other in neighbours
        for d in (
            Difference((join.right, k), (join.left, other), 0),
            Difference((join.left, other), (join.right, k), 0),
        )
    ]


def _increasing(copies: Copies, column: ColumnRef) -> Differences:
    if copies.query.column(column).type.order is Order.UNORDERED:
        return []  # every copy has texts of its own anyway
    return [Difference((column, k), (column, k + 1), -1) for k in range(1, copies.n)]


def _solve_values(copies: Copies, separation: Differences) -> Model | None:
    """Values of all ordered columns of all copies."""
    closure = copies.closure
    ordered = [c for c in closure.values.nodes if _is_ordered(copies.query, c)]
    nodes = list(dict.fromkeys(copies.node(c, k) for c in ordered for k in _copies(copies)))
    # A strict chain through all copies must fit between two neighbouring constants.
    finer = 10 ** len(str(len(nodes) + 2)) if _has_dense(copies.query, ordered) else 1
    scale = Scale(closure.scale.parts * finer)
    constraints = separation + [
        copies.instance(d, k)
        for k in _copies(copies)
        for d in (*_stated(copies, scale), *_narrowed(copies, finer))
    ]
    grains = {node: grain_of(copies.query, node[0], scale) for node in nodes}
    solved = solve_differences(nodes, grains, constraints)
    return (
        None if solved is None else {node: scale.value(number) for node, number in solved.items()}
    )


def _stated(copies: Copies, scale: Scale) -> list[Difference[ColumnRef]]:
    return [
        d
        for p in predicates_of(copies.query)
        if all(_is_ordered(copies.query, c) for c in columns_of(p))
        for d in differences(p, scale)
    ]


def _narrowed(copies: Copies, finer: int) -> list[Difference[ColumnRef]]:
    """The cell of the violation, and one choice among listed values and around excluded ones."""
    closure = copies.closure
    ordered = {c for c in closure.values.nodes if _is_ordered(copies.query, c)}
    chosen = [d for d in copies.violation.cell if {d.left, d.right} - {None} <= ordered]
    values = closure.values.refine(chosen) or closure.values
    for column in sorted(ordered):
        for options in _choices(copies, column):
            for option in options:
                refined = values.refine(option)
                if refined is not None:
                    values, chosen = refined, [*chosen, *option]
                    break
    return [Difference(d.left, d.right, d.bound * finer) for d in chosen]


def _choices(
    copies: Copies, column: ColumnRef
) -> Iterator[list[tuple[Difference[ColumnRef], ...]]]:
    if column in copies.closure.allowed:
        yield [
            (Difference(column, None, v), Difference(None, column, -v))
            for v in sorted(copies.closure.allowed[column])
        ]
    for p in predicates_of(copies.query):
        if isinstance(p, Comparison) and p.op is Op.NE and columns_of(p) == (column,):
            hole = next(c for c in (p.left, p.right) if not isinstance(c, ColumnRef))
            at = copies.closure.scale.number(hole.value)
            below, above = (Difference(column, None, at - 1),), (Difference(None, column, -at - 1),)
            # Where there is room for any number of copies, if there is.
            endless = copies.closure.values.upper(column) is None
            yield [above, below] if endless else [below, above]


def _solve_times(copies: Copies, gap: int) -> Model | None:
    """Timestamps: the copies of the stored part one after another, then the continuations."""
    query = copies.query
    columns = [o.time for o in query.occurrences if o.time is not None]
    again = range(copies.n + 1, 2 * copies.n + 1) if copies.replayed else range(0)
    indices = [*_copies(copies), *again]
    nodes = list(dict.fromkeys(copies.node(c, k) for c in columns for k in indices))
    stated = [d for p in predicates_of(query) for d in _about_time(query, p)]
    constraints = [copies.instance(d, k) for k in indices for d in stated]
    constraints += [Difference(None, node, -_first(query, node[0])) for node in nodes]
    constraints += _arrival(copies, nodes, gap)
    grains = {node: int(query.column(node[0]).type.grain) for node in nodes}
    solved = solve_differences(nodes, grains, constraints)
    return None if solved is None else dict(solved.items())


def _about_time(query: SpjQuery, predicate: object) -> tuple[Difference[ColumnRef], ...]:
    if isinstance(predicate, Comparison) and any(map(query.is_time, columns_of(predicate))):
        return differences(predicate, Scale(1))
    return ()


def _arrival(copies: Copies, nodes: Sequence[Copy], gap: int) -> Differences:
    before = [n for n in nodes if 1 <= n[1] <= copies.n and copies.stored(n[0].occurrence)]
    shared = [n for n in nodes if n[1] == SHARED]
    after = [n for n in nodes if n[1] > copies.n or not (n in before or n in shared)]
    one_by_one = [Difference(a, b, -gap) for a in before for b in before if a[1] + 1 == b[1]]
    return one_by_one + [Difference(a, b, -gap) for a in (*before, *shared) for b in after]


def _gap(timeline: Timeline) -> int:
    """How far apart copies arrive: out of reach of every interval.

    So a witness never fits into a window, and one of N candidates extends to any number of them.
    """
    times = timeline.closure.times
    reach = [abs(bound) for row in times.rows[1:] for bound in row[1:] if bound is not None]
    instants = any(
        timeline.closure.query.column(c).type.family is Family.INSTANT for c in times.nodes
    )
    return max([1_000_000 if instants else 1, *(r + 1 for r in reach if r > 1)])


def _first(query: SpjQuery, column: ColumnRef) -> int:
    # Data from 1970 on reads better than data from the year 1; an earlier end is rare.
    instant = query.column(column).type.family is Family.INSTANT
    early = any(o.relation.end is not None and o.relation.end < 0 for o in query.occurrences)
    return FIRST_INSTANT if instant and early else 0


def _texts(copies: Copies) -> Model:
    """A text of its own for every class of equal columns in every copy, but for constants."""
    model: Model = {}
    closure = copies.closure
    for column in closure.values.nodes:
        if _is_ordered(copies.query, column):
            continue
        for copy in _copies(copies):
            model[copies.node(column, copy)] = _text(copies, column, copy)
    join = next((j for j in copies.violation.joins if j.op is Op.NE), None)
    if join is not None:
        # `<>` is told apart by the one candidate that the continuation equals.
        for copy in _copies(copies):
            model[copies.node(join.right, copy)] = model[copies.node(join.left, copy)]
    return model


def _text(copies: Copies, column: ColumnRef, copy: int) -> Value:
    closure = copies.closure
    by_code = {closure.scale.number(text): text for text in closure.scale.texts}
    code = closure.constant(column)
    if code is None and column in closure.allowed:
        code = min(closure.allowed[column])
    if code is not None:
        return by_code[code]
    equal = sorted(closure.class_of(column))
    shared = next((c for c in equal if not closure.infinite(c.occurrence)), None)
    named = shared or equal[0]
    return f"{named.occurrence}_{named.column}_{copies.node(named, copy)[1]}"


def _assemble(copies: Copies, model: Model) -> Witness:
    query, closure = copies.query, copies.closure
    streams = [o for o in query.occurrences if closure.infinite(o.alias)]
    common = [o for o in query.occurrences if not closure.infinite(o.alias)]
    now = [o for o in streams if copies.stored(o.alias)]
    later = streams if copies.replayed else [o for o in streams if o not in now]

    def tuples(of: Sequence[Occurrence], copy: int, time: int) -> tuple[Tuple, ...]:
        built = [_tuple(copies, model, o, copy, time) for o in of]
        return tuple(sorted(built, key=lambda t: (t.time or 0, t.relation.name)))

    shift = copies.n if copies.replayed else 0
    return Witness(
        tuple(dict.fromkeys(tuples(common, SHARED, SHARED))),
        tuple(tuples(now, k, k) for k in _copies(copies)),
        tuple(tuples(later, k, k + shift) for k in _copies(copies)),
    )


def _tuple(copies: Copies, model: Model, occurrence: Occurrence, copy: int, time: int) -> Tuple:
    def value(column: Column) -> Value | None:
        ref = ColumnRef(occurrence.alias, column.name)
        index = time if column.name == occurrence.relation.time else copy
        return model.get(copies.node(ref, index), _arbitrary(column, copies, copy))

    return Tuple(occurrence.relation, tuple(map(value, occurrence.relation.columns)))


def _arbitrary(column: Column, copies: Copies, copy: int) -> Value:
    """A value for a column that this branch does not mention, and other branches hardly ask for."""
    if column.type.values is not None:
        return column.type.values[0]
    match column.type.family:
        case Family.TEXT:
            return f"{column.name}_{copy}"
        case Family.INSTANT:
            return DAY * copy
        case _:
            return copies.beyond + copy


def _copies(copies: Copies) -> range:
    return range(1, copies.n + 1)


def _is_ordered(query: SpjQuery, column: ColumnRef) -> bool:
    return not query.is_time(column) and query.column(column).type.order is not Order.UNORDERED


def _has_dense(query: SpjQuery, columns: Sequence[ColumnRef]) -> bool:
    return any(query.column(c).type.order is Order.DENSE for c in columns)
