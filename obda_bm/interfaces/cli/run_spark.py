"""obda-bm run QUERY --engine spark: a session, a sink, a live line, and a way to stop."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from obda_bm.diagnostics import Diagnostic, Severity
from obda_bm.execution.local import Limits, RunReport, relations_of
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.sinks import Format, marker_type, open_sink
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.pipeline import Compiled
from obda_bm.planning.placement import Aggregated, OnDriver, Placement, find_key

if TYPE_CHECKING:
    from obda_bm.execution.spark.metrics import BatchMetrics
    from obda_bm.execution.spark.output import BatchSink
    from obda_bm.execution.spark.run import SparkRun


def add_spark_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--placement",
        choices=["auto", "driver", "aggregated", "keyed"],
        default="auto",
        help="where Spark keeps the state (default: on the driver, on a cluster by key)",
    )
    add("--metrics", metavar="FILE", type=Path, help="a file for figures of every batch, as JSON")
    add("--every", metavar="S", type=float, default=0.0, help="a batch every S seconds")
    add(
        "--idle-after",
        metavar="S",
        type=float,
        help="go on without a stream that sends nothing for S seconds (default: wait)",
    )


PATIENCE = 0.5
"""So many seconds pass before an interruption is noticed."""

Interrupted = Callable[[], bool]


def run_on_spark(
    args: Namespace, compiled: Compiled, plan: SynopsisPlan, interrupted: Interrupted
) -> RunReport:
    """Run until the sources are exhausted (--once), or until the user interrupts it.

    Raises:
        ExecutionError: where it cannot go on.
    """
    from obda_bm.execution.spark.session import open_session

    with ExitStack() as opened:
        session = open_session()
        opened.callback(session.stop)
        run = _start(args, compiled, session, _sink(args, plan, opened), opened)
        while not run.awaitTermination(PATIENCE):
            if interrupted():
                run.stop()
                break
        return run.report


def _start(
    args: Namespace, compiled: Compiled, session: Any, sink: BatchSink | None, opened: ExitStack
) -> SparkRun:
    from obda_bm.execution.spark.run import Every, Once, run_spark

    live = opened.enter_context(_live_line(sys.stderr))
    assert compiled.plan is not None
    return run_spark(
        compiled,
        session,
        state=args.state,
        output=args.output,
        format=Format(args.format or "jsonl"),
        sink=sink,
        late=args.late,
        placement=_placement(args, compiled.plan),
        trigger=Once() if args.once else Every(args.every),
        limits=Limits(max_pending=args.max_pending, idle_after=args.idle_after),
        observers=(live, Alarm(sys.stderr)),
        metrics=_metrics(args.metrics, opened),
    )


def _placement(args: Namespace, plan: SynopsisPlan) -> Placement | None:
    """What --placement asks for; None lets the run choose."""
    if args.placement == "auto":
        return None
    if args.placement != "keyed":
        return OnDriver() if args.placement == "driver" else Aggregated()
    key = find_key(plan)
    if key is None:
        hint = "Use --placement driver; obda-bm plan shows which columns are compared."
        message = "no column of every stream is equal in all matches"
        raise Mistake.NOT_PLACED.error(f"the query has no key: {message}", hint)
    return key


def _sink(args: Namespace, plan: SynopsisPlan, opened: ExitStack) -> BatchSink | None:
    """Standard output; None where results go to files."""
    if args.output is not None:
        return None
    format_ = Format(args.format or ("jsonl" if args.json else "table"))
    sink = opened.enter_context(open_sink(format_, None, marker_type(relations_of(plan))))

    def write(epoch: object, results: Any) -> None:
        sink.write(results)
        sys.stdout.flush()

    return write


def _metrics(path: Path | None, opened: ExitStack) -> Callable[[str], None] | None:
    if path is None:
        return None
    try:
        stream = opened.enter_context(path.open("a", encoding="utf-8"))
    except OSError as error:
        message = f"cannot write {str(path)!r}: {error.strerror}"
        hint = "Name a file in a directory that exists."
        raise Mistake.UNWRITABLE_FILE.error(message, hint) from None

    def write(line: str) -> None:
        if not stream.closed:  # Spark may tell of the last batch when all is over
            stream.write(line)
            stream.flush()

    return write


@contextmanager
def _live_line(stream: TextIO) -> Iterator[LiveLine]:
    line = LiveLine(stream)
    yield line
    line.clear()


@dataclass(slots=True)
class LiveLine:
    """One line on a terminal, renewed with every batch."""

    stream: TextIO
    begun: float = field(default_factory=time.monotonic)

    def __call__(self, metrics: BatchMetrics) -> None:
        if self.stream.isatty():
            seconds = max(time.monotonic() - self.begun, 1e-9)
            print(f"\r\x1b[K{live_text(metrics, seconds)}", end="", file=self.stream, flush=True)

    def clear(self) -> None:
        if self.stream.isatty():
            print("\r\x1b[K", end="", file=self.stream, flush=True)


def live_text(metrics: BatchMetrics, seconds: float) -> str:
    """What the live line says after so many seconds."""
    report, bound = metrics.report, metrics.bound_units
    limit = "" if bound is None else f" of {bound:,}"
    speed = report.rows_in / seconds
    return (
        f"batch {metrics.batch:,}  {report.rows_in:,} rows  {speed:,.0f} rows/s  "
        f"{metrics.units:,}{limit} units  {metrics.late:,} late"
    )


@dataclass(slots=True)
class Alarm:
    """Says once that the state is near its bound."""

    stream: TextIO
    raised: bool = False

    def __call__(self, metrics: BatchMetrics) -> None:
        if metrics.is_near_bound and not self.raised:
            self.raised = True
            print(near_bound(metrics).render(), file=self.stream)


def near_bound(metrics: BatchMetrics) -> Diagnostic:
    return Diagnostic(
        Mistake.NEAR_BOUND.value,
        f"the state has {metrics.units} of at most {metrics.bound_units} units",
        hint="It cannot grow beyond; if it did, the run would stop.",
        severity=Severity.WARNING,
    )
