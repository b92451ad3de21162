"""What will be kept, and how much of it at most (THEORY 8).

A state belongs to a connected piece of a closed set of streams: the partial matches over it that
wait for the rest. It is keyed by the bounded columns that the projection or later joins still
need; its value is a counter (bag), a presence, or an extreme value (set).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from math import prod

from obda_bm.analysis.cells import CellSpace, cell_space
from obda_bm.analysis.closure import Closure
from obda_bm.analysis.joins import Join, joins
from obda_bm.analysis.references import Reference, references, side
from obda_bm.analysis.streams import Stream, Timeline
from obda_bm.ir.spj import Occurrence, Semantics
from obda_bm.ir.sqltypes import Family, Order
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of
from obda_bm.ir.verdict import Bound, KeyColumn, State

Piece = frozenset[Stream]


@dataclass(frozen=True, slots=True)
class Layout:
    """A bounded query with what its states are derived from."""

    space: CellSpace
    semantics: Semantics
    raw: frozenset[Stream]
    joins: tuple[Join, ...]
    references: tuple[Reference, ...]

    @property
    def timeline(self) -> Timeline:
        return self.space.timeline

    @property
    def closure(self) -> Closure:
        return self.space.timeline.closure


def bound(timeline: Timeline, semantics: Semantics, raw: frozenset[Stream]) -> Bound:
    """All states of one satisfiable branch."""
    space = cell_space(timeline)
    layout = Layout(space, semantics, raw, tuple(joins(timeline)), tuple(references(space)))
    return Bound(
        (
            *_finite_streams(layout),
            *_raw_streams(layout),
            *(state for piece in pieces(layout) for state in _piece_state(layout, piece)),
            *_emitted(layout),
        )
    )


def pieces(layout: Layout) -> list[Piece]:
    """The connected closed sets over which partial matches wait, smaller ones first."""
    streams = layout.timeline.streams
    subsets = (
        frozenset(chosen)
        for size in range(1, len(streams))
        for chosen in combinations(streams, size)
    )
    return [p for p in subsets if layout.timeline.down(*p) == p and _connected(layout, p)]


def _connected(layout: Layout, piece: Piece) -> bool:
    first, *rest = sorted(piece)
    reached, missing = {first}, set(rest)
    while near := {y for y in missing if any(_tied(layout, x, y) for x in reached)}:
        reached |= near
        missing -= near
    return not missing


def _tied(layout: Layout, x: Stream, y: Stream) -> bool:
    return layout.timeline.related(x, y) or any(
        {_owner(layout, r.stored), _owner(layout, r.future)} == {x, y} for r in layout.references
    )


def _piece_state(layout: Layout, piece: Piece) -> Iterator[State]:
    if piece <= layout.raw:
        return  # its tuples are kept as they are
    copies = "·".join(_copies(layout, s, s.aliases[0]) for s in sorted(piece & layout.raw))
    waiting = [j for j in _oriented(layout) if _crosses(layout, j, piece)]
    carried = _carried(layout, piece, waiting)
    names = tuple(alias for stream in sorted(piece) for alias in stream.aliases)
    if layout.semantics is Semantics.BAG:
        keys = carried + [j.left for j in waiting if j.is_inequality]
        yield State(names, _keys(layout, keys), "count", copies=copies)
        return
    extremes = [j for j in waiting if _by_extreme(layout, j)]
    extremes = [j for j in extremes if not _among(layout, j.left, carried)]
    carried, value, each = _extreme_values(layout, piece, carried, extremes)
    yield State(names, _keys(layout, carried), value, each, copies)


def _by_extreme(layout: Layout, join: Join) -> bool:
    """Whether a few values of the stored column decide `join`: an extreme one, or two for `<>`."""
    if layout.semantics is Semantics.BAG:
        return join.is_inequality
    return join.op is not Op.EQ and (join.is_inequality or not layout.closure.bounded(join.left))


def _extreme_values(
    layout: Layout, piece: Piece, carried: list[ColumnRef], extremes: list[Join]
) -> tuple[list[ColumnRef], str, int]:
    """Key columns, value and its units; an inequality needs the best value, if one serves all."""
    kept = _values_for(layout, extremes)
    if kept is None:  # code the bounded parts as keys; what is left is alive in some cell
        alive = {r.join for r in layout.references}
        dead = [j.left for j in extremes if j not in alive]
        extremes = [j for j in extremes if j in alive]
        carried = carried + dead
        kept = _values_for(layout, extremes) or _per_cell(layout, extremes)
    if kept > 1 or len({_owner(layout, j.left) for j in extremes}) > 1:
        carried = carried + _joined_inside(layout, piece)
    text = ", ".join(dict.fromkeys(f"{side(Reference(j, ()))} of {j.left}" for j in extremes))
    return carried, text or "present", kept


def _values_for(layout: Layout, extremes: list[Join]) -> int | None:
    """How many extreme values serve all of `extremes`, or None where cells have to tell."""
    closure = layout.closure
    groups: dict[Stream, list[Join]] = {}
    for join in extremes:
        groups.setdefault(_owner(layout, join.left), []).append(join)
    if not extremes or (_one_class(closure, [j.right for j in extremes]) and _one_side(extremes)):
        return 2 if any(j.op is Op.NE for j in extremes) else 1
    for group in groups.values():
        by_column = _one_class(closure, [j.left for j in group])
        by_test = _one_class(closure, [j.right for j in group])
        if not (_one_side(group) and (by_column or by_test)):
            return None
    return sum(2 if group[0].op is Op.NE else 1 for group in groups.values())


def _per_cell(layout: Layout, extremes: list[Join]) -> int:
    """One value per cell of the columns concerned, and per value of those bounded in it."""
    columns = list(dict.fromkeys(j.left for j in extremes))
    choices = {c: layout.space.regions(c) for c in columns}
    return sum(
        prod(_values_in(cell, c) for c in columns if cell.bounded(c))
        for cell in layout.space.cells(columns, choices)
    )


def _values_in(cell: Closure, column: ColumnRef) -> int:
    lower, upper = cell.values.lower(column), cell.values.upper(column)
    if lower is None or upper is None or not _is_discrete(cell, column):
        return 1
    return (upper - lower) // cell.grain(column) + 1


def _one_class(closure: Closure, columns: list[ColumnRef]) -> bool:
    return all(closure.equals(columns[0], c) for c in columns)


def _one_side(group: list[Join]) -> bool:
    return len({side(Reference(j, ())) for j in group}) <= 1


def _carried(layout: Layout, piece: Piece, waiting: list[Join]) -> list[ColumnRef]:
    """Columns of `piece` that the projection, equality joins or static relations still need."""
    projected = [c for c in layout.closure.query.projected if _owner_in(layout, c, piece)]
    equalities = [j.left for j in waiting if not _by_extreme(layout, j)]
    return projected + equalities + _for_static(layout, piece)


def _for_static(layout: Layout, piece: Piece) -> list[ColumnRef]:
    """Columns joined with a static relation that the rest of the query looks at, too."""
    query = layout.closure.query
    comparisons = [p for p in query.predicates if isinstance(p, Comparison)]
    pairs = [columns_of(p) for p in comparisons]
    links = [(a, b) for pair in pairs if len(pair) == 2 for a, b in (pair, pair[::-1])]
    outside = {b.occurrence for a, b in links if not _owner_in(layout, a, piece)}
    outside |= {c.occurrence for c in query.projected}
    return [
        a
        for a, b in links
        if _owner_in(layout, a, piece)
        and not query.is_time(a)
        and not layout.closure.infinite(b.occurrence)
        and b.occurrence in outside
    ]


def _joined_inside(layout: Layout, piece: Piece) -> list[ColumnRef]:
    return [
        j.left
        for j in _oriented(layout)
        if _owner(layout, j.left) in piece
        and _owner(layout, j.right) in piece
        and layout.closure.bounded(j.left)
    ]


def _keys(layout: Layout, columns: list[ColumnRef]) -> tuple[KeyColumn, ...]:
    keys: list[KeyColumn] = []
    for column in columns:
        constant = layout.closure.constant(column) is not None
        if constant or any(layout.closure.equals(column, k.column) for k in keys):
            continue
        if _owner(layout, column) not in layout.raw:
            keys.append(key_column(layout.space, column))
    return tuple(keys)


def key_column(space: CellSpace, column: ColumnRef) -> KeyColumn:
    """How many values `column` takes in a key: its own, or its place among the constants."""
    closure = space.timeline.closure
    if column in closure.allowed:
        return KeyColumn(column, len(closure.allowed[column]), "listed values")
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    if lower is not None and upper is not None and _is_discrete(closure, column):
        return _range(closure, column, lower, upper)
    static = _static_equal(closure, column)
    if static is not None:
        return static
    marks = space.landmarks[column]
    if marks.symbolic or not marks.constants:
        return KeyColumn(column, None, f"range({', '.join(map(str, marks.symbolic))})")
    return _clamped(closure, column, marks.constants)


def _range(closure: Closure, column: ColumnRef, lower: int, upper: int) -> KeyColumn:
    type_ = closure.query.column(column).type
    count = (upper - lower) // closure.grain(column) + 1
    ends = [type_.literal(closure.scale.value(n)) for n in (lower, upper)]
    return KeyColumn(column, count, "..".join(ends))


def _clamped(closure: Closure, column: ColumnRef, constants: tuple[int, ...]) -> KeyColumn:
    """A two-sided clamp: everything below the constants is one value, everything above another."""
    type_ = closure.query.column(column).type
    lower, upper = closure.values.lower(column), closure.values.upper(column)
    bottom = constants[0] if lower is None else max(lower, constants[0])
    top = constants[-1] if upper is None else min(upper, constants[-1])
    ends = [type_.literal(closure.scale.value(n)) for n in (bottom, top)]
    if type_.order is Order.DENSE:
        return KeyColumn(column, 2 * len(constants) + 1, f"regions of {'..'.join(ends)}")
    inside = max(0, (top - bottom) // closure.grain(column) + 1)
    beyond = (lower is None or lower < bottom) + (upper is None or upper > top)
    return KeyColumn(column, inside + beyond, f"{'..'.join(ends)} clamped")


def _static_equal(closure: Closure, column: ColumnRef) -> KeyColumn | None:
    for other in sorted(closure.class_of(column)):
        if not closure.infinite(other.occurrence):
            relation = closure.query.occurrence(other.occurrence).relation
            return KeyColumn(column, relation.rows, f"rows({relation.name})")
    return None


def _emitted(layout: Layout) -> Iterator[State]:
    """What was emitted, unless the states before a marker already tell (no order in time)."""
    streams = layout.timeline.streams
    tied = any(layout.timeline.related(x, y) for x, y in combinations(streams, 2))
    if layout.semantics is Semantics.BAG or not (tied or len(streams) == 1):
        return
    keys: list[KeyColumn] = []
    for column in dict.fromkeys(layout.closure.query.projected):
        if layout.closure.constant(column) is None:
            keys.append(_emitted_column(layout, column))
    yield State(("emitted",), tuple(keys), "present")


def _emitted_column(layout: Layout, column: ColumnRef) -> KeyColumn:
    if layout.timeline.stream_of(column) is None:
        relation = layout.closure.query.occurrence(column.occurrence).relation
        return KeyColumn(column, relation.rows, f"rows({relation.name})")
    return key_column(layout.space, column)


def _raw_streams(layout: Layout) -> Iterator[State]:
    for stream in sorted(layout.raw):
        for alias in stream.aliases:
            copies = _copies(layout, stream, alias)
            yield State((alias,), (), "tuples", _width(layout, alias), copies)
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
    expiry = layout.timeline.expiry(stream)
    if expiry is None:
        return f"keys({alias})"
    return f"rate({alias})·{duration(layout.closure, alias, expiry)}"


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
        alias, rows = occurrence.alias, occurrence.relation.rows
        copies = f"rows({alias})" if rows is None else str(rows)
        yield State((alias,), (), "tuples", _width(layout, alias), copies)
    for occurrence in streams:
        waits_for = [e.alias for e in ending if _can_wait(closure, occurrence, e)]
        if occurrence not in ending and waits_for:
            alias = occurrence.alias
            copies = f"rate({alias})·end({', '.join(waits_for)})"
            yield State((alias,), (), "tuples until then", _width(layout, alias), copies)


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
    if time is None or closure.query.column(time).type.family is not Family.INSTANT:
        return f"{ticks} ticks"
    units = {"µs": 1, "ms": 10**3, "s": 10**6, "min": 6 * 10**7, "h": 36 * 10**8, "d": 864 * 10**8}
    unit = max((u for u in units if ticks % units[u] == 0), key=lambda u: units[u])
    return f"{ticks // units[unit]} {unit}"


def _oriented(layout: Layout) -> Iterator[Join]:
    for join in layout.joins:
        yield join
        yield join.mirrored


def _crosses(layout: Layout, join: Join, piece: Piece) -> bool:
    return _owner(layout, join.left) in piece and _owner(layout, join.right) not in piece


def _among(layout: Layout, column: ColumnRef, columns: list[ColumnRef]) -> bool:
    return any(layout.closure.equals(column, c) for c in columns)


def _owner(layout: Layout, column: ColumnRef) -> Stream:
    stream = layout.timeline.stream_of(column)
    assert stream is not None
    return stream


def _owner_in(layout: Layout, column: ColumnRef, piece: Piece) -> bool:
    return layout.timeline.stream_of(column) in piece


def _is_discrete(closure: Closure, column: ColumnRef) -> bool:
    return closure.query.column(column).type.order is Order.DISCRETE
