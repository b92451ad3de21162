"""Which timestamps are closed: the execution model of [S], for several sources.

A timestamp is closed by a marker as soon as no source can still send rows with it. Every source
tells how far it has come by the newest timestamp it has sent, so the *frontier* is the least of
these over the live sources, and rows before it are closed. Rows that arrive after their timestamp
was closed are late: they are handed back, never dropped in silence.

Everything here is a pure function from `Pending` to `Pending`; the clock is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.ir.catalog import Relation
from obda_bm.kernel import arrow_schema, stack

MAX_PENDING = 10_000_000
"""More rows than this do not wait for a source that lags behind."""

Ticks = npt.NDArray[np.int64]
Change = Callable[[str, pa.Table], pa.Table]
"""Rows of a stream -> rows that do the same."""


def as_they_are(_stream: str, rows: pa.Table) -> pa.Table:
    return rows


class Phase(Enum):
    LIVE = "live"
    IDLE = "idle"  # left out of the frontier until it speaks again
    EXHAUSTED = "exhausted"


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """One source: how far it has come, and its rows that are not closed, in order of time."""

    relation: Relation
    rows: pa.Table
    ticks: Ticks
    newest: int | None = None
    phase: Phase = Phase.LIVE
    heard: float = 0.0
    offered: int = 0
    late: int = 0
    compacted: int = 0  # so many of the first rows are as few as they can be


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """All sources; rows before `closed` have been given away, and `closed` itself is still open.

    Of rows that wait, what `keep` leaves of them is kept.
    """

    sources: tuple[Waiting, ...]
    cap: int = MAX_PENDING
    closed: int | None = None
    keep: Change = as_they_are

    @property
    def waiting(self) -> int:
        return sum(len(source.ticks) for source in self.sources)

    @property
    def late(self) -> int:
        return sum(source.late for source in self.sources)

    @property
    def offered(self) -> int:
        return sum(source.offered for source in self.sources)

    def source(self, name: str) -> Waiting:
        return next(source for source in self.sources if source.relation.name == name)


@dataclass(frozen=True, slots=True, eq=False)
class Closed:
    """Rows, by stream and in order of time, that no marker before `until` will see again."""

    pending: Pending
    rows: Mapping[str, pa.Table]
    until: int


def start(
    streams: Iterable[Relation], cap: int = MAX_PENDING, keep: Change = as_they_are
) -> Pending:
    """Nothing has arrived yet."""
    empty = np.empty(0, np.int64)
    sources = (Waiting(s, arrow_schema(s).empty_table(), empty) for s in streams)
    return Pending(tuple(sources), cap, keep=keep)


def offer(
    pending: Pending, name: str, rows: pa.Table, now: float = 0.0
) -> tuple[Pending, pa.Table]:
    """Take rows of one source, in any order; those that came too late are handed back."""
    source = pending.source(name)
    ticks = ticks_of(source.relation, rows)
    late = np.zeros(len(ticks), bool) if pending.closed is None else ticks < pending.closed
    refused = rows.filter(pa.array(late))
    if late.any():
        rows, ticks = rows.filter(pa.array(~late)), ticks[~late]
    heard = replace(
        _moved(source, int(ticks[-1 if _ordered(ticks) else ticks.argmax()]), now)
        if len(ticks)
        else source,
        offered=source.offered + len(late),
        late=source.late + int(late.sum()),
    )
    return _put(pending, _joined(heard, pending.keep(name, rows), ticks)), refused


def heartbeat(pending: Pending, name: str, time: int, now: float = 0.0) -> Pending:
    """The source has come as far as `time` and has nothing older to send."""
    return _put(pending, _moved(pending.source(name), time, now))


def mark_idle(pending: Pending, now: float, timeout: float) -> Pending:
    """Leave out the sources that have been silent for longer than `timeout`."""
    return replace(
        pending,
        sources=tuple(
            replace(source, phase=Phase.IDLE)
            if source.phase is Phase.LIVE and now - source.heard > timeout
            else source
            for source in pending.sources
        ),
    )


def exhaust(pending: Pending, name: str) -> Pending:
    """The source will send nothing more, so it holds nothing back."""
    return _put(pending, replace(pending.source(name), phase=Phase.EXHAUSTED))


def frontier(pending: Pending) -> int | None:
    """The least timestamp that may still receive rows; None before all sources have spoken.

    Where no source is live but some are idle, the newest timestamp of all stays open: one of them
    may speak again. Once all are exhausted, nothing stays open.
    """
    live = [s.newest for s in pending.sources if s.phase is Phase.LIVE]
    seen = [s.newest for s in pending.sources if s.newest is not None]
    if live:
        known = [newest for newest in live if newest is not None]
        reached = min(known) if len(known) == len(live) else None
    else:
        done = all(s.phase is Phase.EXHAUSTED for s in pending.sources)
        reached = max(seen) + int(done) if seen else None
    if reached is None or pending.closed is None:
        return pending.closed if reached is None else reached
    # A source that was idle comes back behind what is closed: it cannot reopen it.
    return max(reached, pending.closed)


def close(pending: Pending) -> Closed | None:
    """Give away the rows before the frontier; None where it has not moved.

    Raises:
        ExecutionError: where more rows than the cap go on waiting.
    """
    until = frontier(pending)
    if until is None or until == pending.closed:
        _check_cap(pending)
        return None
    cuts = [int(np.searchsorted(s.ticks, until)) for s in pending.sources]
    pairs = list(zip(pending.sources, cuts, strict=True))
    rest = (_without(source, cut) for source, cut in pairs)
    left = replace(pending, sources=tuple(rest), closed=until)
    _check_cap(left)
    return Closed(left, {s.relation.name: s.rows.slice(0, cut) for s, cut in pairs}, until)


def _without(source: Waiting, cut: int) -> Waiting:
    rows, ticks = source.rows.slice(cut), source.ticks[cut:]
    return replace(source, rows=rows, ticks=ticks, compacted=max(0, source.compacted - cut))


def compact(pending: Pending, room: Mapping[str, int], reduce: Change) -> Pending:
    """Of the timestamp that is still open, keep what `reduce` leaves where rows outgrow their room.

    Ties may go on for long: counted, they need no more than a synopsis of them would.
    """
    crowded = {name for name, most in room.items() if open_rows(pending, name) > most}
    return replace(
        pending,
        sources=tuple(
            _compacted(source, open_rows(pending, source.relation.name), reduce)
            if source.relation.name in crowded
            else source
            for source in pending.sources
        ),
    )


def open_rows(pending: Pending, name: str) -> int:
    """How many rows of a source wait for the timestamp that is still open to be closed."""
    closed = pending.closed
    ticks = pending.source(name).ticks
    return 0 if closed is None else int(np.searchsorted(ticks, closed, "right"))


def _compacted(source: Waiting, count: int, reduce: Change) -> Waiting:
    if count <= source.compacted:
        return source
    fewer = reduce(source.relation.name, source.rows.slice(0, count))
    ticks = np.concatenate([np.full(len(fewer), source.ticks[0]), source.ticks[count:]])
    rows = stack([fewer, source.rows.slice(count)])
    return replace(source, rows=rows, ticks=ticks, compacted=len(fewer))


def finish(pending: Pending) -> Closed | None:
    """Give away everything: no source will send anything more."""
    done = (replace(source, phase=Phase.EXHAUSTED) for source in pending.sources)
    return close(replace(pending, sources=tuple(done)))


def ticks_of(relation: Relation, rows: pa.Table) -> Ticks:
    """The timestamps as whole numbers; of dates and instants, microseconds since 1970."""
    column = rows.column(relation.time)
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("us"))
    ticks: Any = column.cast(pa.int64()).to_numpy()
    return np.asarray(ticks, np.int64)


def holding(pending: Pending) -> Waiting | None:
    """The live source that holds the frontier back."""
    live = [source for source in pending.sources if source.phase is Phase.LIVE]
    return min(live, key=progress, default=None)


def progress(source: Waiting) -> tuple[bool, int]:
    """How far a source has come; one that has not spoken is behind all others."""
    return source.newest is not None, source.newest or 0


def _moved(source: Waiting, time: int, now: float) -> Waiting:
    newest = time if source.newest is None else max(source.newest, time)
    phase = Phase.EXHAUSTED if source.phase is Phase.EXHAUSTED else Phase.LIVE
    return replace(source, newest=newest, phase=phase, heard=now)


def _joined(source: Waiting, rows: pa.Table, ticks: Ticks) -> Waiting:
    """The source with more rows waiting, in order of time; ties keep the order of arrival."""
    if not len(ticks):
        return source
    if len(source.ticks):
        rows = stack([source.rows, rows])
        ticks = np.concatenate([source.ticks, ticks])
    if not _ordered(ticks):
        order = np.argsort(ticks, kind="stable")
        rows, ticks = rows.take(pa.array(order)), ticks[order]
        return replace(source, rows=rows, ticks=ticks, compacted=0)
    return replace(source, rows=rows, ticks=ticks)


def _ordered(ticks: Ticks) -> bool:
    return bool((ticks[1:] >= ticks[:-1]).all())


def _put(pending: Pending, changed: Waiting) -> Pending:
    sources = (changed if s.relation.name == changed.relation.name else s for s in pending.sources)
    return replace(pending, sources=tuple(sources))


def _check_cap(pending: Pending) -> None:
    if pending.waiting > pending.cap:
        raise _too_many(pending, holding(pending))


def _too_many(pending: Pending, held_by: Waiting | None) -> ExecutionError:
    count = f"{pending.waiting} rows wait, at most {pending.cap} may"
    if held_by is None:
        hint = "They all have the newest timestamp; raise the cap on pending rows."
        return Mistake.TOO_MANY_PENDING.error(count, hint)
    name = held_by.relation.name
    where = "has sent nothing" if held_by.newest is None else f"is still at {held_by.newest}"
    hint = (
        f"Let {name!r} send rows or heartbeats, declare it idle after a timeout, or raise the cap "
        "on pending rows."
    )
    return Mistake.TOO_MANY_PENDING.error(f"{count}: stream {name!r} {where}", hint)


LateRows = Callable[[str, pa.Table], None]
"""Receives the rows of a stream that came too late."""
