"""obda-bm rewrite QUERY: the union of conjunctive queries that gives all certain answers."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from obda_bm.diagnostics import ObdaError, Span
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.ontology import (
    add_ontology_arguments,
    mention_unused,
    read_named_ontology,
)
from obda_bm.interfaces.cli.query import complain, print_json, read_text
from obda_bm.pipeline import rewrite
from obda_bm.report.as_json import Json, diagnostics_as_json
from obda_bm.report.ucq_as_sparql import ucq_as_sparql

if TYPE_CHECKING:
    from obda_bm.ir.tbox import Axiom
    from obda_bm.rewriting import Rewriting


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "query",
        metavar="QUERY",
        help="a .rq file with a basic graph pattern, a file with rules, or - for standard input",
    )
    add_ontology_arguments(parser)
    parser.add_argument(
        "--compiled",
        action="store_true",
        help="leave hierarchies folded: an atom stands for everything below it",
    )
    parser.add_argument("--sparql", action="store_true", help="print SPARQL")
    parser.add_argument(
        "--chains", action="store_true", help="print the axioms that led to each query"
    )


def run(args: Namespace) -> ExitCode:
    from obda_bm.rewriting import Form

    try:
        source = read_text(args.query)
        ontology = read_named_ontology(args)
        form = Form.COMPILED if args.compiled else Form.FLAT
        rewriting = rewrite(source, ontology, form)
    except ObdaError as error:
        if args.json:
            print_json(diagnostics_as_json(error.diagnostics))
        complain(error)
        return ExitCode.ERROR
    mention_unused(ontology)
    _print(rewriting, args)
    return ExitCode.BOUNDED


def _print(rewriting: Rewriting, args: Namespace) -> None:
    if args.json:
        print_json(rewriting_as_json(rewriting))
    elif args.sparql:
        print(ucq_as_sparql(rewriting.ucq))
    elif args.chains:
        for derived, chain in zip(rewriting.derived, rewriting.chains, strict=True):
            print(derived.query)
            for axiom in chain:
                print(f"  # {_with_place(axiom)}")
    elif len(rewriting):
        print(rewriting)


def rewriting_as_json(rewriting: Rewriting) -> Json:
    """The JSON of `rewrite`."""
    return {
        "size": len(rewriting),
        "ucq": [str(derived.query) for derived in rewriting.derived],
        "form": rewriting.form.value,
        "sparql": ucq_as_sparql(rewriting.ucq),
        "chains": [[_with_place(axiom) for axiom in chain] for chain in rewriting.chains],
    }


def _with_place(axiom: Axiom) -> str:
    span: Span | None = axiom.span
    return f"{axiom}" if span is None else f"{axiom}  ({span.source.name}:{span.line})"
