"""obda-bm witness QUERY: the streams that force memory to grow, as runnable data."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.query import AnyCompiled, add_query_arguments, print_json, with_query
from obda_bm.ir.verdict import Bounded
from obda_bm.pipeline import Compiled
from obda_bm.report.as_json import witness_as_json
from obda_bm.report.as_text import witness_as_sql


def add_arguments(parser: ArgumentParser) -> None:
    add_query_arguments(parser)
    parser.add_argument(
        "--n", type=_positive, default=8, metavar="N", help="candidates (default: %(default)s)"
    )


def run(args: Namespace) -> ExitCode:
    def show(compiled: AnyCompiled) -> ExitCode:
        found = compiled.witness(args.n) if isinstance(compiled, Compiled) else None
        if found is None:
            bounded = isinstance(compiled.verdict, Bounded)
            print(f"no witness: the query is {compiled.verdict.name}", file=sys.stderr)
            return ExitCode.UNBOUNDED if bounded else ExitCode.UNDECIDED
        if args.json:
            print_json(witness_as_json(*found))
        else:
            print(witness_as_sql(*found))
        return ExitCode.BOUNDED

    return with_query(args, show)


def _positive(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise ArgumentTypeError(f"expected a number from 1 to 1000, found {text!r}")
    return int(text)
