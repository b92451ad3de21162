"""The command line: one file per verb, none with logic that the library lacks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from enum import IntEnum
from importlib import import_module

from obda_bm import __version__

VERBS = {
    "check": "say whether a query runs in bounded memory, and why",
    "explain": "show every stage of a query and every condition that was checked",
    "plan": "show the states of a bounded query: keys, values, what fills and reads them",
    "rewrite": "rewrite a query with the axioms of an ontology",
    "validate": "check an ontology and mappings, and report what is wrong with them",
    "unfold": "print the SQL that a query over the vocabulary becomes",
    "materialize": "print the RDF that the mappings make of the data, as N-Quads",
    "witness": "print streams that force the memory of an unbounded query to grow",
    "run": "execute a bounded query over the sources of the setting",
    "state": "show what a run on Spark has written down",
    "fmt": "lay out STARQL files in the usual way; comments stay",
    "bench": "rerun the experiments on joins within a memory budget",
    "demo": "decide bundled example queries, no arguments needed",
}


class ExitCode(IntEnum):
    BOUNDED = 0
    UNBOUNDED = 1
    ERROR = 2
    UNDECIDED = 3
    INTERRUPTED = 130  # as shells have it: 128 and the number of SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `obda-bm VERB ...`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="obda-bm",
        description="Decide, before it runs, whether a query over streams needs bounded memory.",
    )
    parser.add_argument("--version", action="version", version=f"obda-bm {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, purpose in VERBS.items():
        added = verbs.add_parser(verb, help=purpose, description=purpose)
        if verb in words:  # only the verb that is used is imported
            _module(verb).add_arguments(added)
    args = parser.parse_args(words)
    try:
        return int(_module(args.verb).run(args))
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; closing stderr keeps Python from complaining.
        sys.stderr.close()
        return int(ExitCode.ERROR)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)


def _module(verb: str):  # type: ignore[no-untyped-def]
    return import_module(f"obda_bm.interfaces.cli.{verb}")
