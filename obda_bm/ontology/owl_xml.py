"""OWL/XML -> the triples of its RDF form.

owlready2's reader is used without its store: it is a function from text to triples, fetches no
imports, runs no code that an ontology names, and has no object view to lose axioms in. It skips
elements that it does not know, and all but two members of an equivalence; both are seen to here.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from xml.etree import ElementTree

from rdflib import BNode, Graph, Literal, URIRef

from obda_bm.diagnostics import Diagnostic, OntologyError, SourceText, Span
from obda_bm.ontology.mistakes import Mistake

_OWL = "{http://www.w3.org/2002/07/owl#}"
_EQUIVALENCES = frozenset(
    _OWL + tag
    for tag in ("EquivalentClasses", "EquivalentObjectProperties", "EquivalentDataProperties")
)
_STANDARD_PREFIXES = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_UNKNOWN_TO_READER = frozenset(
    _OWL + tag for tag in ("HasKey", "DatatypeDefinition", "DLSafeRule", "DescriptionGraphRule")
)


def read_owl_xml(source: SourceText) -> tuple[Graph, tuple[Diagnostic, ...]]:
    """The triples that the OWL/XML text `source` stands for, and what cannot be read of it.

    Raises:
        OntologyError: if the text is no OWL/XML.
    """
    from owlready2.base import OwlReadyOntologyParsingError
    from owlready2.owlxml_2_ntriples import parse

    graph = Graph()

    def add(subject: str, predicate: str, object_: str) -> None:
        graph.add((_node(subject), URIRef(predicate), _node(object_)))

    def add_literal(subject: str, predicate: str, value: object, kind: str) -> None:
        graph.add((_node(subject), URIRef(predicate), _literal(value, kind)))

    root = _root(source)
    unknown = tuple(
        _unknown(source, child.tag) for child in root if child.tag in _UNKNOWN_TO_READER
    )
    try:
        parse(BytesIO(ElementTree.tostring(_plain(root), "utf-8")), add, add_literal)
    except OwlReadyOntologyParsingError:
        hint = "Save it as RDF/XML or Turtle; that shows more exactly what is wrong."
        raise OntologyError(
            Mistake.MALFORMED.at(Span(source, 0, 1), "the OWL/XML is malformed", hint)
        ) from None
    return graph, unknown


def _root(source: SourceText) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(source.text.encode("utf-8", "surrogatepass"))
    except ElementTree.ParseError as error:
        message = f"the XML is malformed: {error}"
        raise OntologyError(
            Mistake.MALFORMED.at(Span(source, 0, 1), message, "Repair the file.")
        ) from None


def _plain(root: ElementTree.Element) -> ElementTree.Element:
    """The ontology without annotations of axioms, in pairs, and with the prefixes that all know."""
    plain = ElementTree.Element(root.tag, root.attrib)
    declared = {child.get("name") for child in root if child.tag == _OWL + "Prefix"}
    for name, iri in _STANDARD_PREFIXES.items():
        if name not in declared:
            ElementTree.SubElement(plain, _OWL + "Prefix", {"name": name, "IRI": iri})
    for child in root:
        for annotation in child.findall(_OWL + "Annotation"):
            child.remove(annotation)
        plain.extend(_in_pairs(child))
    return plain


def _in_pairs(axiom: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """An equivalence of n things as n - 1 of two; other axioms as they are."""
    if axiom.tag not in _EQUIVALENCES or len(axiom) <= 2:
        yield axiom
        return
    for two in pairwise(axiom):
        pair = ElementTree.Element(axiom.tag)
        pair.extend(two)
        yield pair


def _unknown(source: SourceText, tag: str) -> Diagnostic:
    name = tag.removeprefix(_OWL)
    start = max(source.text.find(f"<{name}"), 0)
    message = f"{name} is not used: OWL 2 QL has no such axiom"
    hint = "Remove the axiom, or live with answers that do not take it into account."
    return Mistake.OUTSIDE_PROFILE.warn(Span(source, start, start + 1 + len(name)), message, hint)


def _node(name: str) -> URIRef | BNode:
    return BNode(f"n{name[2:]}") if name.startswith("_:") else URIRef(name)


def _literal(value: object, kind: str) -> Literal:
    if kind.startswith("@"):
        return Literal(str(value), lang=kind[1:])
    return Literal(str(value), datatype=URIRef(kind) if kind else None)
