"""obda-bm explain QUERY: every stage, every condition with its source, the verdict."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from obda_bm.analysis import describe
from obda_bm.diagnostics import Diagnostic
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.check import exit_code
from obda_bm.interfaces.cli.query import (
    AnyCompiled,
    add_max_units,
    add_query_arguments,
    print_json,
    with_query,
)
from obda_bm.pipeline import Compiled, CompiledWindow
from obda_bm.report.as_json import explanation_as_json, verdict_as_json
from obda_bm.sql import render_sql


def add_arguments(parser: ArgumentParser) -> None:
    add_query_arguments(parser)
    add_max_units(parser)
    parser.add_argument(
        "--html", metavar="FILE", type=Path, help="write a page with pictures instead of text"
    )


def run(args: Namespace) -> ExitCode:
    def show(compiled: AnyCompiled) -> ExitCode:
        if isinstance(compiled, CompiledWindow):
            return _show_window(args, compiled)
        if args.json:
            stages = explanation_as_json(compiled.query, describe(compiled.query))
            verdict = verdict_as_json(compiled.verdict, render_sql, args.max_units)
            print_json({"stages": stages, **verdict})
        if args.html is not None:
            return _write_page(args.html, compiled)
        if not args.json:
            print(compiled.explain())
        return exit_code(compiled.verdict)

    return with_query(args, show)


def _show_window(args: Namespace, compiled: CompiledWindow) -> ExitCode:
    if args.html is not None:
        hint = "Leave out --html: the text has every stage."
        message = "there is no page for queries that are evaluated window by window"
        print(Diagnostic("OBM004", message, hint=hint).render(), file=sys.stderr)
        return ExitCode.ERROR
    if args.json:
        verdict = verdict_as_json(compiled.verdict, render_sql, args.max_units)
        print_json({"stages": str(compiled.plan).splitlines(), **verdict})
    else:
        print(compiled.explain())
    return exit_code(compiled.verdict)


def _write_page(path: Path, compiled: Compiled) -> ExitCode:
    try:
        path.write_text(compiled.page(), encoding="utf-8")
    except OSError as error:
        message = f"cannot write the page {str(path)!r}: {error.strerror}"
        hint = "Name a file in a directory that exists."
        print(Diagnostic("OBM003", message, hint=hint).render(), file=sys.stderr)
        return ExitCode.ERROR
    return exit_code(compiled.verdict)
