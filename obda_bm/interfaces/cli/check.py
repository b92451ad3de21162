"""obda-bm check QUERY: the verdict, its reasons and repairs; the exit code tells it, too."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.query import (
    AnyCompiled,
    add_max_units,
    add_query_arguments,
    print_json,
    with_query,
)
from obda_bm.ir.verdict import Bounded, Unbounded, Undecided, Verdict
from obda_bm.report.as_json import verdict_as_json
from obda_bm.report.as_text import verdict_as_text
from obda_bm.sql import render_sql


def add_arguments(parser: ArgumentParser) -> None:
    add_query_arguments(parser)
    add_max_units(parser)


def run(args: Namespace) -> ExitCode:
    def show(compiled: AnyCompiled) -> ExitCode:
        if args.json:
            print_json(verdict_as_json(compiled.verdict, render_sql, args.max_units))
        else:
            print(verdict_as_text(compiled.verdict, render_sql, args.max_units))
        return exit_code(compiled.verdict)

    return with_query(args, show)


def exit_code(verdict: Verdict) -> ExitCode:
    match verdict:
        case Bounded():
            return ExitCode.BOUNDED
        case Unbounded():
            return ExitCode.UNBOUNDED
        case Undecided():
            return ExitCode.UNDECIDED
