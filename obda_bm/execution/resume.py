"""The local engine from a checkpoint on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from obda_bm.execution.checkpoint import Checkpoint, Position
from obda_bm.execution.local import Progress, advanced, counted
from obda_bm.execution.markers import (
    Closed,
    LateRows,
    Pending,
    Ticks,
    close,
    exhaust,
    finish,
    offer,
    progress,
    start,
    ticks_of,
)
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.ir.catalog import Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.kernel import state_units

Step = tuple[Progress, Checkpoint]


def go_on(
    plan: SynopsisPlan,
    checkpoint: Checkpoint,
    sources: Mapping[Relation, Iterator[pa.Table]],
    on_late: LateRows,
    max_pending: int,
) -> Iterator[Step]:
    """Run `plan` from `checkpoint` until the sources, read from their beginning, are exhausted.

    Raises:
        ExecutionError: where a source no longer begins with the rows that were read of it.
    """
    pending = replace(start(sources, max_pending), closed=checkpoint.closed)
    arrivals = {relation.name: tables for relation, tables in sources.items()}
    for position in checkpoint.positions:
        name = position.source
        pending, arrivals[name] = _resume(pending, arrivals[name], position)
    for closed, current in _markers(pending, arrivals, on_late):
        step = _step(plan, checkpoint, closed, current)
        checkpoint = step[1]
        yield step


def _resume(
    pending: Pending, tables: Iterator[pa.Table], position: Position
) -> tuple[Pending, Iterator[pa.Table]]:
    """Skip what was read; of that, only rows that are not closed wait again."""
    relation = pending.source(position.source).relation
    newest, missing = None, position.rows
    for table in tables if missing else ():
        old, new = table.slice(0, missing), table.slice(min(missing, len(table)))
        if len(old):
            ticks = ticks_of(relation, old)
            newest = int(ticks.max()) if newest is None else max(newest, int(ticks.max()))
            pending = _waiting_again(pending, relation, old, ticks)
        missing -= len(old)
        if not missing:
            tables = _before(new, tables)
            break
    if missing or newest != position.newest:
        raise _changed(relation)
    return _restored(pending, position), tables


def _waiting_again(pending: Pending, relation: Relation, rows: pa.Table, ticks: Ticks) -> Pending:
    if pending.closed is not None:
        rows = rows.filter(pa.array(ticks >= pending.closed))
    return offer(pending, relation.name, rows)[0]


def _changed(relation: Relation) -> ExecutionError:
    message = f"the source of {relation.name!r} does not begin with the rows that were read of it"
    hint = "Sources may only grow, at their end; begin again with a new state directory."
    return Mistake.BROKEN_STATE.error(message, hint, relation.span)


def _before(first: pa.Table, rest: Iterator[pa.Table]) -> Iterator[pa.Table]:
    if len(first):
        yield first
    yield from rest


def _restored(pending: Pending, position: Position) -> Pending:
    return replace(
        pending,
        sources=tuple(
            replace(s, offered=position.rows, late=position.late, newest=position.newest)
            if s.relation.name == position.source
            else s
            for s in pending.sources
        ),
    )


def _markers(
    pending: Pending, arrivals: Mapping[str, Iterator[pa.Table]], on_late: LateRows
) -> Iterator[tuple[Closed | None, Pending]]:
    """Read whichever source lags behind, and close what that closes."""
    reading = set(arrivals)
    while reading:
        behind = min((s for s in pending.sources if s.relation.name in reading), key=progress)
        name = behind.relation.name
        table = next(arrivals[name], None)
        if table is None:
            reading.remove(name)
            pending = exhaust(pending, name)
        else:
            pending, late = offer(pending, name, table)
            if len(late):
                on_late(name, late)
        closed = close(pending)
        pending = pending if closed is None else closed.pending
        yield closed, pending
    closed = finish(pending)
    if closed is None and pending.closed is None:
        # Nothing ever arrived: one marker all the same, for what is known without any row.
        closed = Closed(pending, {s.relation.name: s.rows for s in pending.sources}, 0)
    if closed is not None:
        yield closed, closed.pending


def _step(plan: SynopsisPlan, before: Checkpoint, closed: Closed | None, pending: Pending) -> Step:
    kernel, results = advanced(plan, before.kernel, closed)
    units = state_units(kernel)
    report = counted(before.report, pending, results, units)
    positions = tuple(
        Position(s.relation.name, s.offered, s.late, s.newest) for s in pending.sources
    )
    after = Checkpoint(kernel, report, pending.closed, positions)
    return Progress(results, report, units), after
