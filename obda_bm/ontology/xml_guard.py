"""Refuse XML whose entities would expand without bound or reach outside the file.

Ontologies do use entities, as abbreviations of namespaces; these stay small.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from obda_bm.diagnostics import OntologyError, SourceText, Span
from obda_bm.ontology.mistakes import Mistake

MAX_ENTITY = 4_096
"""Characters that one entity may stand for."""

MAX_GROWTH = 64 * 1024 * 1024
"""Characters that all references together may add to the file."""

_REFERENCE = re.compile(r"&([^#;\s][^;\s]*);")


def check_entities(source: SourceText) -> None:
    """Nothing, if the entities of `source` are few, short and its own.

    Raises:
        OntologyError: if not, or if the prologue is malformed.
    """
    entities = _declared(source)
    lengths: dict[str, int] = {}
    for name in entities:
        if _length(name, entities, lengths, ()) > MAX_ENTITY:
            raise _refuse(source, f"entity {name!r} expands to too much text")
    growth = sum(lengths.get(m[1], 0) for m in _REFERENCE.finditer(source.text))
    if growth > MAX_GROWTH:
        raise _refuse(source, "the entities of the file expand to too much text")


class _RootReached(Exception):
    """The document's root element begins: all declarations have been seen."""


def _declared(source: SourceText) -> dict[str, str]:
    """The internal entities that the prologue declares."""
    entities: dict[str, str] = {}

    def declare(name: str, is_parameter: int, value: str | None, *_: object) -> None:
        if is_parameter or value is None:
            raise _refuse(source, f"entity {name!r} reaches outside the file")
        entities.setdefault(name, value)

    def root(*_: object) -> None:
        raise _RootReached

    parser = expat.ParserCreate("utf-8")
    parser.EntityDeclHandler = declare
    parser.StartElementHandler = root
    try:
        parser.Parse(source.text.encode("utf-8", "surrogatepass"), True)
    except _RootReached:
        pass
    except expat.ExpatError as error:
        span = _place(source, error.lineno, error.offset)
        message = f"the XML is malformed: {expat.errors.messages[error.code]}"
        raise OntologyError(
            Mistake.MALFORMED.at(span, message, "Repair the file, or export it again.")
        ) from None
    return entities


def _length(
    name: str, entities: dict[str, str], known: dict[str, int], within: tuple[str, ...]
) -> int:
    """How long the expansion of entity `name` is, counted up to just above the limit."""
    if name in within or len(within) > 20:
        return MAX_ENTITY + 1
    if name not in known:
        value = entities.get(name, "")
        nested = (
            _length(m[1], entities, known, (*within, name)) for m in _REFERENCE.finditer(value)
        )
        known[name] = min(len(value) + sum(nested), MAX_ENTITY + 1)
    return known[name]


def _refuse(source: SourceText, message: str) -> OntologyError:
    hint = "Write the text out, or export the ontology again without entities."
    start = max(source.text.find("<!DOCTYPE"), 0)
    return OntologyError(Mistake.ENTITIES.at(Span(source, start, start + 9), message, hint))


def _place(source: SourceText, line: int, column: int) -> Span:
    starts = [0, *(m.end() for m in re.finditer("\n", source.text))]
    start = min(starts[min(line, len(starts)) - 1] + column, max(len(source.text) - 1, 0))
    return Span(source, start, start + 1)
