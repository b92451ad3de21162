"""What is kept about partial matches over a piece: key columns, and extremes for sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import permutations
from typing import TypeVar

from obda_bm.ir.plan import Expiry, Extreme, Side, Synopsis
from obda_bm.ir.spj import Semantics
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of
from obda_bm.order.streams import Stream
from obda_bm.synopses.inputs import Arrivals, units_per_one
from obda_bm.synopses.places import clamp, common_range, has_few_places, places

Piece = frozenset[int]
T = TypeVar("T")


def pieces(arrivals: Arrivals) -> list[Piece]:
    """Closed sets of inputs that time ties together, smaller ones first."""
    streams = arrivals.timeline.streams
    return [
        frozenset(map(streams.index, stored))
        for stored in arrivals.timeline.closed_sets()
        if len(components(arrivals, frozenset(map(streams.index, stored)))) == 1
    ]


def components(arrivals: Arrivals, inputs: Piece) -> list[Piece]:
    """The parts of `inputs` that no comparison of time connects."""
    streams = arrivals.timeline.streams
    parts: list[set[int]] = []
    for i in sorted(inputs):
        near = [p for p in parts if any(_tied(arrivals, streams[i], streams[j]) for j in p)]
        parts = [p for p in parts if p not in near] + [{i}.union(*near)]
    return [frozenset(part) for part in parts]


def _tied(arrivals: Arrivals, x: Stream, y: Stream) -> bool:
    return arrivals.timeline.related(x, y)


def synopsis(arrivals: Arrivals, piece: Piece, semantics: Semantics) -> Synopsis:
    crossing = [o for j in arrivals.joins for o in _oriented(arrivals, j, piece)]
    if semantics is Semantics.SET:
        exact, order = _needs(arrivals, piece, crossing, _is_order)
        return _set_synopsis(arrivals, piece, exact, order, crossing)
    exact, placed = _needs(arrivals, piece, crossing, _is_placed)
    compared = dict.fromkeys(_column(j.left) for j in placed)
    partners = {c: [_column(j.right) for j in placed if j.left == c] for c in compared}
    return Synopsis(
        tuple(sorted(piece)),
        (*exact, *compared),
        clamps=_present(clamp(arrivals, c, partners[c]) for c in compared),
        expiries=_expiries(arrivals, piece, exact),
        horizon=_horizon(crossing),
        places=_present(places(arrivals, c, partners[c]) for c in compared),
    )


def _present(found: Iterable[T | None]) -> tuple[T, ...]:
    return tuple(item for item in found if item is not None)


def _needs(
    arrivals: Arrivals,
    piece: Piece,
    crossing: list[Comparison],
    by_place: Callable[[Arrivals, Comparison], bool],
) -> tuple[dict[ColumnRef, None], list[Comparison]]:
    """Columns that are needed as they are, and comparisons that need less of the others."""
    query = arrivals.timeline.closure.query
    exact = dict.fromkeys(c for c in query.projected if arrivals.owner(c) in piece)
    exact.update(dict.fromkeys(_column(j.left) for j in crossing if not by_place(arrivals, j)))
    return exact, [j for j in crossing if by_place(arrivals, j) and j.left not in exact]


def _set_synopsis(
    arrivals: Arrivals,
    piece: Piece,
    exact: dict[ColumnRef, None],
    order: list[Comparison],
    crossing: list[Comparison],
) -> Synopsis:
    """Presence or an extreme; where one will not do, comparisons with few outcomes go to the key.

    Several extremes are left where a key cannot tell all that is compared.
    """
    several = len(_extremes(arrivals, order)) > 1
    placed = [j for j in order if several and has_few_places(arrivals, j)]
    keyed = dict.fromkeys(_column(j.left) for j in placed)
    partners = {c: [_column(j.right) for j in placed if j.left == c] for c in keyed}
    order = [j for j in order if j not in placed]
    different = _different(arrivals, exact, crossing) if not order else ()
    return Synopsis(
        tuple(sorted(piece)),
        (*exact, *keyed),
        clamps=_present(clamp(arrivals, c, partners[c]) for c in keyed),
        extremes=_extremes(arrivals, order),
        expiries=_expiries(arrivals, piece, exact),
        horizon=_horizon(crossing),
        different=different,
        tests=len({j.right for j in crossing if j.left in different}),
        unlike=tuple(j for j in crossing if j.left in different),
        places=_present(places(arrivals, c, partners[c]) for c in keyed),
    )


def _different(
    arrivals: Arrivals, exact: dict[ColumnRef, None], crossing: list[Comparison]
) -> tuple[ColumnRef, ...]:
    """Texts of which a few represent all: only `<>` is ever asked of them."""
    query, closure = arrivals.timeline.closure.query, arrivals.timeline.closure
    asked = [c for j in crossing if j.op is not Op.NE for c in columns_of(j)]
    return tuple(
        c
        for c in exact
        if c not in asked
        and c not in query.projected
        and query.column(c).type.order is Order.UNORDERED
        and not closure.bounded(c)
    )


def _oriented(arrivals: Arrivals, join: Comparison, piece: Piece) -> list[Comparison]:
    """`join` seen from the side that is kept, if the other one is still to come."""
    mirrored = Comparison(join.right, join.op.mirrored, join.left, -join.offset)
    return [
        j
        for j in (join, mirrored)
        if arrivals.owner(_column(j.left)) in piece
        and arrivals.owner(_column(j.right)) not in piece
    ]


def _column(term: object) -> ColumnRef:
    assert isinstance(term, ColumnRef)
    return term


def _is_order(arrivals: Arrivals, join: Comparison) -> bool:
    """An inequality of values; intervals of time need the timestamps themselves."""
    return join.op is not Op.NE and _is_placed(arrivals, join)


def _is_placed(arrivals: Arrivals, join: Comparison) -> bool:
    """Whether the place of a value among those it will meet decides `join`."""
    query = arrivals.timeline.closure.query
    return join.op is not Op.EQ and not any(map(query.is_time, columns_of(join)))


def _extremes(arrivals: Arrivals, order: list[Comparison]) -> tuple[Extreme, ...]:
    """One extreme per set of columns that a future column is tested against."""
    found: dict[tuple[object, ...], Extreme] = {}
    for test, side in dict.fromkeys((_column(j.right), _side(j)) for j in order):
        group = [j for j in order if (j.right, _side(j)) == (test, side)]
        columns = tuple(_column(j.left) for j in group)
        full = _shifts(arrivals, group)
        gap = min(full, key=abs)
        shifts = tuple(shift - gap for shift in full)
        # A column by itself is kept as it is; several with shifts, as the test sees them.
        dense = any(shifts) and _is_dense(arrivals, [test])
        known = found.get((columns, shifts, side, dense), Extreme(columns, shifts, side, (), ()))
        tests, gaps = (*known.tests, test), (*known.gaps, gap)
        found[columns, shifts, side, dense] = replace(known, tests=tests, gaps=gaps)
    return tuple(_clamped(arrivals, extreme) for extreme in found.values())


def _side(join: Comparison) -> Side:
    return Side.MIN if join.op in (Op.LT, Op.LE) else Side.MAX


def _is_dense(arrivals: Arrivals, columns: Iterable[ColumnRef]) -> bool:
    query = arrivals.timeline.closure.query
    return any(query.column(c).type.order is Order.DENSE for c in columns)


def _shifts(arrivals: Arrivals, group: list[Comparison]) -> list[int]:
    """What makes `s < f` into `s + shift <= f`: the finer grain, or the next number if dense."""
    dense = _is_dense(arrivals, [c for j in group for c in columns_of(j)])
    found = []
    for join in group:
        grain = 1 if dense else _finer_grain(arrivals, join)
        found.append({Op.LT: grain, Op.GT: -grain}.get(join.op, 0))
    return found


def _finer_grain(arrivals: Arrivals, join: Comparison) -> int:
    query = arrivals.timeline.closure.query
    return min(
        int(query.column(c).type.grain * units_per_one(query, c, arrivals.scale))
        for c in columns_of(join)
    )


def _clamped(arrivals: Arrivals, extreme: Extreme) -> Extreme:
    """Below everything that a test can be, values are alike; above, they never pass."""
    dense = _is_dense(arrivals, (*extreme.columns, *extreme.tests))
    if dense or len(arrivals.inputs) > 2:
        return extreme  # two older matches compare their values as they are
    lower, upper = common_range(arrivals, extreme.tests)
    if extreme.side is Side.MIN:
        return replace(extreme, lower=None if lower is None else lower - max(extreme.gaps))
    return replace(extreme, upper=None if upper is None else upper - min(extreme.gaps))


def _expiries(arrivals: Arrivals, piece: Piece, key: dict[ColumnRef, None]) -> tuple[Expiry, ...]:
    timeline = arrivals.timeline
    found = []
    for x, y in permutations(timeline.streams, 2):
        ticks = timeline.window(x, y)
        i, j = timeline.streams.index(x), timeline.streams.index(y)
        if i in piece and j not in piece and ticks is not None:
            times = [c for c in key if x.owns(c) and timeline.closure.query.is_time(c)]
            found += [Expiry(time, ticks) for time in times]
    return tuple(found)


def _horizon(crossing: list[Comparison]) -> int | None:
    return max((abs(j.offset) for j in crossing if j.offset), default=None)
