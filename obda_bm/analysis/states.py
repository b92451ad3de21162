"""What will be kept, and how much of it at most (THEORY 8).

A state belongs to a connected piece of a closed set of streams: the partial matches over it that
wait for the rest. It is keyed by the bounded columns that the projection or later joins still
need; its value is a counter (bag), a presence, or an extreme value (set).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb, prod

from obda_bm.analysis.keys import emitted_keys, piece_keys, raw_keys
from obda_bm.analysis.timeline import Windows, enumerable
from obda_bm.ir.spj import Occurrence, Semantics
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of
from obda_bm.ir.verdict import Bound, KeyColumn, State
from obda_bm.order.cells import CellSpace, cell_space
from obda_bm.order.closure import Closure
from obda_bm.order.joins import Join, joins
from obda_bm.order.references import Reference, references, side
from obda_bm.order.streams import Stream, Timeline

Piece = frozenset[Stream]


@dataclass(frozen=True, slots=True)
class Layout:
    """A bounded query with what its states are derived from."""

    space: CellSpace
    semantics: Semantics
    raw: frozenset[Stream]  # kept as they are: few by key, or for as long as a window says
    joins: tuple[Join, ...]
    references: tuple[Reference, ...]

    @property
    def timeline(self) -> Timeline:
        return self.space.timeline

    @property
    def closure(self) -> Closure:
        return self.space.timeline.closure

    def owner(self, column: ColumnRef) -> Stream:
        stream = self.timeline.stream_of(column)
        assert stream is not None
        return stream


def bound(timeline: Timeline, semantics: Semantics, windows: Windows, branches: int) -> Bound:
    """All states of one of the satisfiable `branches` of a union."""
    space = cell_space(timeline)
    raw = expiring_streams(timeline, windows) | {
        s for s in timeline.streams if enumerable(timeline, s) and _is_stored(timeline, s)
    }
    layout = Layout(space, semantics, raw, tuple(joins(timeline)), tuple(references(space)))
    kept = [state for piece in pieces(layout) for state in _piece_state(layout, piece)]
    derived = branches == 1 and all(state.each == 1 for state in kept)
    emitted = () if derived and not _is_timed(layout) else _emitted(layout)
    return Bound((*_finite_streams(layout), *_raw_streams(layout), *kept, *emitted))


def expiring_streams(timeline: Timeline, windows: Windows) -> frozenset[Stream]:
    """Streams whose tuples wait for another only as long as a window says."""
    if windows is Windows.IGNORE:
        return frozenset()
    return frozenset(
        x
        for x, y in permutations(timeline.streams, 2)
        if timeline.can_precede(x, y) and timeline.window(x, y) is not None
    )


def pieces(layout: Layout) -> list[Piece]:
    """The connected closed sets over which partial matches wait, smaller ones first."""
    return [p for p in layout.timeline.closed_sets() if _connected(layout, p)]


def _connected(layout: Layout, piece: Piece) -> bool:
    first, *rest = sorted(piece)
    reached, missing = {first}, set(rest)
    while near := {y for y in missing if any(_tied(layout, x, y) for x in reached)}:
        reached |= near
        missing -= near
    return not missing


def _tied(layout: Layout, x: Stream, y: Stream) -> bool:
    return layout.timeline.related(x, y) or any(
        {layout.owner(r.stored), layout.owner(r.future)} == {x, y} for r in layout.references
    )


def _piece_state(layout: Layout, piece: Piece) -> Iterator[State]:
    raw = _raw_in(layout, piece)
    if piece <= raw:
        return  # its tuples are kept as they are
    windows = (_copies(layout, s, s.aliases[0]) for s in sorted(raw))
    copies = "·".join(window for window in windows if window)
    waiting = [j for j in _oriented(layout) if _crosses(layout, j, piece)]
    carried = [c for c in layout.closure.query.projected if _in(layout, c, piece)]
    carried += [j.left for j in waiting if not _by_value(layout, j)]
    names = tuple(alias for stream in sorted(piece) for alias in stream.aliases)
    if layout.semantics is Semantics.BAG:
        carried += [j.left for j in waiting if j.is_inequality]
        yield State(names, _keys(layout, piece, carried), "count", copies=copies)
        return
    best = [j for j in waiting if _by_value(layout, j) and not _among(layout, j.left, carried)]
    carried, value, each = _best_values(layout, piece, carried, best)
    yield State(names, _keys(layout, piece, carried), value, each, copies)


def _raw_in(layout: Layout, piece: Piece) -> Piece:
    """The streams of `piece` that are kept as they are while it waits for what is outside."""
    outside = [y for y in layout.timeline.streams if y not in piece]
    return frozenset(
        x
        for x in piece & layout.raw
        if enumerable(layout.timeline, x)
        or any(layout.timeline.window(x, y) is not None for y in outside)
    )


def _by_value(layout: Layout, join: Join) -> bool:
    """Whether a few values of the stored column decide `join`: the best one, or some for `<>`."""
    if layout.semantics is Semantics.BAG:
        return join.is_inequality
    return join.op is not Op.EQ and (join.is_inequality or not layout.closure.bounded(join.left))


def _best_values(
    layout: Layout, piece: Piece, carried: list[ColumnRef], best: list[Join]
) -> tuple[list[ColumnRef], str, int]:
    """Key columns, value and its units; an inequality needs the best value, if one serves all."""
    kept = _values_for(layout, best)
    if kept is None:  # code the bounded parts as keys; what is left is alive in some cell
        alive = {r.join for r in layout.references}
        carried = carried + [j.left for j in best if j not in alive]
        best = [j for j in best if j in alive]
        kept = _values_for(layout, best) or _per_cell(layout, best)
    if kept > 1 or len({layout.owner(j.left) for j in best}) > 1:
        carried = carried + _joined_inside(layout, piece)
    text = ", ".join(dict.fromkeys(f"{side(Reference(j, ()))} of {j.left}" for j in best))
    return carried, text or "present", kept


def _values_for(layout: Layout, best: list[Join]) -> int | None:
    """How many values serve all of `best`, or None where cells have to tell."""
    if any(j.op is Op.NE for j in best):
        return _representatives(layout.closure, best) if _one_side(best) else None
    if not best or (_one_class(layout.closure, [j.right for j in best]) and _one_side(best)):
        return 1
    groups: dict[Stream, list[Join]] = {}
    for join in best:
        groups.setdefault(layout.owner(join.left), []).append(join)
    if all(_one_value(layout.closure, group) for group in groups.values()):
        return len(groups)
    return None


def _representatives(closure: Closure, differing: list[Join]) -> int:
    """Tuples of p texts, one of which avoids any q future texts: C(p + q, p) suffice.

    Bollobás' theorem on set pairs; for one column and one test that is two distinct values.
    """
    stored = len({closure.class_of(j.left) for j in differing})
    future = len({closure.class_of(j.right) for j in differing})
    return comb(stored + future, stored) * stored


def _one_value(closure: Closure, group: list[Join]) -> bool:
    same_column = _one_class(closure, [j.left for j in group])
    same_test = _one_class(closure, [j.right for j in group])
    return _one_side(group) and (same_column or same_test)


def _per_cell(layout: Layout, best: list[Join]) -> int:
    """One value per cell of the columns concerned, and per value of those bounded in it."""
    columns = list(dict.fromkeys(j.left for j in best))
    choices = {c: layout.space.regions(c) for c in columns}
    return sum(
        prod(_values_in(cell, c) for c in columns if cell.bounded(c))
        for cell in layout.space.cells(columns, choices)
    )


def _values_in(cell: Closure, column: ColumnRef) -> int:
    lower, upper = cell.values.lower(column), cell.values.upper(column)
    discrete = cell.query.column(column).type.order is Order.DISCRETE
    if lower is None or upper is None or not discrete:
        return 1
    return (upper - lower) // cell.grain(column) + 1


def _one_class(closure: Closure, columns: list[ColumnRef]) -> bool:
    return all(closure.equals(columns[0], c) for c in columns)


def _one_side(group: list[Join]) -> bool:
    return len({side(Reference(j, ())) for j in group}) <= 1


def _joined_inside(layout: Layout, piece: Piece) -> list[ColumnRef]:
    return [
        j.left
        for j in _oriented(layout)
        if {layout.owner(j.left), layout.owner(j.right)} <= piece and layout.closure.bounded(j.left)
    ]


def _keys(layout: Layout, piece: Piece, columns: list[ColumnRef]) -> tuple[KeyColumn, ...]:
    aliases = {alias for stream in piece for alias in stream.aliases}
    raw = _raw_in(layout, piece)
    own = [c for c in columns if layout.owner(c) not in raw]
    return piece_keys(layout.space, layout.joins, aliases, own)


def _is_timed(layout: Layout) -> bool:
    """Whether what was emitted depends on more than which tuples came."""
    streams = layout.timeline.streams
    return (
        len(streams) == 1
        or any(layout.timeline.related(x, y) for x, y in combinations(streams, 2))
        or any(
            len({layout.timeline.stream_of(c) for c in columns_of(p)}) > 1
            and any(map(layout.closure.query.is_time, columns_of(p)))
            for p in layout.closure.query.predicates
        )
    )


def _emitted(layout: Layout) -> Iterator[State]:
    """What was emitted. Not needed where the states before a marker evaluate to the old answer:
    one branch, no comparison of time, and one value for each state."""
    if layout.semantics is Semantics.SET and layout.timeline.streams:
        yield State((), emitted_keys(layout.space, layout.joins), "present")


def _raw_streams(layout: Layout) -> Iterator[State]:
    for stream in sorted(layout.raw):
        for alias in stream.aliases:
            copies = _copies(layout, stream, alias)
            key = () if copies else raw_keys(layout.space, layout.joins, alias)
            yield State((alias,), key, "tuples", _width(layout, alias), copies)
    for stream, ticks in sorted(delays(layout.timeline).items()):
        if stream not in layout.raw:
            for alias in stream.aliases:
                copies = f"rate({alias})·{duration(layout.closure, alias, ticks)}"
                yield State((alias,), (), "recent tuples", _width(layout, alias), copies)


def delays(timeline: Timeline) -> dict[Stream, int]:
    """Streams that an interval compares with another: for so long, tuples keep their time."""
    query = timeline.closure.query
    longest: dict[Stream, int] = {}
    for p in query.predicates:
        streams = [s for c in columns_of(p) if (s := timeline.stream_of(c)) is not None]
        if isinstance(p, Comparison) and p.offset and len(streams) == 2:
            for stream, other in permutations(streams):
                if timeline.can_precede(stream, other):
                    longest[stream] = max(longest.get(stream, 0), abs(p.offset))
    return longest


def _copies(layout: Layout, stream: Stream, alias: str) -> str:
    """How many tuples a window holds; empty where a key limits them."""
    ages = [
        age
        for y in layout.timeline.streams
        if layout.timeline.can_precede(stream, y)
        and (age := layout.timeline.window(stream, y)) is not None
    ]
    return f"rate({alias})·{duration(layout.closure, alias, max(ages))}" if ages else ""


def _is_stored(timeline: Timeline, stream: Stream) -> bool:
    return any(timeline.can_precede(stream, other) for other in timeline.streams)


def _finite_streams(layout: Layout) -> Iterator[State]:
    """Until a finite stream ends, its tuples and those that may wait for them are kept as they are.

    Only finitely many timestamps lie before the end; afterwards the finite stream is static.
    """
    closure = layout.closure
    streams = [o for o in closure.query.occurrences if o.time is not None]
    if len(streams) == 1 and layout.semantics is Semantics.BAG:
        return  # every tuple is answered at once
    ending = [o for o in streams if not closure.infinite(o.alias)]
    for occurrence in ending:
        alias = occurrence.alias
        yield State((alias,), (), "tuples", _width(layout, alias), _rows(layout, occurrence))
    for occurrence in streams:
        waits_for = [e.alias for e in ending if _can_wait(closure, occurrence, e)]
        if occurrence not in ending and waits_for:
            alias = occurrence.alias
            copies = f"rate({alias})·end({', '.join(waits_for)})"
            yield State((alias,), (), "tuples until then", _width(layout, alias), copies)


def _rows(layout: Layout, ending: Occurrence) -> str:
    if ending.relation.rows is not None:
        return str(ending.relation.rows)
    return (
        f"rows({ending.alias})" if ending.relation.end is not None else f"rate({ending.alias})·end"
    )


def _can_wait(closure: Closure, stream: Occurrence, ending: Occurrence) -> bool:
    return not closure.times.at_most(ending.time, stream.time)


def _width(layout: Layout, alias: str) -> int:
    """The columns of an occurrence that the query mentions, its time included."""
    query = layout.closure.query
    mentioned = {c for p in query.predicates for c in columns_of(p)} | set(query.projected)
    return max(1, len({c.column for c in mentioned if c.occurrence == alias}))


def duration(closure: Closure, alias: str, ticks: int) -> str:
    """`ticks` in the largest unit that divides them."""
    time = closure.query.occurrence(alias).time
    assert time is not None
    return closure.query.column(time).type.duration(ticks)


def _oriented(layout: Layout) -> Iterator[Join]:
    for join in layout.joins:
        yield join
        yield join.mirrored


def _crosses(layout: Layout, join: Join, piece: Piece) -> bool:
    return layout.owner(join.left) in piece and layout.owner(join.right) not in piece


def _among(layout: Layout, column: ColumnRef, columns: list[ColumnRef]) -> bool:
    return any(layout.closure.equals(column, c) for c in columns)


def _in(layout: Layout, column: ColumnRef, piece: Piece) -> bool:
    return layout.timeline.stream_of(column) in piece
