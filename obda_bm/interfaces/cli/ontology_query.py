"""What the verbs share that take a query over the vocabulary: reading and unfolding it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from obda_bm.diagnostics import Diagnostic, ObdaError
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.query import complain, print_json, read_text
from obda_bm.ir.spj import Semantics
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.ir.unfolded import Unfolded
from obda_bm.mediation import Mediator, load_mediator
from obda_bm.pipeline import load_setting
from obda_bm.report.as_json import diagnostics_as_json
from obda_bm.setting import Setting
from obda_bm.syntax.sparql import parse_sparql


def read_ontology_query(name: str) -> UnionOfCQs:
    """The query in a .rq file, or on standard input.

    Raises:
        ObdaError: where it is none.
    """
    source = read_text(name)
    if name.endswith((".sql", ".starql")):
        hint = "Give a SPARQL basic graph pattern in a .rq file."
        raise ObdaError(Diagnostic("OBM003", f"{name!r} is not a SPARQL file", hint=hint))
    return parse_sparql(source)


def with_unfolded(
    args: Namespace, then: Callable[[Setting, Mediator, Unfolded], ExitCode]
) -> ExitCode:
    """Unfold the query and go on with it, or say what is wrong."""
    try:
        query = read_ontology_query(args.query)
        setting = load_setting(args.setting)
        semantics = Semantics(args.semantics) if args.semantics else Semantics.SET
        mediator = load_mediator(setting, semantics)
        return then(setting, mediator, mediator.unfold(query))
    except ObdaError as error:
        return fail(args, error)


def fail(args: Namespace, error: ObdaError) -> ExitCode:
    if args.json:
        print_json(diagnostics_as_json(error.diagnostics))
    complain(error)
    return ExitCode.ERROR
