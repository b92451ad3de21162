"""obda-bm explain QUERY: every stage, every condition with its source, the verdict."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from obda_bm.analysis import describe
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.check import exit_code
from obda_bm.interfaces.cli.query import add_max_units, add_query_arguments, print_json, with_query
from obda_bm.pipeline import Compiled
from obda_bm.report.as_json import explanation_as_json, verdict_as_json
from obda_bm.sql import render_sql


def add_arguments(parser: ArgumentParser) -> None:
    add_query_arguments(parser)
    add_max_units(parser)


def run(args: Namespace) -> ExitCode:
    def show(compiled: Compiled) -> ExitCode:
        if args.json:
            stages = explanation_as_json(compiled.query, describe(compiled.query))
            verdict = verdict_as_json(compiled.verdict, render_sql, args.max_units)
            print_json({"stages": stages, **verdict})
        else:
            print(compiled.explain())
        return exit_code(compiled.verdict)

    return with_query(args, show)
