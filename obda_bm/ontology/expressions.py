"""Class and property expressions of OWL, as far as DL-Lite_R has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdflib import OWL, RDF, RDFS, BNode, Graph, Literal, URIRef
from rdflib.term import Node

from obda_bm.ir.tbox import Concept, Exists, Named, Role
from obda_bm.ir.ucq import local_name
from obda_bm.ontology.vocabulary import Vocabulary

MAX_DEPTH = 100


class OutsideProfile(Exception):
    """An expression that DL-Lite_R does not have, on the side of an inclusion where it stands."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Some:
    """`role some filler`, the filler a conjunction."""

    role: Role
    filler: tuple[Right, ...]


@dataclass(frozen=True, slots=True)
class Not:
    concept: Concept


@dataclass(frozen=True, slots=True)
class Bottom:
    """owl:Nothing."""


Right = Concept | Some | Not | Bottom


@dataclass(frozen=True, slots=True)
class Reader:
    """The expressions of one graph."""

    graph: Graph
    vocabulary: Vocabulary

    def left(self, node: Node, depth: int = 0) -> tuple[Concept, ...]:
        """The concepts whose union `node` is, if it may stand on the left of an inclusion."""
        _check_depth(depth)
        if isinstance(node, URIRef):
            return () if node == OWL.Nothing else (Named(str(node)),)
        return self.left_anonymous(node, depth)

    def left_anonymous(self, node: Node, depth: int = 0) -> tuple[Concept, ...]:
        union = self.graph.value(node, OWL.unionOf)
        if union is not None:
            members = self.members(union)
            return tuple(c for member in members for c in self.left(member, depth + 1))
        filler = self._existential_filler(node)
        if filler is None:
            raise OutsideProfile(f"{self.kind(node)} on the left of an inclusion")
        if not self._is_everything(filler):
            raise OutsideProfile("a qualified existential on the left of an inclusion")
        return (Exists(self.role(self._property(node))),)

    def right(self, node: Node, depth: int = 0) -> Iterator[Node]:
        """The conjuncts of `node`, each to be read with `conjunct`."""
        _check_depth(depth)
        conjunction = None
        if isinstance(node, BNode):
            conjunction = self.graph.value(node, OWL.intersectionOf)
        if conjunction is None:
            yield node
        else:
            for member in self.members(conjunction):
                yield from self.right(member, depth + 1)

    def conjunct(self, node: Node, depth: int = 0) -> tuple[Right, ...]:
        """What `node` says on the right of an inclusion; nothing if it holds of everything."""
        _check_depth(depth)
        if self._is_everything(node):
            return ()
        if node == OWL.Nothing:
            return (Bottom(),)
        if isinstance(node, URIRef):
            return (Named(str(node)),)
        negated = self.graph.value(node, OWL.complementOf)
        if negated is not None:
            return tuple(Not(concept) for concept in self.left(negated, depth + 1))
        filler = self._existential_filler(node)
        if filler is None:
            raise OutsideProfile(f"{self.kind(node)} on the right of an inclusion")
        return (self._some(self.role(self._property(node)), filler, depth),)

    def _some(self, role: Role, filler: Node, depth: int) -> Right:
        conjuncts = self.right(filler, depth + 1)
        said = tuple(c for node in conjuncts for c in self.conjunct(node, depth + 1))
        return Some(role, said) if said else Exists(role)

    def role(self, node: Node, depth: int = 0) -> Role:
        """The property or inverse property `node`."""
        _check_depth(depth)
        if isinstance(node, URIRef):
            if node in (OWL.topObjectProperty, OWL.topDataProperty):
                raise OutsideProfile("the universal property")
            if node in (OWL.bottomObjectProperty, OWL.bottomDataProperty):
                raise OutsideProfile("the empty property")
            return Role(str(node))
        inverted = self.graph.value(node, OWL.inverseOf)
        if inverted is None or isinstance(inverted, Literal):
            raise OutsideProfile(f"{self.kind(node)} as a property")
        return self.role(inverted, depth + 1).inverted()

    def members(self, node: Node) -> tuple[Node, ...]:
        """The members of an RDF list.

        Raises:
            OutsideProfile: if it is cut off, or runs in a circle.
        """
        found: list[Node] = []
        seen: set[Node] = set()
        while node != RDF.nil:
            first, rest = self.graph.value(node, RDF.first), self.graph.value(node, RDF.rest)
            if node in seen or first is None or rest is None:
                raise OutsideProfile("a malformed list")
            seen.add(node)
            found.append(first)
            node = rest
        return tuple(found)

    def kind(self, node: Node) -> str:
        """What `node` is, in OWL's words."""
        if isinstance(node, Literal):
            return "a literal"
        for predicate, name in _KINDS:
            if (node, predicate, None) in self.graph:
                return name
        return "an expression that is not known"

    def text(self, node: Node, depth: int = 0) -> str:
        """`node` for people to read, roughly in Manchester syntax."""
        if isinstance(node, URIRef):
            return local_name(str(node))
        if isinstance(node, Literal) or depth > 3:
            return "…"
        for predicate, word in ((OWL.intersectionOf, " and "), (OWL.unionOf, " or ")):
            members = self.graph.value(node, predicate)
            if members is not None:
                return f"({word.join(self._texts(members, depth))})"
        return self._restriction_text(node, depth)

    def _texts(self, members: Node, depth: int) -> Iterator[str]:
        try:
            yield from (self.text(member, depth + 1) for member in self.members(members))
        except OutsideProfile as problem:
            yield problem.reason

    def _restriction_text(self, node: Node, depth: int) -> str:
        for predicate, word in _WORDS:
            value = self.graph.value(node, predicate)
            if value is not None:
                on = self.graph.value(node, OWL.onProperty)
                subject = "" if on is None else self.text(on, depth + 1) + " "
                said = str(value) if isinstance(value, Literal) else self.text(value, depth + 1)
                return f"{subject}{word} {said}"
        return "…"

    def _existential_filler(self, node: Node) -> Node | None:
        """The B of `R some B` or of `R min 1 B`, or None if `node` says something else."""
        filler = self.graph.value(node, OWL.someValuesFrom)
        if filler is not None:
            return filler
        for predicate in (OWL.minCardinality, OWL.minQualifiedCardinality):
            least = self.graph.value(node, predicate)
            if isinstance(least, Literal) and str(least).strip() == "1":
                on_class = self.graph.value(node, OWL.onClass)
                return on_class or self.graph.value(node, OWL.onDataRange) or OWL.Thing
        return None

    def _property(self, node: Node) -> Node:
        on = self.graph.value(node, OWL.onProperty)
        if on is None:
            raise OutsideProfile("a restriction without a property")
        return on

    def _is_everything(self, node: Node) -> bool:
        return node in (OWL.Thing, RDFS.Literal, RDFS.Resource)


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise OutsideProfile("an expression that is nested too deeply")


_KINDS = (
    (OWL.unionOf, "a union"),
    (OWL.intersectionOf, "an intersection"),
    (OWL.complementOf, "a complement"),
    (OWL.oneOf, "an enumeration"),
    (OWL.allValuesFrom, "a universal restriction"),
    (OWL.hasValue, "a value restriction"),
    (OWL.hasSelf, "a self restriction"),
    (OWL.minCardinality, "a minimal cardinality other than 1"),
    (OWL.maxCardinality, "a maximal cardinality"),
    (OWL.cardinality, "an exact cardinality"),
    (OWL.minQualifiedCardinality, "a minimal cardinality other than 1"),
    (OWL.maxQualifiedCardinality, "a maximal cardinality"),
    (OWL.qualifiedCardinality, "an exact cardinality"),
    (OWL.onDatatype, "a datatype restriction"),
    (OWL.datatypeComplementOf, "a complement of a datatype"),
    (OWL.someValuesFrom, "an existential restriction"),
)
_WORDS = (
    (OWL.someValuesFrom, "some"),
    (OWL.allValuesFrom, "only"),
    (OWL.hasValue, "value"),
    (OWL.minCardinality, "min"),
    (OWL.maxCardinality, "max"),
    (OWL.cardinality, "exactly"),
    (OWL.minQualifiedCardinality, "min"),
    (OWL.maxQualifiedCardinality, "max"),
    (OWL.qualifiedCardinality, "exactly"),
    (OWL.complementOf, "not"),
    (OWL.inverseOf, "inverse"),
)
