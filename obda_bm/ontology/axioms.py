"""Triples -> axioms: what each says in DL-Lite_R, and what of it cannot be said there.

Every statement is a tuple of parts, each an action that gives axioms or raises OutsideProfile, so
that one bad conjunct costs no more than itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from rdflib import OWL, RDF, RDFS, URIRef
from rdflib.term import Node

from obda_bm.diagnostics import Span
from obda_bm.ir.tbox import (
    Axiom,
    Concept,
    DisjointConcepts,
    DisjointRoles,
    Exists,
    Irreflexive,
    Reflexive,
    Role,
    SubRoleOf,
)
from obda_bm.ontology.expressions import OutsideProfile, Reader
from obda_bm.ontology.normalize import FreshRoles, include

Part = Callable[[], list[Axiom]]


@dataclass(frozen=True, slots=True)
class Statement:
    """One axiom as the user wrote it."""

    subject: Node
    text: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What the parts of a statement need: expressions, fresh roles, and a place."""

    reader: Reader
    fresh: FreshRoles
    span: Callable[[Node], Span]


def statements(context: Context) -> Iterator[Statement]:
    """The statements of a graph; annotations, declarations and assertions are none."""
    graph = context.reader.graph
    for predicate, (word, rule) in _BY_PREDICATE.items():
        for subject, object_ in graph.subject_objects(predicate):
            if _speaks_of_annotations(context, subject, predicate):
                continue
            text = f"{context.reader.text(subject)} {word} {context.reader.text(object_)}"
            yield Statement(subject, text, tuple(rule(context, subject, object_)))
    for kind, (word, typed_rule) in _BY_TYPE.items():
        for subject in graph.subjects(RDF.type, kind):
            text = f"{word} {context.reader.text(subject)}"
            yield Statement(subject, text, tuple(typed_rule(context, subject)))


def _speaks_of_annotations(context: Context, subject: Node, predicate: URIRef) -> bool:
    if predicate == OWL.inverseOf:
        return not isinstance(subject, URIRef)  # an expression, not an axiom
    if predicate in (OWL.intersectionOf, OWL.unionOf, OWL.complementOf, OWL.oneOf):
        return not isinstance(subject, URIRef)
    return subject in context.reader.vocabulary.annotation_properties


def _sub_class(context: Context, sub: Node, sup: Node) -> Iterator[Part]:
    return _inclusions(context, sub, partial(context.reader.left, sub), sup)


def _inclusions(
    context: Context, subject: Node, left: Callable[[], tuple[Concept, ...]], sup: Node
) -> Iterator[Part]:
    """A part for each conjunct of `sup`."""
    try:
        conjuncts = list(context.reader.right(sup))
    except OutsideProfile as problem:
        yield partial(_refuse, problem.reason)
        return
    for conjunct in conjuncts:
        yield partial(_include, context, subject, left, conjunct)


def _include(
    context: Context, subject: Node, left: Callable[[], tuple[Concept, ...]], conjunct: Node
) -> list[Axiom]:
    span = context.span(subject)
    said = context.reader.conjunct(conjunct)
    pairs = ((sub, right) for sub in left() for right in said)
    return [a for sub, right in pairs for a in include(sub, right, context.fresh, span)]


def _refuse(reason: str) -> list[Axiom]:
    raise OutsideProfile(reason)


def _equivalent_class(context: Context, first: Node, second: Node) -> Iterator[Part]:
    yield from _sub_class(context, first, second)
    yield from _sub_class(context, second, first)


def _defined_class(predicate: URIRef, context: Context, name: Node, _: Node) -> Iterator[Part]:
    """A named class with an operator of its own, as OWL 1 allowed: it equals the expression."""
    reader = context.reader
    if predicate == OWL.intersectionOf:
        for member in _members(context, name, predicate):
            yield from _sub_class(context, name, member)
    elif predicate == OWL.unionOf:
        for member in _members(context, name, predicate):
            yield from _sub_class(context, member, name)
    yield partial(_refuse, f"{reader.kind(name)} as a definition, in one of its directions")


def _members(context: Context, name: Node, predicate: URIRef) -> tuple[Node, ...]:
    members = context.reader.graph.value(name, predicate)
    try:
        return () if members is None else context.reader.members(members)
    except OutsideProfile:
        return ()


def _disjoint_classes(context: Context, first: Node, second: Node) -> Iterator[Part]:
    def part() -> list[Axiom]:
        lefts, rights = context.reader.left(first), context.reader.left(second)
        return [DisjointConcepts(a, b, context.span(first)) for a in lefts for b in rights]

    yield part


def _disjoint_union(context: Context, name: Node, members: Node) -> Iterator[Part]:
    try:
        nodes = context.reader.members(members)
    except OutsideProfile as problem:
        yield partial(_refuse, problem.reason)
        return
    for node in nodes:
        yield from _sub_class(context, node, name)
    for first, second in combinations(nodes, 2):
        yield from _disjoint_classes(context, first, second)
    yield partial(_refuse, "a union on the right of an inclusion")


def _sub_property(context: Context, sub: Node, sup: Node) -> Iterator[Part]:
    def part() -> list[Axiom]:
        if sup in (OWL.topObjectProperty, OWL.topDataProperty):
            return []
        role = context.reader.role
        return [SubRoleOf(role(sub), role(sup), context.span(sub))]

    yield part


def _equivalent_property(context: Context, first: Node, second: Node) -> Iterator[Part]:
    yield from _sub_property(context, first, second)
    yield from _sub_property(context, second, first)


def _inverse(context: Context, first: Node, second: Node) -> Iterator[Part]:
    def part() -> list[Axiom]:
        p, q, span = context.reader.role(first), context.reader.role(second), context.span(first)
        return [SubRoleOf(p, q.inverted(), span), SubRoleOf(q, p.inverted(), span)]

    yield part


def _domain(context: Context, prop: Node, concept: Node) -> Iterator[Part]:
    return _inclusions(context, prop, lambda: (Exists(context.reader.role(prop)),), concept)


def _range(context: Context, prop: Node, concept: Node) -> Iterator[Part]:
    return _inclusions(
        context, prop, lambda: (Exists(context.reader.role(prop).inverted()),), concept
    )


def _disjoint_properties(context: Context, first: Node, second: Node) -> Iterator[Part]:
    def part() -> list[Axiom]:
        role = context.reader.role
        return [DisjointRoles(role(first), role(second), context.span(first))]

    yield part


def _outside(what: str, *_: object) -> Iterator[Part]:
    yield partial(_refuse, what)


def _about_role(
    make: Callable[[Role, Span], Axiom], context: Context, prop: Node
) -> Iterator[Part]:
    yield lambda: [make(context.reader.role(prop), context.span(prop))]


def _all_pairs(
    rule: Callable[[Context, Node, Node], Iterator[Part]], context: Context, node: Node
) -> Iterator[Part]:
    graph = context.reader.graph
    members = graph.value(node, OWL.members)
    try:
        nodes = () if members is None else context.reader.members(members)
    except OutsideProfile as problem:
        yield partial(_refuse, problem.reason)
        return
    for first, second in combinations(nodes, 2):
        yield from rule(context, first, second)


_BY_PREDICATE: dict[URIRef, tuple[str, Callable[[Context, Node, Node], Iterator[Part]]]] = {
    RDFS.subClassOf: ("SubClassOf:", _sub_class),
    OWL.equivalentClass: ("EquivalentTo:", _equivalent_class),
    OWL.intersectionOf: ("EquivalentTo: all of", partial(_defined_class, OWL.intersectionOf)),
    OWL.unionOf: ("EquivalentTo: one of", partial(_defined_class, OWL.unionOf)),
    OWL.complementOf: ("EquivalentTo: not", partial(_defined_class, OWL.complementOf)),
    OWL.oneOf: ("EquivalentTo: one of", partial(_defined_class, OWL.oneOf)),
    OWL.disjointWith: ("DisjointWith:", _disjoint_classes),
    OWL.disjointUnionOf: ("DisjointUnionOf:", _disjoint_union),
    RDFS.subPropertyOf: ("SubPropertyOf:", _sub_property),
    OWL.equivalentProperty: ("EquivalentTo:", _equivalent_property),
    OWL.inverseOf: ("InverseOf:", _inverse),
    RDFS.domain: ("Domain:", _domain),
    RDFS.range: ("Range:", _range),
    OWL.propertyDisjointWith: ("DisjointWith:", _disjoint_properties),
    OWL.propertyChainAxiom: ("SubPropertyChain:", partial(_outside, "a property chain")),
    OWL.hasKey: ("HasKey:", partial(_outside, "a key")),
}

_BY_TYPE: dict[URIRef, tuple[str, Callable[[Context, Node], Iterator[Part]]]] = {
    OWL.SymmetricProperty: (
        "Symmetric:",
        partial(_about_role, lambda r, s: SubRoleOf(r, r.inverted(), s)),
    ),
    OWL.AsymmetricProperty: (
        "Asymmetric:",
        partial(_about_role, lambda r, s: DisjointRoles(r, r.inverted(), s)),
    ),
    OWL.ReflexiveProperty: ("Reflexive:", partial(_about_role, Reflexive)),
    OWL.IrreflexiveProperty: ("Irreflexive:", partial(_about_role, Irreflexive)),
    OWL.FunctionalProperty: ("Functional:", partial(_outside, "functionality")),
    OWL.InverseFunctionalProperty: (
        "InverseFunctional:",
        partial(_outside, "inverse functionality"),
    ),
    OWL.TransitiveProperty: ("Transitive:", partial(_outside, "transitivity")),
    OWL.AllDisjointClasses: ("DisjointClasses:", partial(_all_pairs, _disjoint_classes)),
    OWL.AllDisjointProperties: ("DisjointProperties:", partial(_all_pairs, _disjoint_properties)),
}
