"""All that survives between batches: synopses, waiting rows, how far each source has come."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from obda_bm.execution.local import RunReport, advanced, counted, room_for, with_open
from obda_bm.execution.markers import (
    Closed,
    Pending,
    Phase,
    Waiting,
    close,
    compact,
    finish,
    heartbeat,
    mark_idle,
    offer,
    start,
    ticks_of,
)
from obda_bm.execution.spark.packing import from_ipc, pack, seal, to_ipc, unpack, unseal
from obda_bm.ir.catalog import Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.kernel import (
    KernelState,
    deserialise,
    initial_state,
    needed,
    reduce,
    serialise,
    state_units,
)
from obda_bm.planning.placement import Placement

VERSION = 1


@dataclass(frozen=True, slots=True, order=True)
class Epoch:
    """How far the input was read: `batch` counts as Spark does, -1 is before the first one."""

    batch: int
    ended: bool = False  # whether the input has ended after that batch

    @property
    def name(self) -> str:
        """A name that sorts like the epoch.

        >>> Epoch(7).name, Epoch(7, ended=True).name
        ('00000007', '00000007.end')
        """
        return f"{self.batch:08d}" + (".end" if self.ended else "")


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    epoch: Epoch
    kernel: KernelState
    pending: Pending
    report: RunReport

    @property
    def units(self) -> int:
        return state_units(self.kernel)


@dataclass(frozen=True, slots=True, eq=False)
class Stepped:
    """The snapshot after a batch, what the batch adds to the answer, and its late rows."""

    snapshot: Snapshot
    results: pa.Table | None
    late: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a batch had of one stream, before the filters: how many rows, and the newest time."""

    rows: int
    newest: int | None

    def and_then(self, more: Seen) -> Seen:
        """What two parts of a batch had."""
        known = [newest for newest in (self.newest, more.newest) if newest is not None]
        return Seen(self.rows + more.rows, max(known, default=None))


@dataclass(frozen=True, slots=True, eq=False)
class Arrived:
    """Rows of a batch, by stream; of the streams in `seen`, not all that there were."""

    rows: Mapping[str, Sequence[pa.Table]]
    seen: Mapping[str, Seen]


@dataclass(frozen=True, slots=True)
class Patience:
    """Since when, on the clock, a source that sends nothing no longer holds the others back."""

    now: float
    idle_after: float | None


def initial_snapshot(
    plan: SynopsisPlan,
    static: Mapping[str, pa.Table],
    streams: Sequence[Relation],
    cap: int,
    now: float,
) -> Snapshot:
    kernel = initial_state(plan, static)
    report = RunReport(plan.bound.units, peak_units=state_units(kernel))
    empty = start(streams, cap, partial(needed, plan))
    # The timeout of a source that never speaks counts from the start.
    sources = tuple(replace(source, heard=now) for source in empty.sources)
    return Snapshot(Epoch(-1), kernel, replace(empty, sources=sources), report)


def step(
    plan: SynopsisPlan, snapshot: Snapshot, batch: int, arrived: Arrived, patience: Patience
) -> Stepped:
    """Take the rows of one batch, of all sources, and close what they close."""
    pending, late = snapshot.pending, {}
    for name, tables in arrived.rows.items():
        refused = []
        for table in tables:
            pending, old = offer(pending, name, table, patience.now)
            refused += [old] if len(old) else []
        if name in arrived.seen:
            taken = sum(map(len, tables))
            pending = _moved_on(pending, name, arrived.seen[name], taken, patience.now)
        if refused:
            late[name] = pa.concat_tables(refused)
    if patience.idle_after is not None:
        pending = mark_idle(pending, patience.now, patience.idle_after)
    taken_in = replace(snapshot, epoch=Epoch(batch), pending=pending)
    return _closed(plan, taken_in, close(pending), late)


def _moved_on(pending: Pending, name: str, seen: Seen, taken: int, now: float) -> Pending:
    """Rows that were left out count, and move the frontier, as if they had come."""
    if seen.newest is not None:
        pending = heartbeat(pending, name, seen.newest, now)
    return replace(
        pending,
        sources=tuple(
            replace(s, offered=s.offered + seen.rows - taken) if s.relation.name == name else s
            for s in pending.sources
        ),
    )


def end(plan: SynopsisPlan, snapshot: Snapshot) -> Stepped | None:
    """Close the newest timestamp, as the sources are exhausted; None where nothing is open.

    Should they send rows again later, those at a closed timestamp are late.
    """
    closed = finish(snapshot.pending)
    if closed is None:
        return None
    ended = replace(snapshot, epoch=replace(snapshot.epoch, ended=True))
    return _closed(plan, ended, closed, {})


def _closed(
    plan: SynopsisPlan, taken: Snapshot, closed: Closed | None, late: Mapping[str, pa.Table]
) -> Stepped:
    kernel, results = advanced(plan, taken.kernel, closed)
    pending = taken.pending if closed is None else closed.pending
    room = room_for(plan, [source.relation.name for source in pending.sources])
    pending = compact(pending, room, partial(reduce, plan))
    report = counted(taken.report, pending, results, state_units(kernel))
    report = with_open(plan, report, pending)
    return Stepped(Snapshot(taken.epoch, kernel, pending, report), results, late)


def fingerprint(plan: SynopsisPlan, placement: Placement) -> str:
    """What two plans share if one can go on with the other's state: all but where rows are."""

    def scan(old: Any) -> Any:
        return replace(old, relation=replace(old.relation, source=None))

    branches = [
        replace(
            branch,
            inputs=tuple(
                replace(i, scans=tuple(map(scan, i.scans)), statics=tuple(map(scan, i.statics)))
                for i in branch.inputs
            ),
        )
        for branch in plan.branches
    ]
    text = repr((VERSION, placement, plan.semantics, branches, plan.outputs, plan.emitted))
    return hashlib.sha256(text.encode()).hexdigest()


def write_snapshot(snapshot: Snapshot, query_id: str, of_plan: str) -> bytes:
    """The snapshot as bytes, with the query and the plan that it belongs to."""
    head = {
        "version": VERSION,
        "query": query_id,
        "plan": of_plan,
        "epoch": asdict(snapshot.epoch),
        "report": asdict(snapshot.report),
        "units": snapshot.units,
        "closed": snapshot.pending.closed,
        "sources": [_source_head(source) for source in snapshot.pending.sources],
    }
    rows = [to_ipc(source.rows) for source in snapshot.pending.sources]
    return seal(pack([json.dumps(head).encode(), serialise(snapshot.kernel), *rows]))


def _source_head(source: Waiting) -> dict[str, Any]:
    return {
        "name": source.relation.name,
        "newest": source.newest,
        "phase": source.phase.value,
        "offered": source.offered,
        "late": source.late,
        "waiting": len(source.ticks),
    }


@dataclass(frozen=True, slots=True)
class Stored:
    """A snapshot file, opened: its head, and the parts that only its plan can read."""

    head: Mapping[str, Any]
    parts: tuple[bytes, ...]

    @property
    def epoch(self) -> Epoch:
        return Epoch(**self.head["epoch"])


def open_snapshot(data: bytes) -> Stored:
    """The parts of a snapshot.

    Raises:
        ValueError: where the bytes are damaged, or no snapshot at all.
    """
    parts = unpack(unseal(data))
    head = json.loads(parts[0])
    if head["version"] != VERSION:
        raise ValueError(f"it has version {head['version']}, this program writes {VERSION}")
    return Stored(head, tuple(parts[1:]))


def restore(
    plan: SynopsisPlan,
    stored: Stored,
    static: Mapping[str, pa.Table],
    streams: Sequence[Relation],
    cap: int,
    now: float,
) -> Snapshot:
    """The snapshot as it was written; sources are live again, whatever they were."""
    kernel = deserialise(plan, stored.parts[0], static)
    fresh = start(streams, cap, partial(needed, plan))
    described = zip(fresh.sources, stored.head["sources"], stored.parts[1:], strict=True)
    sources = tuple(_waiting(source, head, rows, now) for source, head, rows in described)
    pending = replace(fresh, sources=sources, closed=stored.head["closed"])
    report = RunReport(**{**stored.head["report"], "bound_units": plan.bound.units})
    return Snapshot(stored.epoch, kernel, pending, report)


def _waiting(source: Waiting, head: Mapping[str, Any], rows: bytes, now: float) -> Waiting:
    table = from_ipc(rows)
    return replace(
        source,
        rows=table,
        ticks=ticks_of(source.relation, table),
        newest=head["newest"],
        # Idle stays idle until it speaks; what was exhausted may have grown since.
        phase=Phase.IDLE if head["phase"] == Phase.IDLE.value else Phase.LIVE,
        heard=now,
        offered=head["offered"],
        late=head["late"],
    )
