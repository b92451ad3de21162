"""run_spark: a bounded query as a streaming query on the user's own session."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from obda_bm.execution.conform import Origin, conform
from obda_bm.execution.local import LIMITS, Limits, RunReport, relations_of
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.execution.sinks import Format, marker_type
from obda_bm.execution.sources import read_static
from obda_bm.execution.spark.driver import Driver
from obda_bm.execution.spark.files import Write, write_atomically
from obda_bm.execution.spark.metrics import MetricsListener, Observer, Recent
from obda_bm.execution.spark.output import BatchSink, FileSink
from obda_bm.execution.spark.snapshot import Snapshot, fingerprint, initial_snapshot, restore
from obda_bm.execution.spark.store import Store, hold_store
from obda_bm.execution.spark.streams import read_stream
from obda_bm.execution.spark.tagged import lanes_of, tag
from obda_bm.ir.catalog import Extent, Relation
from obda_bm.ir.plan import SynopsisPlan


class Planned(Protocol):
    """What `run_spark` needs to know of a compiled query."""

    @property
    def plan(self) -> SynopsisPlan | None: ...
    @property
    def query(self) -> object: ...
    @property
    def setting(self) -> Placed: ...


class Placed(Protocol):
    @property
    def directory(self) -> Path: ...


@dataclass(frozen=True, slots=True)
class Once:
    """Read what is there, close the last timestamp, and stop."""


@dataclass(frozen=True, slots=True)
class Every:
    """Go on forever, with a batch every so many seconds; 0 is as soon as the last one is done."""

    seconds: float = 0.0


Trigger = Once | Every


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller supplies instead of the sources of the setting, by relation."""

    streams: Mapping[str, DataFrame]
    static: Mapping[str, DataFrame | pa.Table]


class SparkRun:
    """A run in progress. `query` is Spark's own handle of it."""

    def __init__(
        self, query: StreamingQuery | None, driver: Driver, trigger: Trigger, held: ExitStack
    ) -> None:
        self.query, self._driver, self._trigger, self._held = query, driver, trigger, held

    @property
    def report(self) -> RunReport:
        """What the run has done so far."""
        return self._driver.snapshot.report

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802 — Spark's name
        """Wait for the end; False where `timeout` seconds pass before it.

        With `Once` this also closes the last timestamp, so it must be called.

        Raises:
            ExecutionError: where the run has failed.
        """
        if self.query is not None and not self._terminated(self.query, timeout):
            return False
        if isinstance(self._trigger, Once):
            self._driver.end()
        self._held.close()
        return True

    def stop(self) -> None:
        """Stop now; the same state directory goes on from here."""
        if self.query is not None:
            self.query.stop()
        self._held.close()

    def _terminated(self, query: StreamingQuery, timeout: float | None) -> bool:
        try:
            if timeout is None:
                query.awaitTermination()
                return True
            return bool(query.awaitTermination(timeout))  # type: ignore[arg-type]
        except StreamingQueryException as error:
            self._held.close()
            raise self._driver.failure or _failed(error) from None


def run_spark(
    compiled: Planned,
    spark: SparkSession,
    *,
    state: str | Path | None = None,
    output: str | Path | None = None,
    format: Format = Format.JSONL,
    sink: BatchSink | None = None,
    late: str | Path | None = None,
    streams: Mapping[str, DataFrame] | None = None,
    static: Mapping[str, DataFrame | pa.Table] | None = None,
    trigger: Trigger = Every(),
    limits: Limits = LIMITS,
    observers: Sequence[Observer] = (),
    metrics: Callable[[str], None] | None = None,
    write: Write = write_atomically,
) -> SparkRun:
    """Start a bounded query on `spark`; the same call with the same `state` goes on with it.

    Results go to files in the directory `output`, one per batch, or to `sink`. `streams` and
    `static` replace sources of the setting; static relations are read once, here. Rows that come
    too late go to files in `late`, by default a folder of `state`. `metrics` receives a line of
    JSON per batch. Without `state` nothing survives the run.

    Raises:
        ExecutionError: where the query is not bounded, a source is missing, or `state` is not
            this query's.
    """
    plan = compiled.plan
    if plan is None:
        hint = "Ask for its verdict: it says why, and what would repair it."
        raise Mistake.NO_PLAN.error("the query is not bounded, so it has no plan", hint)
    relations = relations_of(plan)
    held = ExitStack()
    with held:
        directory = Path(state) if state else Path(held.enter_context(_scratch()))
        store = held.enter_context(
            hold_store(directory, fingerprint(plan), str(compiled.query), write)
        )
        given = Given(streams or {}, static or {})
        where = compiled.setting.directory
        snapshot = _snapshot(plan, store, _static(relations, given, where), limits)
        recent = Recent()
        target = sink or _file_sink(output, format, relations, write)
        frames = _frames(spark, relations, given, where)
        lanes = lanes_of(_streams(relations), frames)
        refused = Path(late) if late else store.directory / "late"
        watching = (recent.add, *observers)
        driver = Driver(plan, lanes, store, target, refused, limits, snapshot, watching)
        listener = None if metrics is None else MetricsListener(recent, metrics)
        if listener is not None:
            _listen(spark, listener, held)
        query = _start(tag(lanes, frames), driver, trigger) if lanes else None
        if listener is not None and query is not None:
            listener.watch(str(query.runId))
        return SparkRun(query, driver, trigger, held.pop_all())


def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="obda-bm-", ignore_cleanup_errors=True)


def _listen(spark: SparkSession, listener: MetricsListener, held: ExitStack) -> None:
    spark.streams.addListener(listener)
    held.callback(spark.streams.removeListener, listener)
    held.callback(listener.wait, 5.0)


def _start(frame: DataFrame, driver: Driver, trigger: Trigger) -> StreamingQuery:
    writer = frame.writeStream.foreachBatch(driver.take).option(
        "checkpointLocation", driver.store.checkpoint.resolve().as_uri()
    )
    match trigger:
        case Once():
            return writer.trigger(availableNow=True).start()
        case Every(seconds):
            return writer.trigger(processingTime=f"{round(seconds * 1000)} milliseconds").start()


def _snapshot(
    plan: SynopsisPlan, store: Store, static: Mapping[str, pa.Table], limits: Limits
) -> Snapshot:
    streams = _streams(relations_of(plan))
    stored = store.latest()
    if stored is None:
        return initial_snapshot(plan, static, streams, limits.max_pending)
    return restore(plan, stored, static, streams, limits.max_pending, limits.clock())


def _streams(relations: Sequence[Relation]) -> list[Relation]:
    return [r for r in relations if r.extent is not Extent.STATIC]


def _frames(
    spark: SparkSession, relations: Sequence[Relation], given: Given, directory: Path
) -> dict[str, DataFrame]:
    return {
        r.name: given.streams[r.name]
        if r.name in given.streams
        else read_stream(spark, r, directory)
        for r in _streams(relations)
    }


def _static(relations: Sequence[Relation], given: Given, directory: Path) -> dict[str, pa.Table]:
    return {
        r.name: _given_static(r, given.static[r.name])
        if r.name in given.static
        else read_static(r, directory)
        for r in relations
        if r.extent is Extent.STATIC
    }


def _given_static(relation: Relation, rows: DataFrame | pa.Table) -> pa.Table:
    table = rows if isinstance(rows, pa.Table) else rows.toArrow()
    return conform(relation, table, Origin(relation.name))


def _file_sink(
    output: str | Path | None, format_: Format, relations: Sequence[Relation], write: Write
) -> FileSink:
    if output is None:
        hint = "Name a directory as output, or give a sink."
        raise Mistake.NEEDS_A_PATH.error("the results have nowhere to go", hint)
    return FileSink(Path(output), format_, marker_type(relations), write)


def _failed(error: StreamingQueryException) -> ExecutionError:
    """The first line of Spark's own words; the rest is a plan and a stack."""
    text = str(error).partition("\n")[0]
    reason = text.rpartition("terminated with exception: ")[2]
    hint = "The state directory is intact: correct the cause and start again."
    return Mistake.SPARK_FAILED.error(f"Spark stopped: {reason}", hint)
