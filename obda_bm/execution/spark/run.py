"""run_spark: a bounded query as a streaming query on the user's own session."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from obda_bm.execution.conform import Origin, conform
from obda_bm.execution.local import LIMITS, Limits, RunReport, relations_of
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.execution.sinks import Format, marker_type
from obda_bm.execution.sources import read_static
from obda_bm.execution.spark.files import Write, write_atomically
from obda_bm.execution.spark.metrics import MetricsListener, Observer, Recent
from obda_bm.execution.spark.output import BatchSink, FileSink
from obda_bm.execution.spark.packing import digest, in_order
from obda_bm.execution.spark.placed import Job, Kernel, placed, streams_of
from obda_bm.execution.spark.snapshot import fingerprint
from obda_bm.execution.spark.store import Owner, Store, hold_store
from obda_bm.execution.spark.streams import read_stream
from obda_bm.ir.catalog import Extent, Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.planning.placement import OnDriver, Placement, placements


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


Ending = Callable[[], None]
"""What is done once the input has ended."""


class SparkRun:
    """A run in progress. `query` is Spark's own handle of it."""

    def __init__(
        self, query: StreamingQuery | None, kernel: Kernel, ending: Ending, held: ExitStack
    ) -> None:
        self.query, self._kernel, self._ending, self._held = query, kernel, ending, held

    @property
    def report(self) -> RunReport:
        """What the run has done so far."""
        return self._kernel.report

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802 — Spark's name
        """Wait for the end; False where `timeout` seconds pass before it.

        With `Once` this also closes the last timestamp, so it must be called.

        Raises:
            ExecutionError: where the run has failed.
        """
        if self.query is not None and not self._terminated(self.query, timeout):
            return False
        with self._held, spoken():
            self._ending()
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
            raise self._kernel.failure or _failed(error) from None


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
    placement: Placement | None = None,
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
    chosen = choose(plan, spark) if placement is None else placement
    relations = relations_of(plan)
    recent = Recent()
    with ExitStack() as held, spoken():
        directory = Path(state) if state else Path(held.enter_context(_scratch()))
        given = Given(streams or {}, static or {})
        fixed = _static(relations, given, compiled.setting.directory)
        digests = {name: digest(table) for name, table in fixed.items()}
        owner = Owner(fingerprint(plan, chosen), str(compiled.query), digests)
        store = held.enter_context(hold_store(directory, owner, write))
        job = Job(
            plan,
            store,
            sink or _file_sink(output, format, relations, write),
            Path(late) if late else directory / "late",
            limits,
            (recent.add, *observers),
            fixed,
            _frames(spark, relations, given, compiled.setting.directory),
        )
        kernel, news = placed(job, chosen, spark)
        listener = _listening(spark, recent, metrics, held)
        query = None if news is None else _start(news, kernel, store, trigger)
        if listener is not None and query is not None:
            listener.watch(str(query.runId))
        ending = partial(kernel.end, spark) if isinstance(trigger, Once) else _no_end
        return SparkRun(query, kernel, ending, held.pop_all())


def _no_end() -> None:
    """A run that goes on forever is stopped, and resumes."""


def choose(plan: SynopsisPlan, spark: SparkSession) -> Placement:
    """On one machine the driver, which is quicker; on a cluster what scales furthest."""
    master = spark.sparkContext.master or ""
    return OnDriver() if master.startswith("local") else placements(plan)[0]


def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="obda-bm-", ignore_cleanup_errors=True)


def _listening(
    spark: SparkSession, recent: Recent, write: Callable[[str], None] | None, held: ExitStack
) -> MetricsListener | None:
    if write is None:
        return None
    listener = MetricsListener(recent, write)
    spark.streams.addListener(listener)
    held.callback(spark.streams.removeListener, listener)
    held.callback(listener.wait, 5.0)
    return listener


def _start(news: DataFrame, kernel: Kernel, store: Store, trigger: Trigger) -> StreamingQuery:
    writer = news.writeStream.foreachBatch(kernel.take).option(
        "checkpointLocation", store.checkpoint_url
    )
    match trigger:
        case Once():
            return writer.trigger(availableNow=True).start()
        case Every(seconds):
            return writer.trigger(processingTime=f"{round(seconds * 1000)} milliseconds").start()


def _frames(
    spark: SparkSession, relations: Sequence[Relation], given: Given, directory: Path
) -> dict[str, DataFrame]:
    return {
        r.name: given.streams[r.name]
        if r.name in given.streams
        else read_stream(spark, r, directory)
        for r in streams_of(relations)
    }


def _static(relations: Sequence[Relation], given: Given, directory: Path) -> dict[str, pa.Table]:
    return {
        r.name: in_order(
            _given_static(r, given.static[r.name])
            if r.name in given.static
            else read_static(r, directory)
        )
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


@contextmanager
def spoken() -> Iterator[None]:
    """What Spark complains of, as a diagnostic."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _failed(error) from None


def _failed(error: Exception) -> ExecutionError:
    """What Spark says first; the rest is a plan and a stack. What our executors say is better."""
    text = str(error)
    ours = re.search(r"ExecutionError: (.*)", text)
    first = text.partition("\n")[0].rpartition("terminated with exception: ")[2]
    java = re.search(r"^: \S*?(\w+: .*)$", text, re.MULTILINE)
    reason = ours[1] if ours else java[1] if java else first
    hint = "The state directory is intact: correct the cause and start again."
    return Mistake.SPARK_FAILED.error(f"Spark stopped: {reason}", hint)
