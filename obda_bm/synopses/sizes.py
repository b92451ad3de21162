"""How much a synopsis holds at most: read off its layout, so that no run can hold more.

A size is a product: the values of the key columns, how many tuples arrive while only the input
knows how long they stay, and the units of one entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import comb, prod

from obda_bm.ir.plan import Extreme, Input, Places, Range, Synopsis
from obda_bm.ir.spj import Semantics
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef
from obda_bm.ir.verdict import State
from obda_bm.order.cells import CellSpace
from obda_bm.order.closure import Closure
from obda_bm.order.joins import joins
from obda_bm.synopses.inputs import Arrivals, original, told_apart
from obda_bm.synopses.keys import Keys


@dataclass(frozen=True, slots=True)
class Sizing:
    """A synopsis with what its size is read off."""

    arrivals: Arrivals
    space: CellSpace
    synopsis: Synopsis
    semantics: Semantics

    @property
    def closure(self) -> Closure:
        return self.arrivals.timeline.closure

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(s.alias for i in self.synopsis.inputs for s in self.arrivals.inputs[i].scans)

    def own(self, index: int) -> list[ColumnRef]:
        """The key columns that the streams of input `index` bring."""
        aliases = {scan.alias for scan in self.arrivals.inputs[index].scans}
        coded = [c for c in self.synopsis.key if c not in self.synopsis.different]
        return [c for c in coded if c.occurrence in aliases]

    def rows(self) -> list[str]:
        """The static occurrences that the key has columns of; copies are of the same row."""
        inputs = [self.arrivals.inputs[i] for i in self.synopsis.inputs]
        static = {scan.alias for given in inputs for scan in given.statics}
        mentioned = dict.fromkeys(c.occurrence for c in self.synopsis.key)
        return list(dict.fromkeys(original(a) for a in mentioned if a in static))


def sizes(
    arrivals: Arrivals, space: CellSpace, synopsis: Synopsis, semantics: Semantics
) -> tuple[State, ...]:
    """What is kept forever, and apart from it what an interval keeps for a while."""
    sizing = Sizing(arrivals, space, synopsis, semantics)
    lasting = _state(sizing, {})
    recent = {i: ticks for i in synopsis.inputs if (ticks := _delay(sizing, i)) is not None}
    return (lasting, _state(sizing, recent)) if recent else (lasting,)


def _state(sizing: Sizing, recent: dict[int, int]) -> State:
    """`recent` inputs are those whose tuples still have a time of their own."""
    arriving = {i: _arriving(sizing, i, recent.get(i)) for i in sizing.synopsis.inputs}
    copies = [text for text in arriving.values() if text is not None]
    columns = [c for i, text in arriving.items() if text is None for c in sizing.own(i)]
    # What equals a column of tuples that are counted one by one is counted with them.
    counted = {
        scan.alias
        for i, text in arriving.items()
        if text is not None
        for scan in sizing.arrivals.inputs[i].scans
    }
    keys = Keys(sizing.space, tuple(joins(sizing.arrivals.timeline)), _coded(sizing))
    values = [c for c in columns if not sizing.closure.query.is_time(c)]
    return State(
        sizing.names,
        keys.of(sizing.rows(), [c for c in values if not _is_among(sizing, c, counted)]),
        _value(sizing, one_by_one=None not in arriving.values()),
        _units(sizing, counted),
        "·".join(copies),
    )


def _is_among(sizing: Sizing, column: ColumnRef, aliases: set[str]) -> bool:
    return any(c.occurrence in aliases for c in sizing.closure.class_of(column))


def _arriving(sizing: Sizing, index: int, recent: int | None) -> str | None:
    """How many tuples of an input are kept as they are; None where its key columns limit them."""
    given = sizing.arrivals.inputs[index]
    if given.end is not None and (sizing.own(index) or _is_compared(sizing, given)):
        return _until_its_end(given)
    if not sizing.own(index):
        return None
    if recent is not None:
        return _within(given, recent)
    if all(_is_limited(sizing, c) for c in sizing.own(index)):
        return None
    ticks = _window(sizing, index)
    if ticks is not None:
        return _within(given, ticks)
    ending = [sizing.arrivals.inputs[i] for i in _ending_outside(sizing)]
    return f"rate({given.name})·end({', '.join(e.name for e in ending)})" if ending else None


def _is_compared(sizing: Sizing, given: Input) -> bool:
    """Whether the input has one of several extremes."""
    extremes = sizing.synopsis.extremes
    return len(extremes) > 1 and any(
        c.occurrence in given.aliases for e in extremes for c in e.columns
    )


def _is_limited(sizing: Sizing, column: ColumnRef) -> bool:
    """Whether the query, or what is there already, limits the values of `column` in the key."""
    closure, query = sizing.closure, sizing.closure.query
    if query.is_time(column):
        return False
    inside = {s.alias for i in sizing.synopsis.inputs for s in sizing.arrivals.inputs[i].scans}
    there = {o.alias for o in query.occurrences if o.time is None}
    there |= {alias for alias in inside if not closure.infinite(alias)}
    listed = column in closure.allowed or closure.constant(column) is not None
    clamps = [c for c in sizing.synopsis.clamps if c.column == column]
    clamp = clamps[0] if clamps else Range(column, None, None)
    return (
        listed or _is_among(sizing, column, there) or told_apart(sizing.arrivals, clamp) is not None
    )


def _within(given: Input, ticks: int) -> str:
    relation = given.scans[0].relation
    assert relation.time is not None
    return f"rate({given.name})·{relation.column(relation.time).type.duration(ticks)}"


def _until_its_end(given: Input) -> str:
    known = [scan.relation.rows for scan in given.scans]
    if all(scan.relation.end is not None for scan in given.scans):
        counted = [rows for rows in known if rows is not None]
        return str(prod(counted)) if len(counted) == len(known) else f"rows({given.name})"
    return f"rate({given.name})·end"


def _window(sizing: Sizing, index: int) -> int | None:
    """After how many ticks entries with a tuple of this input are gone."""
    if not sizing.synopsis.expiries:
        return None
    timeline = sizing.arrivals.timeline
    outside = [y for i, y in enumerate(timeline.streams) if i not in sizing.synopsis.inputs]
    ages = [timeline.window(timeline.streams[index], y) for y in outside]
    return min((age for age in ages if age is not None), default=None)


def _delay(sizing: Sizing, index: int) -> int | None:
    """How long tuples of an input keep their time although they stay afterwards."""
    timed = any(map(sizing.closure.query.is_time, sizing.own(index)))
    stays = _arriving(sizing, index, None) is None
    return sizing.synopsis.horizon if timed and stays else None


def _ending_outside(sizing: Sizing) -> Iterator[int]:
    for i, given in enumerate(sizing.arrivals.inputs):
        if i not in sizing.synopsis.inputs and given.end is not None:
            yield i


def _coded(sizing: Sizing) -> dict[ColumnRef, int]:
    """How many values key columns have of which only the place among others is kept."""
    counts = {c.column: told_apart(sizing.arrivals, c) for c in sizing.synopsis.clamps}
    placed = {p.column: _places(p) for p in sizing.synopsis.places}
    return {column: n for column, n in {**counts, **placed}.items() if n is not None}


def _places(places: Places) -> int:
    """Each value that is met, and where they are ordered each interval between them."""
    marks = len(places.texts) + sum(1 + (g.upper - g.lower) // g.step for g in places.grids)
    return 2 * marks + 1 if places.grids else marks + 1


def _value(sizing: Sizing, one_by_one: bool) -> str:
    if one_by_one and not sizing.synopsis.extremes:
        return "tuples"
    if sizing.semantics is Semantics.BAG:
        return "count"
    if sizing.synopsis.different:
        return f"different values of {', '.join(map(str, sizing.synopsis.different))}"
    return ", ".join(dict.fromkeys(map(str, sizing.synopsis.extremes))) or "present"


def _units(sizing: Sizing, counted: set[str]) -> int:
    """The units of all entries of one key."""
    synopsis = sizing.synopsis
    if synopsis.different:
        return _representatives(len(synopsis.different), synopsis.tests)
    return max(1, len(synopsis.extremes)) * _front(sizing, counted)


def _representatives(columns: int, tests: int) -> int:
    """Tuples of p texts, one of which avoids any q future texts: C(p + q, p) suffice.

    Bollobás' theorem on set pairs; for one column and one test that is two distinct values.
    """
    return comb(columns + tests, columns) * columns


def _front(sizing: Sizing, counted: set[str]) -> int:
    """How many entries of one key no other dominates.

    Entries that agree in all extremes but one are ordered by it, so they are no more than there
    are values of the others.
    """
    alike = {
        (e.columns, e.side): e
        for e in sizing.synopsis.extremes
        if not all(c.occurrence in counted for c in e.columns)
    }
    counts = {e: _extreme_values(sizing, e) for e in alike.values()}
    limited = sorted(count for count in counts.values() if count is not None)
    match [e for e, count in counts.items() if count is None]:
        case []:
            return prod(limited[:-1])
        case [_]:
            return prod(limited)
        case several:
            return prod(limited) * _cells(sizing, several)


def _extreme_values(sizing: Sizing, extreme: Extreme) -> int | None:
    ranges = [Range(c, extreme.lower, extreme.upper) for c in extreme.columns]
    counts = [told_apart(sizing.arrivals, r) for r in ranges]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _cells(sizing: Sizing, extremes: Iterable[Extreme]) -> int:
    """One entry per cell of the columns concerned: in each, one reference is alive (S2)."""
    columns = list(dict.fromkeys(c for e in extremes for c in e.columns))
    choices = {c: sizing.space.regions(c) for c in columns}
    return sum(
        prod(_values_in(cell, c) for c in columns if cell.bounded(c))
        for cell in sizing.space.cells(columns, choices)
    )


def _values_in(cell: Closure, column: ColumnRef) -> int:
    lower, upper = cell.values.lower(column), cell.values.upper(column)
    discrete = cell.query.column(column).type.order is Order.DISCRETE
    if lower is None or upper is None or not discrete:
        return 1
    return (upper - lower) // cell.grain(column) + 1
