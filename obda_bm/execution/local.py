"""The local engine: one process, rows as Arrow batches, no Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from obda_bm.execution.answer_terms import answers
from obda_bm.execution.conform import Origin, conform
from obda_bm.execution.markers import (
    MAX_PENDING,
    Closed,
    LateRows,
    Pending,
    close,
    compact,
    exhaust,
    finish,
    heartbeat,
    mark_idle,
    offer,
    open_rows,
    progress,
    start,
)
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.sources import BATCH_ROWS
from obda_bm.ir.catalog import Extent, Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.kernel import (
    KernelState,
    advance,
    arrow_schema,
    initial_state,
    is_stored,
    needed,
    reduce,
    state_units,
)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A source has come as far as `time`, in ticks, without rows to show for it."""

    time: int


Arrival: TypeAlias = pa.RecordBatch | pa.Table | Heartbeat | None
"""What a source sends; None says that there is nothing at the moment."""
Rows: TypeAlias = pa.Table | Iterable[Arrival]


OPEN_ROWS = 1024
"""So many rows of a timestamp that is still open are not worth counting."""


class Planned(Protocol):
    """What `run_local` needs to know of a compiled query."""

    @property
    def plan(self) -> SynopsisPlan | None: ...


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run has done so far; `results` counts answers with their multiplicity.

    `bound_units` is None where only the input knows the bound. `peak_units` is the most that the
    state had after a batch: entries only leave it by expiring, or when a finite stream ends. What
    is kept of a timestamp that is still open, for streams that are stored, is `open_units`.
    """

    bound_units: int | None
    rows_in: int = 0
    results: int = 0
    late: int = 0
    peak_units: int = 0
    open_units: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """The results that one step has found, and what the run has done until then.

    `results` is None where no timestamp was closed.
    """

    results: pa.Table | None
    report: RunReport
    units: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read at once, and how much is put up with from a stream that lags behind.

    `idle_after` is for how many seconds a stream that sends nothing holds the others back; None
    is forever.
    """

    batch_rows: int = BATCH_ROWS
    max_pending: int = MAX_PENDING
    idle_after: float | None = None
    clock: Callable[[], float] = time.monotonic


LIMITS = Limits()


class LocalRun:
    """The results of a run, batch by batch; `report` tells the figures so far."""

    def __init__(self, progress: Iterator[Progress], bound_units: int | None) -> None:
        self._progress = progress
        self.report = RunReport(bound_units)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for step in self._progress:
            self.report = step.report
            if step.results is not None:
                yield from (batch for batch in step.results.to_batches() if len(batch))


def run_local(
    compiled: Planned,
    tables: Mapping[str, Rows],
    *,
    on_late: LateRows | None = None,
    limits: Limits = LIMITS,
) -> LocalRun:
    """Run a bounded query over `tables`, by relation; iterate over it for batches of results.

    Each batch has the columns `time` (the marker), what the query projects, and `count`. Rows that
    come too late are counted in the report and go to `on_late`.

    Raises:
        ExecutionError: where the query is not bounded, or, while iterating, where rows do not fit.
    """
    plan = compiled.plan
    if plan is None:
        hint = "Ask for its verdict: it says why, and what would repair it."
        raise Mistake.NO_PLAN.error("the query is not bounded, so it has no plan", hint)
    return LocalRun(steps(plan, tables, on_late or ignore_late, limits), plan.bound.units)


def relations_of(plan: SynopsisPlan) -> tuple[Relation, ...]:
    """The streams and static relations that a plan reads."""
    scans = (
        scan
        for branch in plan.branches
        for given in branch.inputs
        for scan in (*given.scans, *given.statics)
    )
    return tuple({scan.relation.name: scan.relation for scan in scans}.values())


def steps(
    plan: SynopsisPlan, tables: Mapping[str, Rows], on_late: LateRows, limits: Limits
) -> Iterator[Progress]:
    """Run `plan`, one step for every batch that is read and one for the end."""
    relations = relations_of(plan)
    given = {relation.name: given_rows(relation, tables) for relation in relations}
    streams = [r for r in relations if r.extent is not Extent.STATIC]
    static = {
        r.name: whole_table(r, arrivals_of(r, given[r.name], limits.batch_rows))
        for r in relations
        if r.extent is Extent.STATIC
    }
    state = initial_state(plan, static)
    report = RunReport(plan.bound.units, peak_units=state_units(state))
    arrivals = {s.name: arrivals_of(s, given[s.name], limits.batch_rows) for s in streams}
    pending = start(streams, limits.max_pending, partial(needed, plan))
    room = room_for(plan, arrivals)
    settle = partial(compact, room=room, reduce=partial(reduce, plan))
    for closed, waiting in read_markers(pending, arrivals, on_late, limits, settle):
        state, results = advanced(plan, state, closed)
        report = counted(report, waiting, results, state_units(state))
        report = with_open(plan, report, waiting)
        yield Progress(results, report, state_units(state))


def advanced(
    plan: SynopsisPlan, state: KernelState, closed: Closed | None
) -> tuple[KernelState, pa.Table | None]:
    if closed is None:
        return state, None
    advanced = advance(plan, state, closed.rows, closed.until)
    return advanced.state, answers(plan, advanced.results)


def counted(report: RunReport, pending: Pending, results: pa.Table | None, units: int) -> RunReport:
    found = 0 if results is None else count_results(results)
    return replace(
        report,
        rows_in=pending.offered,
        late=pending.late,
        results=report.results + found,
        peak_units=max(report.peak_units, units),
    )


def with_open(plan: SynopsisPlan, report: RunReport, pending: Pending) -> RunReport:
    """The report with the most rows that an open timestamp has had to keep."""
    names = [s.relation.name for s in pending.sources if is_stored(plan, s.relation.name)]
    still_open = sum(open_rows(pending, name) for name in names)
    return replace(report, open_units=max(report.open_units, still_open))


def count_results(results: pa.Table) -> int:
    """How many results there are, with their multiplicity."""
    # As decimals: the sum of 64-bit counts may need more than 64 bits.
    counts = results.column(results.num_columns - 1).cast(pa.decimal256(76, 0))
    return int(pc.sum(counts).as_py()) if len(results) else 0


def as_it_is(pending: Pending) -> Pending:
    """Rows that wait are not made fewer."""
    return pending


def read_markers(
    pending: Pending,
    arrivals: Mapping[str, Iterator[Arrival]],
    on_late: LateRows,
    limits: Limits,
    settle: Callable[[Pending], Pending] = as_it_is,
) -> Iterator[tuple[Closed | None, Pending]]:
    """Read until all sources are exhausted; after each batch, what it closes.

    The source that lags behind is read next, so that as few rows as possible wait for it; one that
    has nothing to say is passed over until another one has spoken. `settle` makes what waits small.
    """
    pending = _all_heard(pending, limits.clock())
    reading, quiet = set(arrivals), set[str]()
    while reading:
        name = _next_source(pending, reading - quiet or reading)
        quiet = quiet if reading - quiet else set()
        arrival = next(arrivals[name], _END)
        if arrival is None:
            quiet.add(name)
        else:
            quiet.clear()
        if arrival is _END:
            reading.remove(name)
        pending = _taken(pending, name, arrival, on_late, limits)
        closed = close(pending)
        pending = pending if closed is None else closed.pending
        pending = settle(pending)
        yield closed, pending
    closed = finish(pending)
    if closed is None and pending.closed is None:
        # Nothing ever arrived: one marker all the same, for what is known without any row.
        closed = Closed(pending, {s.relation.name: s.rows for s in pending.sources}, 0)
    if closed is not None:
        yield closed, closed.pending


def room_for(plan: SynopsisPlan, streams: Iterable[str]) -> dict[str, int]:
    """How many rows of an open timestamp may wait as they are: together no more than the bound."""
    stored = [name for name in streams if is_stored(plan, name)]
    units = OPEN_ROWS if plan.bound.units is None else min(plan.bound.units, OPEN_ROWS)
    return {name: units // len(stored) if name in stored else OPEN_ROWS for name in streams}


class _End:
    """The source is exhausted."""


_END = _End()


def _next_source(pending: Pending, names: set[str]) -> str:
    candidates = (source for source in pending.sources if source.relation.name in names)
    return min(candidates, key=progress).relation.name


def _taken(
    pending: Pending, name: str, arrival: Arrival | _End, on_late: LateRows, limits: Limits
) -> Pending:
    now = limits.clock()
    match arrival:
        case _End():
            pending = exhaust(pending, name)
        case Heartbeat(time=reached):
            pending = heartbeat(pending, name, reached, now)
        case pa.Table():
            pending, late = offer(pending, name, arrival, now)
            if len(late):
                on_late(name, late)
    return pending if limits.idle_after is None else mark_idle(pending, now, limits.idle_after)


def _all_heard(pending: Pending, now: float) -> Pending:
    """The timeout of a source that never speaks counts from the start."""
    return replace(pending, sources=tuple(replace(s, heard=now) for s in pending.sources))


def given_rows(relation: Relation, tables: Mapping[str, Rows]) -> Rows:
    folded = {name.lower(): name for name in tables}
    name = relation.name if relation.name in tables else folded.get(relation.name.lower())
    if name is None:
        message = f"no rows are given for {relation.name!r}, which the query reads"
        hint = f"Give a table or batches for it; there are {', '.join(tables) or 'none'}."
        raise Mistake.NO_ROWS_GIVEN.error(message, hint, relation.span)
    return tables[name]


def arrivals_of(relation: Relation, rows: Rows, batch_rows: int) -> Iterator[Arrival]:
    """What the source sends, its rows with the columns and types of `relation`."""
    parts = rows.to_batches(max_chunksize=batch_rows) if isinstance(rows, pa.Table) else rows
    rows_before = 0
    for part in parts:
        if not isinstance(part, pa.RecordBatch | pa.Table):
            yield part
            continue
        table = part if isinstance(part, pa.Table) else pa.Table.from_batches([part])
        yield conform(relation, table, Origin(relation.name, rows_before))
        rows_before += len(table)


def whole_table(relation: Relation, arrivals: Iterator[Arrival]) -> pa.Table:
    tables = [arrival for arrival in arrivals if isinstance(arrival, pa.Table)]
    return pa.concat_tables([arrow_schema(relation).empty_table(), *tables])


def ignore_late(_stream: str, _rows: pa.Table) -> None:
    """Late rows are counted in the report, too."""
