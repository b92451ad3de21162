"""obda-bm run QUERY --budget K: execute what is not bounded with at most K tuples kept."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from obda_bm.execution.local import Limits
from obda_bm.execution.markers import LateRows
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.sinks import Format, marker_type, open_sink
from obda_bm.execution.sources import read_source
from obda_bm.pipeline import Compiled


def run_budgeted(args: Namespace, compiled: Compiled, on_late: LateRows) -> str:
    """Run it; the report as JSON, which also stands on stderr in words.

    Raises:
        ObdaError: where the query is no join that a budget helps, or rows do not fit.
    """
    from obda_bm.execution.budgeted import BudgetReport, budgeted_steps

    if args.engine != "local":
        hint = "Add --engine local."
        raise Mistake.ONLY_LOCAL.error("a budget is kept by the local engine only", hint)
    directory: Path = compiled.setting.directory
    used = [o.relation for branch in compiled.query.branches for o in branch.occurrences]
    relations = tuple({relation.name: relation for relation in used}.values())
    tables = {r.name: read_source(r, directory, args.batch_rows) for r in relations}
    limits = Limits(args.batch_rows, args.max_pending)
    format_ = Format(args.format or ("jsonl" if args.json else "table"))
    report = BudgetReport(args.budget)
    with open_sink(format_, args.output, marker_type(relations)) as sink:
        steps = budgeted_steps(compiled.query, tables, args.budget, on_late=on_late, limits=limits)
        for step in steps:
            sink.write(step.results)
            report = step.report
    text = json.dumps({**asdict(report), "exact": report.exact})
    print(text if args.json else report, file=sys.stderr)
    return text
