"""Unbounded joins of two streams within a budget, on the local engine.

Conditions about one stream, and limits on how far apart two timestamps may lie, are applied
exactly; only tuples that could still join compete for the budget. What is lost is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from obda_bm.budget.join import Side
from obda_bm.budget.recall import Recall
from obda_bm.budget.store import Store
from obda_bm.execution.local import (
    LIMITS,
    Limits,
    Rows,
    arrivals_of,
    given_rows,
    ignore_late,
    read_markers,
)
from obda_bm.execution.markers import Closed, LateRows, Pending, start, ticks_of
from obda_bm.execution.two_streams import Row, TwoStreams, two_streams
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.sqltypes import DAY, Family, Value
from obda_bm.ir.terms import ColumnRef, Constant
from obda_bm.kernel.encoding import arrow_type

LOST_NOTHING = Recall(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class BudgetReport:
    """What a run has done so far; `bound_units` is the budget, `recall` says what was lost."""

    bound_units: int
    rows_in: int = 0
    results: int = 0
    late: int = 0
    peak_units: int = 0
    evicted: int = 0
    recall: Recall = LOST_NOTHING

    @property
    def exact(self) -> bool:
        return self.evicted == 0

    def __str__(self) -> str:
        label = "exact" if self.exact else f"approximate, recall {self.recall}"
        return (
            f"{self.rows_in:,} rows in, {self.results:,} results ({label}), {self.late:,} late "
            f"rows; {self.evicted:,} evicted, peak {self.peak_units:,} of at most "
            f"{self.bound_units:,} tuples"
        )


@dataclass(frozen=True, slots=True, eq=False)
class BudgetProgress:
    """The results of one step, and what the run has done until then."""

    results: pa.Table
    report: BudgetReport


def budgeted_steps(
    query: SpjUnion,
    tables: Mapping[str, Rows],
    budget: int,
    *,
    seed: int = 0,
    on_late: LateRows = ignore_late,
    limits: Limits = LIMITS,
) -> Iterator[BudgetProgress]:
    """Run an unbounded join of two streams with at most `budget` tuples kept.

    The same rows in the same order give the same results for the same seed.

    Raises:
        BudgetError: where the query is no join of two streams.
        ExecutionError: where rows do not fit.
    """
    shape = two_streams(query)
    store = Store(budget, shape.condition, seed)
    relations = list({o.relation.name: o.relation for o in (shape.r, shape.s)}.values())
    arrivals = {r.name: arrivals_of(r, given_rows(r, tables), limits.batch_rows) for r in relations}
    report = BudgetReport(budget)
    pending = start(relations, limits.max_pending)
    for closed, waiting in read_markers(
        pending, arrivals, on_late, limits, lambda waiting: waiting
    ):
        found = Counter[tuple[Any, ...]]() if closed is None else _advance(shape, store, closed)
        report = _reported(report, store, waiting)
        yield BudgetProgress(_as_table(shape, found), report)


def _reported(report: BudgetReport, store: Store, pending: Pending) -> BudgetReport:
    return replace(
        report,
        rows_in=pending.offered,
        results=store.found,
        late=pending.late,
        peak_units=store.peak,
        evicted=store.evicted,
        recall=store.recall,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Arrived:
    """A row as it came, and with plain values to compute with."""

    tick: int
    side: Side
    given: Mapping[str, Any]
    plain: Row


def _advance(shape: TwoStreams, store: Store, closed: Closed) -> Counter[tuple[Any, ...]]:
    """The results of what was closed, each with its marker in front."""
    found = Counter[tuple[Any, ...]]()
    for arrived in _in_order(shape, closed):
        if not shape.admits(arrived.side, arrived.plain):
            continue
        code = shape.code(arrived.side, arrived.plain)
        for partner in store.meet(arrived.side, code, _confirm(shape, arrived)):
            assert isinstance(partner, Arrived)
            found[arrived.tick, *_projected(shape, arrived, partner)] += 1
        deadline = shape.deadline(arrived.side, arrived.tick)
        store.keep(arrived.side, code, arrived, arrived.tick, deadline)
    return found


def _confirm(shape: TwoStreams, arrived: Arrived) -> Callable[[object], bool]:
    mine, other = shape.side(arrived.side).alias, shape.side(arrived.side.partner).alias

    def confirm(partner: object) -> bool:
        assert isinstance(partner, Arrived)
        return shape.joins({mine: arrived.plain, other: partner.plain})

    return confirm


def _in_order(shape: TwoStreams, closed: Closed) -> list[Arrived]:
    """All closed rows by time; of one time, R's first."""
    rows: list[Arrived] = []
    for side in (Side.R, Side.S):
        relation = shape.side(side).relation
        table = closed.rows[relation.name]
        ticks = ticks_of(relation, table).tolist()
        for tick, given in zip(ticks, table.to_pylist(), strict=True):
            plain = {name: _plain(value) for name, value in given.items()}
            rows.append(Arrived(tick, side, given, plain))
    return sorted(rows, key=lambda row: (row.tick, row.side))


def _projected(shape: TwoStreams, one: Arrived, two: Arrived) -> tuple[Any, ...]:
    given = {shape.side(row.side).alias: row.given for row in (one, two)}
    return tuple(
        given[o.term.occurrence][o.term.column]
        if isinstance(o.term, ColumnRef)
        else _constant(o.term)
        for o in shape.branch.projection
    )


def _constant(constant: Constant) -> Any:
    """The constant as Arrow takes it."""
    match constant.value, constant.type.family:
        case Fraction() as value, _:
            return Decimal(value.numerator) / Decimal(value.denominator)
        case int() as value, Family.BOOLEAN:
            return bool(value)
        case int() as value, Family.INSTANT if constant.type.grain == DAY:
            return value // DAY
        case value, _:
            return value


def _as_table(shape: TwoStreams, found: Counter[tuple[Any, ...]]) -> pa.Table:
    """Results with the columns that the local engine gives them."""
    rows = sorted(found.items(), key=lambda entry: entry[0][0])
    names = ["time", *(o.name for o in shape.branch.projection), "count"]
    types = [pa.int64(), *(_type(shape, o.term) for o in shape.branch.projection), pa.int64()]
    listed = [(*row, count) for row, count in rows]
    columns = [[row[at] for row in listed] for at in range(len(names))]
    arrays = [pa.array(c, type=t) for c, t in zip(columns, types, strict=True)]
    return pa.table(arrays, names=names)


def _type(shape: TwoStreams, term: ColumnRef | Constant) -> pa.DataType:
    return arrow_type(shape.branch.column(term).type if isinstance(term, ColumnRef) else term.type)


def _plain(value: Any) -> Value | None:
    """Numbers exact, instants in microseconds since 1970, booleans 0 and 1."""
    match value:
        case None | str():
            return value
        case bool() | int():
            return int(value)
        case float() | Decimal():
            return Fraction(value)
        case datetime():
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            return (aware - _EPOCH) // _MICROSECOND
        case date():
            return (value - _EPOCH.date()).days * DAY
        case _:
            raise AssertionError(f"no SQL value: {value!r}")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
