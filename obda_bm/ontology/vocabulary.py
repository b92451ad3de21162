"""What kind of thing each IRI of an ontology names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rdflib import OWL, RDF, RDFS, XSD, Graph, URIRef
from rdflib.term import Node

_BUILT_IN_DATATYPES = frozenset(
    (RDFS.Literal, RDF.PlainLiteral, RDF.XMLLiteral, RDF.langString, OWL.real, OWL.rational)
)
_BUILT_IN = (str(OWL), str(RDF), str(RDFS), str(XSD))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    classes: frozenset[Node]
    object_properties: frozenset[Node]
    data_properties: frozenset[Node]
    annotation_properties: frozenset[Node]
    datatypes: frozenset[Node]

    def is_datatype(self, node: Node) -> bool:
        return node in self.datatypes or is_built_in_datatype(node)


def is_built_in_datatype(node: Node) -> bool:
    return node in _BUILT_IN_DATATYPES or (isinstance(node, URIRef) and node.startswith(str(XSD)))


def vocabulary_of(graphs: Iterable[Graph]) -> Vocabulary:
    """The declarations of all `graphs` together, and what usage shows where they are missing."""
    graphs = tuple(graphs)
    datatypes = _typed(graphs, RDFS.Datatype)
    data = _typed(graphs, OWL.DatatypeProperty) | _with_data_range(graphs, datatypes)
    annotations = _typed(graphs, OWL.AnnotationProperty) | frozenset(
        (RDFS.label, RDFS.comment, RDFS.seeAlso, RDFS.isDefinedBy)
    )
    return Vocabulary(
        _typed(graphs, OWL.Class) | _typed(graphs, RDFS.Class),
        _typed(graphs, OWL.ObjectProperty) - data,
        data,
        annotations,
        datatypes,
    )


def is_built_in(node: Node) -> bool:
    """Whether `node` is a word of RDF or OWL itself."""
    return isinstance(node, URIRef) and str(node).startswith(_BUILT_IN)


def _typed(graphs: Iterable[Graph], kind: URIRef) -> frozenset[Node]:
    return frozenset(
        s for graph in graphs for s in graph.subjects(RDF.type, kind) if isinstance(s, URIRef)
    )


def _with_data_range(graphs: Iterable[Graph], datatypes: frozenset[Node]) -> frozenset[Node]:
    return frozenset(
        s
        for graph in graphs
        for s, o in graph.subject_objects(RDFS.range)
        if o in datatypes or is_built_in_datatype(o)
    )
