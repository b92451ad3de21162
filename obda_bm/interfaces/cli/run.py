"""obda-bm run QUERY: execute a bounded query; results to stdout, the report to stderr."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from obda_bm.diagnostics import Diagnostic, ObdaError
from obda_bm.execution.local import Limits, Progress, RunReport, relations_of, steps
from obda_bm.execution.markers import MAX_PENDING, LateRows
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.sinks import Format, json_rows, open_sink
from obda_bm.execution.sources import BATCH_ROWS, read_source
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.check import exit_code
from obda_bm.interfaces.cli.query import add_query_arguments, with_query
from obda_bm.interfaces.cli.run_spark import add_spark_arguments, run_on_spark
from obda_bm.ir.catalog import Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.sqltypes import INTEGER, TIMESTAMP, SqlType
from obda_bm.pipeline import Compiled
from obda_bm.report.as_json import diagnostics_as_json


def add_arguments(parser: ArgumentParser) -> None:
    add_query_arguments(parser)
    add = parser.add_argument
    add("--engine", choices=["spark", "local"], default="spark", help="what executes the query")
    add("--format", choices=[f.value for f in Format], help="of the results (default: table)")
    add("--output", metavar="PATH", type=Path, help="a file for the results (default: stdout)")
    add("--report", metavar="FILE", type=Path, help="a file for the final report, as JSON")
    add("--late", metavar="FILE", type=Path, help="a file for rows that came too late, as JSON")
    add("--once", action="store_true", help="stop when the sources are exhausted")
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
    def run_compiled(compiled: Compiled) -> ExitCode:
        if compiled.plan is None:
            return _refuse(compiled)
        try:
            execute = _run_local if args.engine == "local" else run_on_spark
            report = execute(args, compiled, compiled.plan)
            _write_report(args, report)
        except ObdaError as error:
            return _fail(args, error)
        return ExitCode.BOUNDED

    return with_query(args, run_compiled)


def _run_local(args: Namespace, compiled: Compiled, plan: SynopsisPlan) -> RunReport:
    relations = relations_of(plan)
    directory = compiled.setting.directory
    tables = {r.name: read_source(r, directory, args.batch_rows) for r in relations}
    limits = Limits(args.batch_rows, args.max_pending)
    format_ = Format(args.format or ("jsonl" if args.json else "table"))
    report = RunReport(plan.bound.units)
    with ExitStack() as opened:
        on_late = _late_rows(args.late, opened)
        sink = opened.enter_context(open_sink(format_, args.output, _marker_type(relations)))
        for step in _shown(steps(plan, tables, on_late, limits)):
            if step.results is not None:
                sink.write(step.results)
            report = step.report
    return report


def _marker_type(relations: tuple[Relation, ...]) -> SqlType:
    """The type of the markers: that of the streams' time, where they agree."""
    types = {r.column(r.time).type for r in relations if r.time is not None}
    return types.pop() if len(types) == 1 else TIMESTAMP if types else INTEGER


def _late_rows(path: Path | None, opened: ExitStack) -> LateRows:
    """Writes late rows as lines of JSON."""
    if path is None:
        return lambda _stream, _rows: None
    stream = opened.enter_context(_writable(path))

    def write(name: str, rows: object) -> None:
        for row in json_rows(rows):
            line = {"stream": name, "row": row}
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")

    return write


def _writable(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        message = f"cannot write {str(path)!r}: {error.strerror}"
        hint = "Name a file in a directory that exists."
        raise Mistake.UNWRITABLE_FILE.error(message, hint) from None


def _shown(progress: Iterator[Progress]) -> Iterator[Progress]:
    """The same, with a line on the terminal that tells how far it is."""
    if not sys.stderr.isatty():
        yield from progress
        return
    meter = Meter()
    for step in progress:
        meter.show(step)
        yield step
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


def _write_report(args: Namespace, report: RunReport) -> None:
    text = json.dumps(asdict(report))
    print(text if args.json else report_as_text(report), file=sys.stderr)
    if args.report is not None:
        with _writable(args.report) as stream:
            stream.write(text + "\n")


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


_REFUSED = "Only bounded queries run; repair the query as told above, or see obda-bm explain."


def _fail(args: Namespace, error: ObdaError) -> ExitCode:
    if args.json:
        print(json.dumps(diagnostics_as_json(error.diagnostics)), file=sys.stderr)
    else:
        print("\n".join(map(Diagnostic.render, error.diagnostics)), file=sys.stderr)
    return ExitCode.ERROR


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
