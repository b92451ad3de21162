"""obda-bm run QUERY --engine spark: a session, a sink, a live line, and a way to stop."""

from __future__ import annotations

import signal
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

if TYPE_CHECKING:
    from obda_bm.execution.spark.metrics import BatchMetrics
    from obda_bm.execution.spark.output import BatchSink


def add_spark_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--state", metavar="DIR", type=Path, help="where Spark keeps what survives; resumes there")
    add("--metrics", metavar="FILE", type=Path, help="a file for figures of every batch, as JSON")
    add("--every", metavar="S", type=float, default=0.0, help="a batch every S seconds")
    add(
        "--idle-after",
        metavar="S",
        type=float,
        help="go on without a stream that sends nothing for S seconds (default: wait)",
    )


def run_on_spark(args: Namespace, compiled: Compiled, plan: SynopsisPlan) -> RunReport:
    """Run until the sources are exhausted (--once), or until the user stops it.

    Raises:
        ExecutionError: where it cannot go on.
    """
    from obda_bm.execution.spark.session import open_session

    with ExitStack() as opened:
        session = open_session()
        opened.callback(session.stop)
        return _run(args, compiled, session, _sink(args, plan, opened), opened)


def _run(
    args: Namespace, compiled: Compiled, session: Any, sink: BatchSink | None, opened: ExitStack
) -> RunReport:
    from obda_bm.execution.spark.run import Every, Once, run_spark

    live = opened.enter_context(_live_line(sys.stderr))
    run = run_spark(
        compiled,
        session,
        state=args.state,
        output=args.output,
        format=Format(args.format or "jsonl"),
        sink=sink,
        late=args.late,
        trigger=Once() if args.once else Every(args.every),
        limits=Limits(max_pending=args.max_pending, idle_after=args.idle_after),
        observers=(live, Alarm(sys.stderr)),
        metrics=_metrics(args.metrics, opened),
    )
    with _stoppable():
        try:
            run.awaitTermination()
        except KeyboardInterrupt:
            run.stop()
    return run.report


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
def _stoppable() -> Iterator[None]:
    """SIGTERM stops the run as Ctrl-C does."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
