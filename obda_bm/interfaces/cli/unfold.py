"""obda-bm unfold QUERY: the SQL that a query over the vocabulary becomes."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from functools import partial

from obda_bm.diagnostics import Diagnostic, ObdaError
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.ontology_query import fail, with_unfolded
from obda_bm.interfaces.cli.query import AnyCompiled, print_json, with_query
from obda_bm.ir.spj import Semantics
from obda_bm.ir.unfolded import Unfolded
from obda_bm.mediation import Mediator
from obda_bm.pipeline import CompiledWindow
from obda_bm.report.as_json import Json, diagnostics_as_json
from obda_bm.setting import Setting
from obda_bm.sql import render_sql


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "query", metavar="QUERY", help="a .rq or .starql file, or - for SPARQL on standard input"
    )
    parser.add_argument("--setting", metavar="FILE", default="obda.toml", help="the setting file")
    parser.add_argument("--dialect", metavar="NAME", help="of the SQL, as sqlglot calls it")
    parser.add_argument(
        "--semantics",
        choices=[s.value for s in Semantics],
        help="what happens to duplicates (default: set)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> ExitCode:
    if args.query.endswith(".starql"):
        return with_query(args, partial(_show_starql, args))

    def show(_setting: Setting, _mediator: Mediator, unfolded: Unfolded) -> ExitCode:
        return _show(args, unfolded)

    return with_unfolded(args, show)


def _show_starql(args: Namespace, compiled: AnyCompiled) -> ExitCode:
    if isinstance(compiled, CompiledWindow):
        hint = "Ask obda-bm plan: it shows the queries of every pattern."
        message = "a query that is evaluated window by window is no single SQL query"
        return fail(args, ObdaError(Diagnostic("OBM456", message, hint=hint)))
    assert compiled.semantic is not None, "STARQL has semantic forms"
    return _show(args, compiled.semantic.unfolded)


def _show(args: Namespace, unfolded: Unfolded) -> ExitCode:
    if args.json:
        print_json(unfolded_as_json(unfolded, args.dialect))
    else:
        for warning in unfolded.warnings:
            print(warning.render(), file=sys.stderr)
        print(unfolded_as_sql(unfolded, args.dialect))
    return ExitCode.BOUNDED


def unfolded_as_sql(unfolded: Unfolded, dialect: str | None = None) -> str:
    """The SQL, with comments that say which mapping gave which part, and what the columns make."""
    if unfolded.query is None:
        columns = ", ".join(f"1 AS {name}" for name in unfolded.names) or "1"
        return f"-- no mapping can give an answer\nSELECT {columns} WHERE 1 = 0"
    notes = [
        (
            *(f"{name}: {term}" for name, term in zip(unfolded.names, branch.terms, strict=True)),
            *map(str, branch.origins),
        )
        for branch in unfolded.branches
    ]
    return render_sql(unfolded.query, dialect, notes)


def unfolded_as_json(unfolded: Unfolded, dialect: str | None) -> dict[str, Json]:
    return {
        "sql": unfolded_as_sql(unfolded, dialect),
        "branches": len(unfolded.branches),
        "answers": list(unfolded.names),
        "terms": [[str(term) for term in branch.terms] for branch in unfolded.branches],
        "mappings": [[str(origin) for origin in b.origins] for b in unfolded.branches],
        "warnings": diagnostics_as_json(unfolded.warnings)["errors"],
    }
