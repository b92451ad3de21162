"""What the driver does in the keyed placement: write what the buckets found, count, and end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from obda_bm.diagnostics import ObdaError
from obda_bm.execution.answer_terms import answers
from obda_bm.execution.local import RunReport, count_results
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.sinks import COUNTS
from obda_bm.execution.spark.bucket import Work
from obda_bm.execution.spark.keyed import NEWS, STATE, finisher
from obda_bm.execution.spark.metrics import BatchMetrics, Observer
from obda_bm.execution.spark.output import BatchSink
from obda_bm.execution.spark.packing import from_ipc, pack, seal
from obda_bm.execution.spark.snapshot import VERSION, Epoch, Stored
from obda_bm.execution.spark.store import Store


@dataclass(frozen=True, slots=True)
class Tally:
    """What is known of all buckets; the buckets themselves are in Spark's state store."""

    epoch: Epoch
    report: RunReport
    units: Mapping[str, int]
    waiting: Mapping[str, int]
    newest: Mapping[str, int]
    closed: int | None = None
    ended: int | None = None


def first_tally(bound: int | None) -> Tally:
    return Tally(Epoch(-1), RunReport(bound), {}, {}, {})


def read_tally(stored: Stored, bound: int | None) -> Tally:
    head = stored.head
    report = RunReport(**{**head["report"], "bound_units": bound})
    newest = {s["name"]: s["newest"] for s in head["sources"] if s["newest"] is not None}
    buckets = (head["buckets"], head["waiting"])
    return Tally(stored.epoch, report, *buckets, newest, head["closed"], head["ended"])


@dataclass(slots=True)
class Collector:
    """Takes the news of the buckets, batch by batch."""

    work: Work
    store: Store
    sink: BatchSink
    late: Path
    tally: Tally
    max_pending: int
    observers: tuple[Observer, ...] = ()
    failure: ObdaError | None = None

    @property
    def report(self) -> RunReport:
        return self.tally.report

    def take(self, frame: DataFrame, batch: int) -> None:
        """What `foreachBatch` calls; the frame must run, or Spark's state would miss the batch."""
        news = frame.toArrow()
        if batch > self.tally.epoch.batch:
            try:
                self._keep(Epoch(batch), news)
            except ObdaError as error:
                self.failure = error
                raise

    def end(self, spark: SparkSession) -> None:
        """Close what still waits in the state store; None of it changes there."""
        newest = max(self.tally.newest.values(), default=None)
        if newest is None or self.tally.ended == newest + 1:
            return
        stored = (
            spark.read.format("statestore")
            .option("path", self.store.checkpoint_url)
            .option("stateVarName", STATE)
            .load()
            .selectExpr("key.bucket AS bucket", "value.bytes AS bytes")
        )
        news = stored.mapInArrow(finisher(self.work, newest + 1), NEWS).toArrow()
        self.tally = replace(self.tally, ended=newest + 1)
        self._keep(replace(self.tally.epoch, ended=True), news)

    def _keep(self, epoch: Epoch, news: pa.Table) -> None:
        late = b"".join(part for part in news.column("late").to_pylist() if part)
        if late:
            self.store.write(self.late / f"{epoch.name}.jsonl", late)
        tables = [from_ipc(data) for data in news.column("results").to_pylist() if data]
        results = _concatenated(tables)
        if results is not None:
            self.sink(epoch, answers(self.work.plan, results))
        self.tally = _counted(replace(self.tally, epoch=epoch), news, results)
        data = write_tally(self.tally, self.work, self.store.query_id() or "", self.store.plan)
        self.store.save(epoch, data)
        _check_bound(self.tally)
        _check_cap(self.tally, self.max_pending)
        for observe in self.observers:
            observe(measure_tally(self.tally, len(data)))


def _counted(tally: Tally, news: pa.Table, results: pa.Table | None) -> Tally:
    units, waiting, newest = dict(tally.units), dict(tally.waiting), dict(tally.newest)
    report, closed = tally.report, tally.closed
    for bucket, text in zip(
        news.column("bucket").to_pylist(), news.column("told").to_pylist(), strict=True
    ):
        told = json.loads(text)
        units[str(bucket)] = told["units"]
        waiting[str(bucket)] = told["waiting"]
        for stream, tick in told["newest"].items():
            newest[stream] = max(newest.get(stream, tick), tick)
        if told["closed"] is not None:
            closed = told["closed"] if closed is None else max(closed, told["closed"])
        report = replace(
            report, rows_in=report.rows_in + told["offered"], late=report.late + told["late"]
        )
    found = report.results + (0 if results is None else count_results(results))
    peak = max(report.peak_units, sum(units.values()))
    report = replace(report, results=found, peak_units=peak)
    buckets = replace(tally, units=units, waiting=waiting)
    return replace(buckets, report=report, newest=newest, closed=closed)


def write_tally(tally: Tally, work: Work, query_id: str, of_plan: str) -> bytes:
    head = {
        "version": VERSION,
        "query": query_id,
        "plan": of_plan,
        "epoch": asdict(tally.epoch),
        "report": asdict(tally.report),
        "units": sum(tally.units.values()),
        "closed": tally.closed,
        "ended": tally.ended,
        "buckets": dict(tally.units),
        "waiting": dict(tally.waiting),
        "sources": [{"name": s.name, "newest": tally.newest.get(s.name)} for s in work.streams],
    }
    return seal(pack([json.dumps(head).encode()]))


def measure_tally(tally: Tally, size: int) -> BatchMetrics:
    return BatchMetrics(
        tally.epoch.batch,
        sum(tally.units.values()),
        size,
        tally.report.bound_units,
        tally.report.late,
        sum(tally.waiting.values()),
        tally.closed,
        dict(tally.newest),
        tally.report,
    )


def _check_bound(tally: Tally) -> None:
    bound, units = tally.report.bound_units, sum(tally.units.values())
    if bound is not None and units > bound:
        message = f"the state has {units} units, more than the bound {bound}"
        hint = "This is a bug: report it with the query and its setting."
        raise Mistake.BOUND_VIOLATED.error(message, hint)


def _check_cap(tally: Tally, cap: int) -> None:
    waiting = sum(tally.waiting.values())
    if waiting > cap:
        behind = min(tally.newest, key=lambda name: tally.newest[name])
        message = f"{waiting} rows wait, at most {cap} may: stream {behind!r} lags behind"
        hint = f"Let {behind!r} send rows, or raise the cap on pending rows."
        raise Mistake.TOO_MANY_PENDING.error(message, hint)


def _concatenated(tables: Sequence[pa.Table]) -> pa.Table | None:
    """All results; counts that outgrow 64 bits somewhere are wide everywhere."""
    if not tables:
        return None
    if len({table.schema.types[-1] for table in tables}) > 1:
        last = tables[0].num_columns - 1
        tables = [
            t.set_column(last, t.column_names[last], t.column(last).cast(COUNTS)) for t in tables
        ]
    return pa.concat_tables(tables).sort_by("time")
