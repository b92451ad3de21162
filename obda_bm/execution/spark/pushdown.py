"""Rows that no branch can use stay in Spark; what the markers must know of them is counted there.

A row that fails the filters of every occurrence of its stream changes no answer. It still moves
the frontier, and it may be late: so the newest time and the number of all rows are observed on the
way, and late rows are let through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    TimestampNTZType,
)

from obda_bm.execution.markers import Pending
from obda_bm.execution.spark.snapshot import Arrived, Seen
from obda_bm.execution.spark.tagged import TAG, Lane, untag
from obda_bm.ir.plan import Scan, SynopsisPlan
from obda_bm.ir.sqltypes import Family, Order
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Membership, NotNull, Op, Predicate

_WHOLE = (ByteType, ShortType, IntegerType, LongType)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pushdown:
    """What stays in Spark; None for a stream of which everything is wanted."""

    lanes: tuple[Lane, ...]
    conditions: tuple[Column | None, ...]

    def gather(self, frame: DataFrame, pending: Pending) -> Arrived:
        """The rows that matter, with the columns and types of their streams."""
        before = {s.relation.name: s.offered for s in pending.sources}
        rows, seen = self.collect(frame, pending.closed)
        return Arrived({n: [t] for n, t in untag(self.lanes, rows, before).items()}, seen)

    def collect(self, frame: DataFrame, closed: int | None) -> tuple[Any, dict[str, Seen]]:
        """The rows that matter, as Arrow, and what was seen of the streams with a condition."""
        if not any(c is not None for c in self.conditions):
            return frame.toArrow(), {}
        observation = Observation()
        observed = frame.observe(observation, *self._observed())
        rows = observed.filter(self._wanted(closed)).toArrow()
        found = observation.get
        return rows, {
            lane.relation.name: Seen(int(found[f"rows {i}"] or 0), _ticks(found[f"newest {i}"]))
            for i, lane in self._narrowed()
        }

    def _narrowed(self) -> list[tuple[int, Lane]]:
        return [(i, x) for i, x in enumerate(self.lanes) if self.conditions[i] is not None]

    def _observed(self) -> list[Column]:
        return [
            part
            for i, lane in self._narrowed()
            for part in (
                F.count_if(F.col(TAG) == i).alias(f"rows {i}"),
                F.max(F.when(F.col(TAG) == i, time_column(lane))).alias(f"newest {i}"),
            )
        ]

    def _wanted(self, closed: int | None) -> Column:
        wanted = F.lit(False)
        for i, lane in enumerate(self.lanes):
            condition = self.conditions[i]
            useful = F.lit(True) if condition is None else F.coalesce(condition, F.lit(False))
            if closed is not None:
                useful = useful | (time_column(lane) < _literal(lane, closed))
            wanted = wanted | ((F.col(TAG) == i) & useful)
        return wanted


def pushdown(plan: SynopsisPlan, lanes: Sequence[Lane]) -> Pushdown:
    return Pushdown(tuple(lanes), tuple(_condition(plan, lane) for lane in lanes))


def _condition(plan: SynopsisPlan, lane: Lane) -> Column | None:
    """That some occurrence can use the row; None where Spark cannot tell."""
    if not isinstance(_type(lane, lane.relation.time or ""), (*_WHOLE, TimestampNTZType)):
        return None
    scans = [
        scan
        for branch in plan.branches
        for arriving in branch.inputs
        for scan in arriving.scans
        if scan.relation.name == lane.relation.name
    ]
    parts = [_passes(scan, lane) for scan in scans]
    known = [part for part in parts if part is not None]
    return reduce(Column.__or__, known) if known and len(known) == len(parts) else None


def _passes(scan: Scan, lane: Lane) -> Column | None:
    parts = [c for p in scan.filters if (c := _translated(p, lane)) is not None]
    return reduce(Column.__and__, parts) if parts else None


def _translated(predicate: Predicate, lane: Lane) -> Column | None:
    """Only whole numbers: there, SQL, Spark and the kernel mean the same."""
    match predicate:
        case Comparison(ColumnRef(column=name), op, Constant() as constant):
            value = _whole(constant)
            if value is None or not _is_whole(lane, name):
                return None
            return _compared(_slot(lane, name), op, value)
        case Membership(ColumnRef(column=name), constants):
            values = [_whole(constant) for constant in constants]
            if None in values or not _is_whole(lane, name):
                return None
            return _slot(lane, name).isin(values)
        case NotNull(ColumnRef(column=name)):
            return _slot(lane, name).isNotNull()
        case _:
            return None


def _compared(column: Column, op: Op, value: int) -> Column:
    match op:
        case Op.LT:
            return column < value
        case Op.LE:
            return column <= value
        case Op.EQ:
            return column == value
        case Op.NE:
            return column != value
        case Op.GE:
            return column >= value
        case Op.GT:
            return column > value


def _whole(constant: Constant) -> int | None:
    fits = isinstance(constant.value, int) and abs(constant.value) < 2**31
    return int(constant.value) if fits and constant.type.family is Family.NUMBER else None


def _is_whole(lane: Lane, name: str) -> bool:
    type_ = lane.relation.column(name).type
    declared = type_.family is Family.NUMBER and type_.order is Order.DISCRETE
    return declared and isinstance(_type(lane, name), _WHOLE)


def _index(lane: Lane, name: str) -> int:
    return [column.name for column in lane.relation.columns].index(name)


def _type(lane: Lane, name: str) -> DataType:
    return lane.slots[_index(lane, name)].type


def _slot(lane: Lane, name: str) -> Column:
    return F.col(f"`{lane.slots[_index(lane, name)].name}`")


def time_column(lane: Lane) -> Column:
    return _slot(lane, lane.relation.time or "")


def _literal(lane: Lane, tick: int) -> Column:
    if isinstance(_type(lane, lane.relation.time or ""), TimestampNTZType):
        moment = (_EPOCH + timedelta(microseconds=tick)).replace(tzinfo=None)
        return F.lit(moment.isoformat(sep=" ")).cast("timestamp_ntz")
    return F.lit(tick).cast("long")


def _ticks(newest: int | datetime | None) -> int | None:
    if isinstance(newest, datetime):
        return (newest.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
    return newest
