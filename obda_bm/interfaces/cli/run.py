"""obda-bm run QUERY: execute a bounded query; results to stdout, the report to stderr."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import TextIO

from obda_bm.diagnostics import Diagnostic, ObdaError
from obda_bm.execution.durable import Destination, Reading, run_durably
from obda_bm.execution.local import Limits, Progress, RunReport, relations_of, steps
from obda_bm.execution.markers import MAX_PENDING, LateRows
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.sinks import Format, json_rows, marker_type, open_sink
from obda_bm.execution.sources import BATCH_ROWS, read_source, read_static
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.check import exit_code
from obda_bm.interfaces.cli.query import AnyCompiled, add_query_arguments, with_query
from obda_bm.interfaces.cli.run_spark import add_spark_arguments, run_on_spark
from obda_bm.ir.catalog import Extent
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.pipeline import Compiled, CompiledWindow
from obda_bm.report.as_json import diagnostics_as_json


def add_arguments(parser: ArgumentParser) -> None:
    add_query_arguments(parser)
    add = parser.add_argument
    add("--engine", choices=list(ENGINES), default="spark", help="what executes the query")
    formats = [*(f.value for f in Format), "json"]
    add("--format", choices=formats, help="of the results (default: table); json for .rq")
    add("--database", metavar="URL", help="for .rq: a DuckDB file or postgresql://… to ask")
    add(
        "--output",
        metavar="PATH",
        type=Path,
        help="a file for the results, with Spark a directory (default: stdout)",
    )
    add("--report", metavar="FILE", type=Path, help="a file for the final report, as JSON")
    add("--late", metavar="FILE", type=Path, help="a file for rows that came too late, as JSON")
    add("--budget", metavar="K", type=_positive, help="keep K tuples of what is not bounded")
    add("--once", action="store_true", help="stop when the sources are exhausted")
    add("--state", metavar="DIR", type=Path, help="keep the state there; the same command resumes")
    add("--batch-rows", metavar="N", type=_positive, default=BATCH_ROWS, help="read N rows at once")
    add(
        "--max-pending",
        metavar="N",
        type=_positive,
        default=MAX_PENDING,
        help="give up when more than N rows wait for a stream that lags behind",
    )
    add_spark_arguments(parser)


def run(args: Namespace) -> ExitCode:
    if args.query.endswith(".rq"):
        from obda_bm.interfaces.cli.answer import answer

        return answer(args)

    def execute(compiled: AnyCompiled) -> ExitCode:
        if isinstance(compiled, CompiledWindow):
            return _run_windows(args, compiled)
        plan = compiled.plan
        if plan is None and args.budget is None:
            return _refuse(compiled)
        try:
            if plan is None:
                return _run_budgeted(args, compiled)
            # Opened before anything is read: a report that cannot be written is said now.
            with ExitStack() as opened:
                report_file = None if args.report is None else _open(args.report, opened)
                done = ENGINES[args.engine](args, compiled, plan)
                _write_report(args, done.report, report_file)
        except ObdaError as error:
            return _fail(args, error)
        return ExitCode.INTERRUPTED if done.interrupted else ExitCode.BOUNDED

    return with_query(args, execute)


def _run_windows(args: Namespace, compiled: CompiledWindow) -> ExitCode:
    from obda_bm.interfaces.cli.run_windows import run_windows, write_report

    try:
        with _complaining(args.output), ExitStack() as opened:
            report_file = None if args.report is None else _open(args.report, opened)
            done = run_windows(args, compiled, _late_rows(args.late, opened))
            text = write_report(args, done)
            if report_file is not None:
                print(text, file=report_file)
    except ObdaError as error:
        return _fail(args, error)
    return ExitCode.BOUNDED


def _run_budgeted(args: Namespace, compiled: Compiled) -> ExitCode:
    from obda_bm.interfaces.cli.run_budget import run_budgeted

    with ExitStack() as opened:
        report_file = None if args.report is None else _open(args.report, opened)
        text = run_budgeted(args, compiled, _late_rows(args.late, opened))
        if report_file is not None:
            print(text, file=report_file)
    return ExitCode.BOUNDED


def _run_local(args: Namespace, compiled: Compiled, plan: SynopsisPlan) -> Tally:
    run = Tally(RunReport(plan.bound.units))
    start = _started if args.state is None else _resumed
    with _complaining(args.output), ExitStack() as opened:
        run.follow(_shown(args, start(args, compiled.setting.directory, plan, opened)))
    return run


def _started(
    args: Namespace, directory: Path, plan: SynopsisPlan, opened: ExitStack
) -> Generator[Progress]:
    """A run from the beginning."""
    relations = relations_of(plan)
    tables = {r.name: read_source(r, directory, args.batch_rows) for r in relations}
    format_ = Format(args.format or ("jsonl" if args.json else "table"))
    on_late = _late_rows(args.late, opened)
    sink = opened.enter_context(open_sink(format_, args.output, marker_type(relations)))
    for step in steps(plan, tables, on_late, Limits(args.batch_rows, args.max_pending)):
        if step.results is not None:
            with _undisturbed():
                sink.write(step.results)
        yield step


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait: a write to a full pipe that one interrupts may lose what it has not written."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
        sys.stdout.flush()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def _resumed(
    args: Namespace, directory: Path, plan: SynopsisPlan, _opened: ExitStack
) -> Generator[Progress]:
    """A run that goes on where the last one with the same state directory has stopped."""
    relations = relations_of(plan)
    static = [r for r in relations if r.extent is Extent.STATIC]
    reading = Reading(
        {r: read_source(r, directory, args.batch_rows) for r in relations if r not in static},
        {r.name: read_static(r, directory) for r in static},
        args.max_pending,
    )
    format_ = Format(args.format or "jsonl")
    destination = Destination(format_, marker_type(relations), args.output, args.late)
    return run_durably(plan, reading, args.state, destination, sys.stdout)


@dataclass(slots=True)
class Tally:
    """The report of a run so far. Ctrl-C ends it after the current batch, a second one at once.

    To stop in the middle of a batch would leave half a line of output behind.
    """

    report: RunReport
    interrupted: bool = False

    def follow(self, progress: Generator[Progress]) -> None:
        with _on_signals(self.stop), closing(progress):
            for step in progress:
                self.report = step.report
                if self.interrupted:
                    break

    def stop(self, _number: int, _frame: object) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True


@contextmanager
def _on_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def _complaining(output: Path | None) -> Iterator[None]:
    """What the system says when it does not take what is written, as a diagnostic."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has seen enough: nothing to complain about
    except OSError as error:
        if output is None:
            # Python flushes standard output once more when it ends, and would complain again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        name = "standard output" if output is None else repr(str(output))
        message = f"cannot write to {name}: {error.strerror or error}"
        hint = "What came before was written; make room, or name another place."
        raise Mistake.UNWRITABLE_FILE.error(message, hint) from None


def _late_rows(path: Path | None, opened: ExitStack) -> LateRows:
    """Writes late rows as lines of JSON."""
    if path is None:
        return lambda _stream, _rows: None
    stream = _open(path, opened)

    def write(name: str, rows: object) -> None:
        lines = (
            json.dumps({"stream": name, "row": r}, ensure_ascii=False) for r in json_rows(rows)
        )
        with _complaining(path):
            stream.writelines(f"{line}\n" for line in lines)

    return write


def _open(path: Path, opened: ExitStack) -> TextIO:
    opened.enter_context(_complaining(path))  # for what is written when it is closed
    try:
        return opened.enter_context(path.open("w", encoding="utf-8"))
    except OSError as error:
        message = f"cannot write {str(path)!r}: {error.strerror}"
        hint = "Name a file in a directory that exists."
        raise Mistake.UNWRITABLE_FILE.error(message, hint) from None


def _shown(args: Namespace, progress: Generator[Progress]) -> Generator[Progress]:
    """The same, with a line on the terminal that tells how far it is.

    Not where the results go to the terminal, too: they show it, and the line would be in their way.
    """
    results_there = args.output is None and sys.stdout.isatty()
    with closing(progress):
        if results_there or not sys.stderr.isatty():
            yield from progress
            return
        meter = Meter()
        try:
            for step in progress:
                meter.show(step)
                yield step
        finally:
            meter.clear()


@dataclass(slots=True)
class Meter:
    """One line on stderr, at most ten times a second."""

    begun: float = field(default_factory=time.monotonic)
    shown: float = 0.0

    def show(self, step: Progress) -> None:
        now = time.monotonic()
        if now - self.shown < 0.1:
            return
        self.shown = now
        rows = step.report.rows_in
        speed = rows / max(now - self.begun, 1e-9)
        text = f"{rows:,} rows  {speed:,.0f} rows/s  {step.units:,} units"
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _write_report(args: Namespace, report: RunReport, file: TextIO | None) -> None:
    text = json.dumps(asdict(report))
    print(text if args.json else report_as_text(report), file=sys.stderr)
    if file is not None:
        print(text, file=file)


def report_as_text(report: RunReport) -> str:
    """The report in one line.

    >>> report_as_text(RunReport(bound_units=5, rows_in=1200, results=34, peak_units=4))
    '1,200 rows in, 34 results, 0 late rows; peak 4 of at most 5 units'
    """
    bound = "" if report.bound_units is None else f" of at most {report.bound_units:,}"
    return (
        f"{report.rows_in:,} rows in, {report.results:,} results, {report.late:,} late rows; "
        f"peak {report.peak_units:,}{bound} units"
    )


def _refuse(compiled: Compiled) -> ExitCode:
    print(compiled, file=sys.stderr)
    print(f"hint: {_REFUSED}", file=sys.stderr)
    return exit_code(compiled.verdict)


_REFUSED = "Repair the query as told above, or give it a memory budget: --budget K."


def _fail(args: Namespace, error: ObdaError) -> ExitCode:
    if args.json:
        print(json.dumps(diagnostics_as_json(error.diagnostics)), file=sys.stderr)
    else:
        print("\n".join(map(Diagnostic.render, error.diagnostics)), file=sys.stderr)
    return ExitCode.ERROR


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a positive number, found {text!r}")
    return int(text)


def _run_on_spark(args: Namespace, compiled: Compiled, plan: SynopsisPlan) -> Tally:
    run = Tally(RunReport(plan.bound.units))
    with _complaining(None), _on_signals(run.stop):
        run.report = run_on_spark(args, compiled, plan, lambda: run.interrupted)
    return run


ENGINES: Mapping[str, Callable[[Namespace, Compiled, SynopsisPlan], Tally]] = {
    "spark": _run_on_spark,
    "local": _run_local,
}
