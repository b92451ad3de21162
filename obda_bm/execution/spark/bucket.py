"""One of many kernels: the rows of some keys, closed by a frontier that it is told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from obda_bm.execution.markers import ticks_of
from obda_bm.execution.spark.packing import from_ipc, pack, to_ipc, unpack
from obda_bm.ir.catalog import Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.kernel import (
    KernelState,
    advance,
    arrow_schema,
    deserialise,
    initial_state,
    serialise,
    state_units,
)


@dataclass(frozen=True, slots=True)
class Work:
    """What all buckets of a run know; `ended` is the frontier that the last end of input set."""

    plan: SynopsisPlan
    static: Mapping[str, pa.Table]
    streams: tuple[Relation, ...]
    ended: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Bucket:
    """Rows before `closed` have been given to the kernel, others wait."""

    kernel: KernelState
    waiting: Mapping[str, pa.Table]
    closed: int | None = None

    @property
    def units(self) -> int:
        return state_units(self.kernel)


def new_bucket(work: Work) -> Bucket:
    waiting = {s.name: arrow_schema(s).empty_table() for s in work.streams}
    return _after_end(work, Bucket(initial_state(work.plan, work.static), waiting))


def _after_end(work: Work, bucket: Bucket) -> Bucket:
    return bucket if work.ended is None else close_bucket(work, bucket, work.ended)[0]


def read_bucket(work: Work, data: bytes) -> Bucket:
    """The bucket as it was written, after what the end of input has done to it since.

    At the end of input its results were emitted, but its state stayed as it was.
    """
    head, kernel, *tables = unpack(data)
    names = [s.name for s in work.streams]
    waiting = dict(zip(names, map(from_ipc, tables), strict=True))
    state = deserialise(work.plan, kernel, work.static)
    return _after_end(work, Bucket(state, waiting, json.loads(head)))


def write_bucket(bucket: Bucket) -> bytes:
    tables = map(to_ipc, bucket.waiting.values())
    return pack([json.dumps(bucket.closed).encode(), serialise(bucket.kernel), *tables])


def close_bucket(work: Work, bucket: Bucket, until: int) -> tuple[Bucket, pa.Table | None]:
    """Give the rows before `until` to the kernel; None where it is not ahead."""
    if bucket.closed is not None and until <= bucket.closed:
        return bucket, None
    ready, rest = {}, {}
    for stream in work.streams:
        table = bucket.waiting[stream.name]
        ticks = ticks_of(stream, table)
        order = np.argsort(ticks, kind="stable")
        cut = int(np.searchsorted(ticks[order], until))
        ready[stream.name] = table.take(pa.array(order[:cut]))
        rest[stream.name] = table.take(pa.array(order[cut:]))
    advanced = advance(work.plan, bucket.kernel, ready, until)
    return Bucket(advanced.state, rest, until), advanced.results


def offer_rows(
    work: Work, bucket: Bucket, rows: Mapping[str, Sequence[pa.Table]]
) -> tuple[Bucket, dict[str, pa.Table]]:
    """Let rows wait; those that came after their time are handed back."""
    waiting, late = dict(bucket.waiting), {}
    for stream in work.streams:
        table = pa.concat_tables([waiting[stream.name].slice(0, 0), *rows.get(stream.name, ())])
        if bucket.closed is not None:
            old = ticks_of(stream, table) < bucket.closed
            if old.any():
                late[stream.name] = table.filter(pa.array(old))
                table = table.filter(pa.array(~old))
        waiting[stream.name] = pa.concat_tables([waiting[stream.name], table])
    return replace(bucket, waiting=waiting), late


def earliest(work: Work, bucket: Bucket) -> int | None:
    """The least timestamp that waits."""
    ticks = [ticks_of(s, bucket.waiting[s.name]) for s in work.streams]
    return min((int(t.min()) for t in ticks if len(t)), default=None)
