"""Which syntax a file is in, by what it says rather than by what it is called."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path


class Syntax(Enum):
    """The values are rdflib's names, where rdflib reads the syntax."""

    TURTLE = "turtle"
    NTRIPLES = "nt"
    NQUADS = "nquads"
    TRIG = "trig"
    N3 = "n3"
    RDF_XML = "xml"
    JSON_LD = "json-ld"
    OWL_XML = "OWL/XML"
    FUNCTIONAL = "OWL functional syntax"
    MANCHESTER = "Manchester syntax"


_BY_SUFFIX = {
    ".ttl": Syntax.TURTLE,
    ".nt": Syntax.NTRIPLES,
    ".nq": Syntax.NQUADS,
    ".trig": Syntax.TRIG,
    ".n3": Syntax.N3,
    ".jsonld": Syntax.JSON_LD,
    ".json": Syntax.JSON_LD,
    ".ofn": Syntax.FUNCTIONAL,
    ".omn": Syntax.MANCHESTER,
}
_COMMENTS = re.compile(r"\A(?:\s+|#[^\n]*(?:\n|\Z))*+")
_OPENINGS = (
    (re.compile(r"(?:Prefix|Ontology)\s*\("), Syntax.FUNCTIONAL),
    (re.compile(r"(?:Prefix|Ontology|Class|ObjectProperty):"), Syntax.MANCHESTER),
    (re.compile(r"[\[{]"), Syntax.JSON_LD),
)
_ROOT = re.compile(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")


def detect_syntax(path: Path, text: str) -> Syntax:
    """The syntax of `text`; the suffix of `path` decides only among syntaxes that look alike.

    >>> detect_syntax(Path("turbines.owl"), "# ours\\n@prefix : <http://example.org/> .")
    <Syntax.TURTLE: 'turtle'>
    """
    text = text.removeprefix("\ufeff")
    start = _COMMENTS.match(text)
    opening = text[start.end() if start else 0 :][:200]
    if _is_xml(opening):
        return _xml_syntax(text)
    by_suffix = _BY_SUFFIX.get(path.suffix.lower())
    if by_suffix is not None:
        return by_suffix
    found = (syntax for pattern, syntax in _OPENINGS if pattern.match(opening))
    return next(found, Syntax.TURTLE)


def _is_xml(opening: str) -> bool:
    if opening.startswith(("<?xml", "<!DOCTYPE", "<!--")):
        return True
    # An element, not the <http://…> with which N-Triples and Turtle may begin.
    return re.match(r"<[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?[\s>/]", opening) is not None


def _xml_syntax(text: str) -> Syntax:
    body = re.sub(r"<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", "", text[:100_000], flags=re.S)
    root = _ROOT.search(body)
    return Syntax.OWL_XML if root and root[1] == "Ontology" else Syntax.RDF_XML
