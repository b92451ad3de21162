"""obda-bm run QUERY, where windows are evaluated one by one."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from dataclasses import asdict

import pyarrow as pa

from obda_bm.execution.answer_terms import written
from obda_bm.execution.local import Limits, RunReport
from obda_bm.execution.markers import LateRows
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.sinks import Format, open_sink
from obda_bm.execution.sources import read_source
from obda_bm.execution.windowed import WindowAnswers, run_windowed
from obda_bm.ir.sqltypes import TIMESTAMP
from obda_bm.pipeline import CompiledWindow


def run_windows(args: Namespace, compiled: CompiledWindow, on_late: LateRows) -> RunReport:
    """Run it; terms are written as texts.

    Raises:
        ExecutionError: where the engine cannot, or rows do not fit.
    """
    if args.engine != "local":
        message = "windows that slide are evaluated by the local engine only"
        raise Mistake.ONLY_LOCAL.error(message, "Add --engine local.")
    plan, directory = compiled.plan, compiled.setting.directory
    tables = {r.name: read_source(r, directory, args.batch_rows) for r in plan.relations}
    run = run_windowed(plan, tables, on_late, Limits(args.batch_rows, args.max_pending))
    format_ = Format(args.format or ("jsonl" if args.json else "table"))
    with open_sink(format_, args.output, TIMESTAMP) as sink:
        for answers in run:
            sink.write(_as_table(answers))
    return run.report


def _as_table(answers: WindowAnswers) -> pa.Table:
    columns = [
        pa.array([written(row[i]) for row in answers.rows], pa.string())
        for i in range(len(answers.names))
    ]
    times = pa.array([answers.time] * len(answers.rows), pa.int64())
    counts = pa.array([1] * len(answers.rows), pa.int64())
    return pa.table([times, *columns, counts], names=["time", *answers.names, "count"])


def write_report(args: Namespace, report: RunReport) -> str:
    """The report on stderr; as JSON for a file."""
    text = json.dumps(asdict(report))
    found = f"{report.rows_in:,} rows in, {report.results:,} results, {report.late:,} late rows; "
    words = f"{found}peak {report.peak_units:,} tuples in a window"
    print(text if args.json else words, file=sys.stderr)
    return text
