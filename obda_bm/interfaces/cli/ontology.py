"""What the verbs that need an ontology share: naming it, and saying what of it is not used."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from obda_bm.diagnostics import Diagnostic, ObdaError, OntologyError
from obda_bm.pipeline import load_ontology, load_setting

if TYPE_CHECKING:
    from obda_bm.ontology import Ontology


def add_ontology_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--ontology",
        metavar="FILE",
        action="append",
        default=[],
        help="an OWL file, in any RDF syntax or OWL/XML; may be given several times",
    )
    parser.add_argument("--setting", metavar="FILE", help="a setting file that names the ontology")
    parser.add_argument(
        "--strict", action="store_true", help="refuse an ontology that leaves OWL 2 QL"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def ontology_files(args: Namespace) -> tuple[Path, ...]:
    """The files that the arguments name, themselves or through the setting."""
    named = tuple(map(Path, args.ontology))
    if named or args.setting is None:
        return named
    return load_setting(args.setting).ontologies


def read_named_ontology(args: Namespace) -> Ontology:
    """The ontology that the arguments name."""
    from obda_bm.ontology import Profile

    files = ontology_files(args)
    if not files:
        hint = "Give --ontology FILE, or --setting FILE with an [ontology]."
        raise OntologyError(Diagnostic("OBM600", "there is no ontology", hint=hint))
    return load_ontology(*files, profile=Profile.REFUSE if args.strict else Profile.REPORT)


def mention_unused(ontology: Ontology) -> None:
    """A line on stderr if something in the ontology was left aside."""
    if ontology.diagnostics:
        number = len(ontology.diagnostics)
        print(
            f"note: {number} {'part' if number == 1 else 'parts'} of the ontology not used; "
            "obda-bm validate tells which",
            file=sys.stderr,
        )


__all__ = ["ObdaError", "add_ontology_arguments", "mention_unused", "read_named_ontology"]
