"""A plan and its sources -> the kernel where it was placed, and the stream that feeds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from obda_bm.diagnostics import ObdaError
from obda_bm.execution.local import Limits, RunReport, relations_of
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.spark.aggregate import Aggregation
from obda_bm.execution.spark.driver import Driver, Gathering
from obda_bm.execution.spark.metrics import Observer
from obda_bm.execution.spark.output import BatchSink
from obda_bm.execution.spark.pushdown import pushdown
from obda_bm.execution.spark.snapshot import Snapshot, initial_snapshot, restore
from obda_bm.execution.spark.store import Store
from obda_bm.execution.spark.tagged import Lane, lanes_of, tag
from obda_bm.ir.catalog import Extent, Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.planning.placement import Aggregated, Keyed, OnDriver, Placement


class Kernel(Protocol):
    """The kernel where it was placed: takes batches, and the end of input."""

    failure: ObdaError | None

    @property
    def report(self) -> RunReport: ...
    def take(self, frame: DataFrame, batch: int) -> None: ...
    def end(self, spark: SparkSession, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Job:
    """All that a run needs, wherever its kernel is."""

    plan: SynopsisPlan
    store: Store
    sink: BatchSink
    late: Path
    limits: Limits
    observers: tuple[Observer, ...]
    static: Mapping[str, pa.Table]
    frames: Mapping[str, DataFrame]

    @property
    def streams(self) -> tuple[Relation, ...]:
        return streams_of(relations_of(self.plan))


def streams_of(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    return tuple(r for r in relations if r.extent is not Extent.STATIC)


def placed(job: Job, placement: Placement, spark: SparkSession) -> tuple[Kernel, DataFrame | None]:
    """The kernel, and what it takes; None where the query reads no stream at all."""
    lanes = lanes_of(job.streams, job.frames)
    match placement:
        case OnDriver():
            return _on_driver(job, lanes, pushdown(job.plan, lanes))
        case Aggregated():
            return _on_driver(job, lanes, Aggregation(job.plan, lanes))
        case Keyed():
            return _keyed(job, lanes, placement, spark)


def _on_driver(
    job: Job, lanes: tuple[Lane, ...], gathering: Gathering
) -> tuple[Kernel, DataFrame | None]:
    driver = Driver(
        job.plan,
        gathering,
        job.store,
        job.sink,
        job.late,
        job.limits,
        _snapshot(job),
        job.observers,
    )
    return driver, tag(lanes, job.frames) if lanes else None


def _snapshot(job: Job) -> Snapshot:
    stored, cap, now = job.store.latest(), job.limits.max_pending, job.limits.clock()
    if stored is None:
        return initial_snapshot(job.plan, job.static, job.streams, cap, now)
    return restore(job.plan, stored, job.static, job.streams, cap, now)


def _keyed(
    job: Job, lanes: tuple[Lane, ...], key: Keyed, spark: SparkSession
) -> tuple[Kernel, DataFrame | None]:
    from obda_bm.execution.spark.bucket import Work
    from obda_bm.execution.spark.collect import Collector, first_tally, read_tally
    from obda_bm.execution.spark.keyed import keyed_stream

    _check_state_store(spark)
    _check_path(job.store.checkpoint.resolve())
    stored, bound = job.store.latest(), job.plan.bound.units
    tally = first_tally(bound) if stored is None else read_tally(stored, bound)
    work = Work(job.plan, job.static, job.streams, tally.ended)
    cap = job.limits.max_pending
    collector = Collector(work, job.store, job.sink, job.late, tally, cap, job.observers)
    return collector, keyed_stream(work, lanes, job.frames, key)


def _check_state_store(spark: SparkSession) -> None:
    name = "spark.sql.streaming.stateStore.providerClass"
    if "RocksDB" not in (spark.conf.get(name, "") or ""):
        message = "the keyed placement needs Spark's RocksDB state store"
        hint = f"Set {name} to {ROCKSDB}, or place the query on the driver."
        raise Mistake.NO_ROCKSDB.error(message, hint)


def _check_path(checkpoint: Path) -> None:
    """Spark's reader of states, which the end of input needs, encodes a path and never decodes."""
    odd = [c for c in str(checkpoint) if quote(c) != c]
    if odd:
        message = f"the state directory has {odd[0]!r} in its path: {str(checkpoint.parent)!r}"
        hint = "Use letters, digits, '-', '_' and '.', or place the query on the driver."
        raise Mistake.NOT_PLACED.error(message, hint)


ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
