"""obda-bm run QUERY.rq: the answers of a query over the data as it is now."""

from __future__ import annotations

import csv
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TextIO

from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.oneshot.answers import Answer, answers
from obda_bm.execution.oneshot.database import Database, open_database, open_sources
from obda_bm.execution.oneshot.values import BlankNode, Resource
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.ontology_query import with_unfolded
from obda_bm.ir.catalog import Relation
from obda_bm.ir.rdf import RDF, STRING, Iri, Literal
from obda_bm.ir.unfolded import Unfolded
from obda_bm.mediation import Mediator
from obda_bm.setting import Setting
from obda_bm.sql import render_sql

Writer = Callable[[tuple[str, ...], Iterator[Answer], TextIO], None]


def answer(args: Namespace) -> ExitCode:
    def show(setting: Setting, mediator: Mediator, unfolded: Unfolded) -> ExitCode:
        for warning in unfolded.warnings:
            print(warning.render(), file=sys.stderr)
        database = open_for(args.database, setting, _relations(unfolded))
        with closing(database):
            base = mediator.mappings.base
            found = answers(unfolded, database, base, render_sql)
            _write(args, unfolded.names, found)
        return ExitCode.BOUNDED

    return with_unfolded(args, show)


def open_for(url: str | None, setting: Setting, relations: tuple[Relation, ...]) -> Database:
    """The database at `url`; without one, the sources of the setting."""
    return open_database(url) if url else open_sources(relations, setting.directory)


def _relations(unfolded: Unfolded) -> tuple[Relation, ...]:
    used = (o.relation for b in unfolded.branches for o in b.query.occurrences)
    return tuple(dict.fromkeys(used))


def _write(args: Namespace, names: tuple[str, ...], found: Iterator[Answer]) -> None:
    format_ = args.format or ("json" if args.json else "table")
    writer = _writers(names).get(format_)
    if writer is None:
        hint = "Choose table, csv or json."
        raise Mistake.UNREAD_FORMAT.error(f"answers cannot be written as {format_}", hint)
    if args.output is None:
        writer(names, found, sys.stdout)
        return
    try:
        with Path(args.output).open("w", encoding="utf-8", newline="") as stream:
            writer(names, found, stream)
    except OSError as error:
        message = f"cannot write {str(args.output)!r}: {error.strerror}"
        hint = "Name a file in a directory that exists."
        raise Mistake.UNWRITABLE_FILE.error(message, hint) from None


def _writers(names: tuple[str, ...]) -> dict[str, Writer]:
    """By format; a query without answer columns is an ASK."""
    if names:
        return {"json": _write_json, "csv": _write_csv, "table": _write_table}
    return {"json": _write_json_boolean, "csv": _write_boolean, "table": _write_boolean}


def _write_json(names: tuple[str, ...], found: Iterator[Answer], stream: TextIO) -> None:
    """SPARQL 1.1 Query Results JSON, one binding per line, written as answers come."""
    stream.write(f'{{"head": {{"vars": {json.dumps(list(names))}}}, "results": {{"bindings": [')
    separator = "\n"
    for row in found:
        binding = {name: _binding(term) for name, term in zip(names, row, strict=True)}
        stream.write(separator + json.dumps(binding, ensure_ascii=False))
        separator = ",\n"
    stream.write("\n]}}\n")


def _write_json_boolean(_names: tuple[str, ...], found: Iterator[Answer], stream: TextIO) -> None:
    stream.write(json.dumps({"head": {}, "boolean": next(found, None) is not None}) + "\n")


def _write_boolean(_names: tuple[str, ...], found: Iterator[Answer], stream: TextIO) -> None:
    stream.write("true\n" if next(found, None) is not None else "false\n")


def _binding(term: Resource) -> dict[str, str]:
    match term:
        case Iri(value):
            return {"type": "uri", "value": value}
        case BlankNode(label):
            return {"type": "bnode", "value": label}
        case Literal(lexical, _, language) if language:
            return {"type": "literal", "value": lexical, "xml:lang": language}
        case Literal(lexical, datatype):
            kind = {} if datatype in {STRING, RDF + "langString"} else {"datatype": datatype}
            return {"type": "literal", "value": lexical, **kind}


def _write_csv(names: tuple[str, ...], found: Iterator[Answer], stream: TextIO) -> None:
    """SPARQL 1.1 Query Results CSV: values without their types."""
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(names)
    for row in found:
        writer.writerow([_plain(term) for term in row])


def _plain(term: Resource) -> str:
    match term:
        case Iri(value):
            return value
        case Literal(lexical):
            return lexical
        case BlankNode():
            return str(term)


def _write_table(names: tuple[str, ...], found: Iterator[Answer], stream: TextIO) -> None:
    rows = [list(names), *([str(term) for term in row] for row in found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        stream.write("  ".join(cells).rstrip() + "\n")
