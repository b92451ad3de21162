"""Where a file speaks of an IRI: at the line that has it as the subject, if text shows it."""

from __future__ import annotations

import re

from obda_bm.diagnostics import SourceText, Span
from obda_bm.ir.ucq import local_name

_XML_SUBJECT = re.compile(r'\b(?:rdf:about|rdf:ID|rdf:nodeID)\s*=\s*["\']([^"\']*)["\']')
_OWL_XML_NAME = re.compile(r'\b(?:abbreviatedIRI|IRI)\s*=\s*["\']([^"\']*)["\']')
_LINE_START = re.compile(r"(?m)^[ \t]*(<[^<>\s]*>|[\w.-]*:[\w.%-]+)")

Places = dict[str, Span]


def subject_places(source: SourceText) -> Places:
    """The first line about each name, by local name: two IRIs with one name share a place."""
    places: Places = {}
    for pattern in (_XML_SUBJECT, _OWL_XML_NAME, _LINE_START):
        for match in pattern.finditer(source.text):
            name = local_name(re.split(r"[:;#/]", match[1].strip("<>"))[-1])
            if name:
                places.setdefault(name, Span(source, match.start(1), match.end(1)))
    return places


def place_of(iri: str, places: Places, source: SourceText) -> Span:
    """The place of `iri`; the beginning of the file if it is not found."""
    name = re.split(r"[:;#/]", iri.rstrip("#/"))[-1]
    return places.get(name, Span(source, 0, 1))
