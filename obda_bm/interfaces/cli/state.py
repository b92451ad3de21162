"""obda-bm state DIR: what a run on Spark has written down."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obda_bm.diagnostics import Diagnostic, ObdaError
from obda_bm.execution.spark.store import inspect_store
from obda_bm.interfaces.cli import ExitCode
from obda_bm.report.as_json import diagnostics_as_json


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", type=Path, help="what --state was given to")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> ExitCode:
    try:
        found = inspect_store(args.directory)
    except ObdaError as error:
        if args.json:
            print(json.dumps(diagnostics_as_json(error.diagnostics)))
        print("\n".join(map(Diagnostic.render, error.diagnostics)), file=sys.stderr)
        return ExitCode.ERROR
    print(json.dumps(found, indent=2, ensure_ascii=False) if args.json else as_text(found))
    return ExitCode.BOUNDED


def as_text(found: Mapping[str, Any]) -> str:
    """What `inspect_store` has found, for people."""
    lines = [f"query     {found['query']}", f"plan      {found['plan'][:16]}"]
    newest = found["newest"]
    if newest is None:
        return "\n".join([*lines, "no batch is done yet"])
    report = newest["report"]
    bound = "" if report["bound_units"] is None else f" of at most {report['bound_units']:,}"
    ended = ", then the input ended" if newest["ended"] else ""
    lines += [
        f"batch     {newest['batch']}{ended}",
        f"state     {newest['units']:,}{bound} units, {newest['bytes']:,} bytes",
        f"rows      {report['rows_in']:,} in, {report['late']:,} late",
        f"results   {report['results']:,}",
        f"closed    before {newest['closed']}",
    ]
    lines += [f"source    {_source(source)}" for source in newest["sources"]]
    return "\n".join([*lines, f"snapshots {', '.join(found['snapshots'])}"])


def _source(source: Mapping[str, Any]) -> str:
    """How far a source has come; in the keyed placement, executors know the rest."""
    reached = "nothing yet" if source["newest"] is None else f"at {source['newest']}"
    if "phase" not in source:
        return f"{source['name']}: {reached}"
    return (
        f"{source['name']}: {reached}, {source['phase']}, {source['offered']:,} rows, "
        f"{source['late']:,} late, {source['waiting']:,} waiting"
    )
