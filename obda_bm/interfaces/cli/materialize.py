"""obda-bm materialize: the RDF dataset that the mappings make, as N-Quads."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from obda_bm.diagnostics import ObdaError
from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.oneshot.database import Database, open_database, open_sources
from obda_bm.execution.oneshot.materialize import Quad, materialize
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.ontology_query import fail
from obda_bm.ir.mapping import MappingSet
from obda_bm.mediation import setting_mappings
from obda_bm.pipeline import load_setting
from obda_bm.r2rml import load_mappings


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--setting", metavar="FILE", default="obda.toml", help="the setting file")
    add("--mapping", metavar="FILE", type=Path, action="append", help="instead of the setting's")
    add("--database", metavar="URL", help="a DuckDB file or postgresql://…, not the sources")
    add("--base", metavar="IRI", help="what relative IRIs stand below")
    add("--output", metavar="PATH", type=Path, help="a file for the quads (default: stdout)")
    add("--json", action="store_true", help="print problems as JSON")


def run(args: Namespace) -> ExitCode:
    try:
        mappings, database = _inputs(args)
        with closing(database):
            _write(args.output, _shown(materialize(mappings, database)))
    except ObdaError as error:
        return fail(args, error)
    return ExitCode.BOUNDED


def _inputs(args: Namespace) -> tuple[MappingSet, Database]:
    """The mappings and the data; with both given, no setting is read."""
    if args.mapping and args.database:
        mappings, database = load_mappings(args.mapping), open_database(args.database)
    else:
        setting = load_setting(args.setting)
        mappings = load_mappings(args.mapping) if args.mapping else setting_mappings(setting)
        sources = setting.catalog.relations
        opened = args.database and open_database(args.database)
        database = opened or open_sources(sources, setting.directory)
    return (replace(mappings, base=args.base) if args.base else mappings), database


def _write(path: Path | None, quads: Iterator[Quad]) -> None:
    if path is None:
        _write_to(sys.stdout, quads)
        return
    try:
        with path.open("w", encoding="utf-8") as stream:
            _write_to(stream, quads)
    except OSError as error:
        message = f"cannot write {str(path)!r}: {error.strerror}"
        hint = "Name a file in a directory that exists."
        raise Mistake.UNWRITABLE_FILE.error(message, hint) from None


def _write_to(stream: TextIO, quads: Iterator[Quad]) -> None:
    for quad in quads:
        stream.write(f"{quad}\n")


def _shown(quads: Iterator[Quad]) -> Iterator[Quad]:
    """The same, with a line on the terminal that tells how far it is."""
    if not sys.stderr.isatty():
        yield from quads
        return
    begun = time.monotonic()
    for count, quad in enumerate(quads, start=1):
        yield quad
        if count % 10_000 == 0:
            speed = count / max(time.monotonic() - begun, 1e-9)
            text = f"{count:,} quads  {speed:,.0f} quads/s"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)
