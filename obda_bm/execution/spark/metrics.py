"""How a run is doing, batch by batch: for the terminal, for files, for whoever listens."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from obda_bm.execution.local import RunReport
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.spark.snapshot import Snapshot

NEARLY = 0.9
"""From this part of the bound on there is a warning."""


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """The state after a batch; `frontier` tells how far each source has come, in ticks."""

    batch: int
    units: int
    bytes: int
    bound_units: int | None
    late: int
    waiting: int
    closed: int | None
    frontier: Mapping[str, int | None]
    report: RunReport

    @property
    def is_near_bound(self) -> bool:
        return self.bound_units is not None and self.units >= NEARLY * self.bound_units

    def as_json(self) -> dict[str, Any]:
        plain = asdict(self)
        del plain["report"]
        totals = {"rows_in": self.report.rows_in, "results": self.report.results}
        return {**plain, **totals, "near_bound": self.is_near_bound}


Observer = Callable[[BatchMetrics], None]


def measure(snapshot: Snapshot, size: int) -> BatchMetrics:
    pending = snapshot.pending
    return BatchMetrics(
        snapshot.epoch.batch,
        snapshot.units,
        size,
        snapshot.report.bound_units,
        pending.late,
        pending.waiting,
        pending.closed,
        {source.relation.name: source.newest for source in pending.sources},
        snapshot.report,
    )


def check_bound(snapshot: Snapshot) -> None:
    """Stop where more is kept than was proved enough: that is a mistake of this program."""
    bound, units = snapshot.report.bound_units, snapshot.units
    if bound is not None and units > bound:
        message = f"the state has {units} units, more than the bound {bound}"
        hint = "This is a bug: report it with the query and its setting."
        raise Mistake.BOUND_VIOLATED.error(message, hint)


@dataclass(slots=True)
class Recent:
    """The metrics of the last few batches, for those who hear of a batch only later."""

    known: dict[int, BatchMetrics] = field(default_factory=dict)

    def add(self, metrics: BatchMetrics) -> None:
        self.known[metrics.batch] = metrics
        while len(self.known) > 100:
            del self.known[next(iter(self.known))]


class MetricsListener(StreamingQueryListener):
    """Writes a line of JSON for every batch: Spark's figures and ours."""

    def __init__(self, recent: Recent, write: Callable[[str], None]) -> None:
        self._recent, self._write = recent, write
        self._run_id: str | None = None
        self._done = threading.Event()

    def watch(self, run_id: str) -> None:
        self._run_id = run_id

    def wait(self, seconds: float) -> None:
        """Spark tells its listeners some time after the fact."""
        self._done.wait(seconds)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        pass

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        progress = event.progress
        ours = self._recent.known.get(progress.batchId)
        if ours is None or self._run_id not in (None, str(progress.runId)):
            return
        spark = {
            "time": progress.timestamp,
            "batch_rows": progress.numInputRows,
            "rows_per_second": progress.processedRowsPerSecond,
            "duration_ms": progress.durationMs.get("triggerExecution"),
        }
        self._write(json.dumps({**spark, **ours.as_json()}) + "\n")

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        if self._run_id in (None, str(event.runId)):
            self._done.set()
