"""The kernel on the driver: Spark hands over each batch as Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from obda_bm.diagnostics import ObdaError
from obda_bm.execution.local import Limits, RunReport
from obda_bm.execution.markers import Pending
from obda_bm.execution.spark.metrics import Observer, check_bound, measure
from obda_bm.execution.spark.output import BatchSink, late_lines
from obda_bm.execution.spark.snapshot import (
    Arrived,
    Patience,
    Snapshot,
    Stepped,
    end,
    step,
    write_snapshot,
)
from obda_bm.execution.spark.store import Store
from obda_bm.ir.plan import SynopsisPlan


class Gathering(Protocol):
    """How the rows of a batch come to the driver: all that matter, or reduced."""

    def gather(self, frame: DataFrame, pending: Pending) -> Arrived: ...


@dataclass(slots=True)
class Driver:
    """Takes batches, one after another; what they leave is `snapshot`.

    Output first, then the snapshot: after a crash in between Spark sends the batch again, and the
    same output replaces itself. A batch whose snapshot exists is done.
    """

    plan: SynopsisPlan
    gathering: Gathering
    store: Store
    sink: BatchSink
    late: Path
    limits: Limits
    snapshot: Snapshot
    observers: tuple[Observer, ...] = ()
    failure: ObdaError | None = None

    def take(self, frame: DataFrame, batch: int) -> None:
        """What `foreachBatch` calls."""
        if batch <= self.snapshot.epoch.batch:
            return
        patience = Patience(self.limits.clock(), self.limits.idle_after)
        try:
            arrived = self.gathering.gather(frame, self.snapshot.pending)
            self._keep(step(self.plan, self.snapshot, batch, arrived, patience))
        except ObdaError as error:
            self.failure = error
            raise

    @property
    def report(self) -> RunReport:
        return self.snapshot.report

    def end(self, _spark: SparkSession) -> None:
        """The input has ended."""
        ended = end(self.plan, self.snapshot)
        if ended is not None:
            self._keep(ended)

    def _keep(self, stepped: Stepped) -> None:
        snapshot = stepped.snapshot
        check_bound(snapshot)
        if stepped.late:
            path = self.late / f"{snapshot.epoch.name}.jsonl"
            self.store.write(path, late_lines(stepped.late))
        if stepped.results is not None:
            self.sink(snapshot.epoch, stepped.results)
        data = write_snapshot(snapshot, self.store.query_id() or "", self.store.plan)
        self.store.save(snapshot.epoch, data)
        self.snapshot = snapshot
        metrics = measure(snapshot, len(data))
        for observe in self.observers:
            observe(metrics)
