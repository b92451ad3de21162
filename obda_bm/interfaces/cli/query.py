"""What all verbs that take a query share: reading it, and reporting what is wrong with it."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from obda_bm.diagnostics import Diagnostic, ObdaError, OutsideFragment, SourceText
from obda_bm.interfaces.cli import ExitCode
from obda_bm.ir.spj import Semantics
from obda_bm.pipeline import (
    MAX_UNITS,
    Compiled,
    CompiledWindow,
    compile_query,
    compile_sql,
    load_setting,
)
from obda_bm.report.as_json import Json, diagnostics_as_json, outside_as_json

AnyCompiled = Compiled | CompiledWindow


def add_query_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "query", metavar="QUERY", help="a .sql or .starql file, or - for SQL on standard input"
    )
    parser.add_argument("--setting", metavar="FILE", default="obda.toml", help="the setting file")
    parser.add_argument(
        "--semantics",
        choices=[s.value for s in Semantics],
        help="override what DISTINCT says",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_max_units(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--max-units",
        type=int,
        default=MAX_UNITS,
        metavar="N",
        help="warn about a bound above N units (default: %(default)s)",
    )


def with_query(args: Namespace, then: Callable[[AnyCompiled], ExitCode]) -> ExitCode:
    """Compile the query and go on with it, or say what is wrong with it."""
    semantics = Semantics(args.semantics) if args.semantics else None
    try:
        compiled = _compile(args, semantics)
    except OutsideFragment as error:
        if args.json:
            print_json(outside_as_json(error.diagnostics, semantics or Semantics.BAG))
        complain(error)
        return ExitCode.UNDECIDED
    except ObdaError as error:
        if args.json:
            print_json(diagnostics_as_json(error.diagnostics))
        complain(error)
        return ExitCode.ERROR
    return then(compiled)


def _compile(args: Namespace, semantics: Semantics | None) -> AnyCompiled:
    source = read_text(args.query)
    if args.query.endswith(".rq"):
        hint = "Ask obda-bm unfold or run for it; continuous queries are SQL or STARQL."
        raise ObdaError(Diagnostic("OBM002", f"{args.query!r} is a one-shot query", hint=hint))
    setting = load_setting(args.setting)
    if args.query.endswith(".starql"):
        return compile_query(source, setting, semantics)
    return compile_sql(source, setting, semantics)


def read_text(name: str) -> SourceText:
    """The text of the query file, whatever its language, or of standard input."""
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        text = raw.decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        hint = "Give the path of a query file, or - for standard input."
        raise ObdaError(
            Diagnostic("OBM001", f"cannot read the query {name!r}: {reason}", hint=hint)
        ) from None
    return SourceText("<stdin>" if name == "-" else name, text)


def print_json(value: Json) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def complain(error: ObdaError) -> None:
    for diagnostic in error.diagnostics:
        print(diagnostic.render(), file=sys.stderr)
