"""Mapping files -> one set of triples maps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from obda_bm.diagnostics import Diagnostic, MappingError, SourceText, did_you_mean
from obda_bm.ir.mapping import MappingSet, ParentSubject, TriplesMap
from obda_bm.r2rml.graph import Graph
from obda_bm.r2rml.mistakes import Mistake
from obda_bm.r2rml.obda import read_obda
from obda_bm.r2rml.reading import Reading
from obda_bm.r2rml.triples_maps import read_triples_maps
from obda_bm.r2rml.turtle import parse_turtle

DEFAULT_BASE = "http://example.com/base/"

_OTHER_SYNTAXES = {
    ".rdf": "xml",
    ".xml": "xml",
    ".owl": "xml",
    ".nt": "nt",
    ".jsonld": "json-ld",
    ".json": "json-ld",
    ".n3": "n3",
    ".trig": "trig",
}


def load_mappings(paths: Iterable[Path]) -> MappingSet:
    """The triples maps of all files together, R2RML or Ontop's native syntax.

    Raises:
        MappingError: with every problem of every file.
    """
    problems: list[Diagnostic] = []
    maps: list[TriplesMap] = []
    base = ""
    for path in paths:
        try:
            found, declared = _load(path, problems)
        except MappingError as error:
            problems += error.diagnostics
            continue
        maps += found
        base = base or declared
    _check_ids(maps, problems)
    if problems:
        raise MappingError(*problems)
    return MappingSet(tuple(maps), base or DEFAULT_BASE)


def _load(path: Path, problems: list[Diagnostic]) -> tuple[list[TriplesMap], str]:
    source = read_text(path)
    if path.suffix == ".obda":
        return list(read_obda(source, problems)), ""
    graph = _graph(source, path)
    reading = Reading(graph, problems)
    maps = list(read_triples_maps(reading))
    if not maps and not problems:
        hint = "A mapping needs a node with rr:logicalTable and rr:subjectMap."
        problems.append(
            Mistake.NO_TRIPLES_MAP.at(None, f"there is no triples map in {str(path)!r}", hint)
        )
    return maps, graph.base


def _graph(source: SourceText, path: Path) -> Graph:
    syntax = _OTHER_SYNTAXES.get(path.suffix.lower())
    if syntax is None:
        return parse_turtle(source, DEFAULT_BASE)
    from obda_bm.r2rml.other_syntaxes import parse_with_rdflib

    return parse_with_rdflib(source, syntax)


def read_text(path: Path) -> SourceText:
    try:
        return SourceText(str(path), path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError:
        hint = "Save the file in the encoding UTF-8."
        raise Mistake.UNREADABLE_FILE.error(None, f"{str(path)!r} is not UTF-8", hint) from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        hint = "Check the path under [mapping] in the setting."
        message = f"cannot read the mapping {str(path)!r}: {reason}"
        raise Mistake.UNREADABLE_FILE.error(None, message, hint) from None


def _check_ids(maps: list[TriplesMap], problems: list[Diagnostic]) -> None:
    known: dict[str, TriplesMap] = {}
    for each in maps:
        other = known.setdefault(each.id, each)
        if other is not each:
            hint = f"Rename one of the two; the other is at {other.span}."
            message = f"two mappings are called {each.id!r}"
            problems.append(Mistake.DUPLICATE_ID.at(each.span, message, hint))
    if problems:
        return  # a parent may be missing because it could not be read
    for each in maps:
        for triple in each.triples:
            match triple.object:
                case ParentSubject(parent, _) if parent not in known:
                    hint = did_you_mean(parent, known) or "Name a triples map of these files."
                    message = f"there is no triples map {parent!r}"
                    problems.append(Mistake.UNKNOWN_PARENT.at(triple.object.span, message, hint))
