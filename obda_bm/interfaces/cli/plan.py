"""obda-bm plan QUERY: which states a bounded query keeps, what fills them, what reads them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.check import exit_code
from obda_bm.interfaces.cli.query import AnyCompiled, add_query_arguments, print_json, with_query
from obda_bm.ir.plan_outline import outline
from obda_bm.pipeline import MAX_UNITS, CompiledWindow
from obda_bm.planning.placement import placements
from obda_bm.report.as_json import verdict_as_json
from obda_bm.report.plan_as_json import plan_as_json
from obda_bm.sql import render_sql


def add_arguments(parser: ArgumentParser) -> None:
    add_query_arguments(parser)


def run(args: Namespace) -> ExitCode:
    def show(compiled: AnyCompiled) -> ExitCode:
        if isinstance(compiled, CompiledWindow):
            return _show_window(args, compiled)
        plan = compiled.plan
        if plan is None:
            print(compiled, file=sys.stderr)
            if args.json:
                print_json(verdict_as_json(compiled.verdict, render_sql, MAX_UNITS))
        elif args.json:
            places = [str(placement) for placement in placements(plan)]
            print_json({**plan_as_json(outline(plan)), "placements": places})
        else:
            print(plan)
            print(f"on Spark: {' or '.join(map(str, placements(plan)))}")
        return exit_code(compiled.verdict)

    return with_query(args, show)


def _show_window(args: Namespace, compiled: CompiledWindow) -> ExitCode:
    bound = compiled.plan.bound
    if args.json:
        size = {"units": bound.units, "formula": bound.formula}
        print_json({"bound": size, "window": str(compiled.plan).splitlines()})
    else:
        print(compiled.plan)
    return exit_code(compiled.verdict)
