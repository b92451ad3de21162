"""What a query says when its variables are read as names, and what that entails.

Hierarchies are applied; what exploration accounts for is not: `Pump(x)` with `Pump ⊑ ∃feeds` puts x
into the concept ∃feeds but makes no edge, and neither does a reflexive role.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obda_bm.ir.hierarchy import TOP, Hierarchy
from obda_bm.ir.rdf import Literal, RdfTerm, Variable, is_datatype
from obda_bm.ir.tbox import THING, Concept, Exists, Named, Role
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom
from obda_bm.rewriting.embedding import Image
from obda_bm.rewriting.steps import ConceptBelow, Knowledge, RoleBelow

Key = Named | Role


@dataclass(frozen=True, slots=True)
class Membership:
    """`term` belongs to `concept` in `state`."""

    concept: Concept
    term: RdfTerm
    state: Variable | None


@dataclass(frozen=True, slots=True)
class Facts:
    """The atoms of a query, as assertions."""

    memberships: tuple[Membership, ...]
    edges: tuple[PropertyAtom, ...]
    individuals: tuple[tuple[RdfTerm, Variable | None], ...]


def facts_of(atoms: tuple[Atom, ...], data_properties: frozenset[str]) -> Facts:
    """The assertions that `atoms` make."""
    memberships = tuple(m for atom in atoms for m in memberships_of(atom))
    edges = tuple(atom for atom in atoms if isinstance(atom, PropertyAtom))
    individuals = dict.fromkeys(
        (m.term, m.state) for m in memberships if is_individual(m, data_properties)
    )
    return Facts(memberships, edges, tuple(individuals))


def memberships_of(atom: Atom) -> tuple[Membership, ...]:
    """The concepts into which `atom` puts its terms."""
    match atom:
        case ClassAtom(iri, term, state):
            return (Membership(Named(iri), term, state),)
        case PropertyAtom(iri, subject, object_, state):
            return (
                Membership(Exists(Role(iri)), subject, state),
                Membership(Exists(Role(iri, inverse=True)), object_, state),
            )


def is_individual(membership: Membership, data_properties: frozenset[str]) -> bool:
    """Whether the member is an individual, and not a literal."""
    if isinstance(membership.term, Literal):
        return False
    match membership.concept:
        case Named(iri):
            return not is_datatype(iri)
        case Exists(Role(iri, inverse)):
            return not (inverse and iri in data_properties)


def images(atom: Atom, facts: Facts, hierarchy: Hierarchy) -> Iterator[Image]:
    """Where `atom` may map to, given `facts` and the inclusions."""
    match atom:
        case ClassAtom(iri, _, state):
            yield from ((Image((m.term,), r)) for m, r in _members(iri, state, facts, hierarchy))
        case PropertyAtom(iri, _, _, state):
            yield from _edge_images(Role(iri), state, facts, hierarchy)


def _members(
    iri: str, state: Variable | None, facts: Facts, hierarchy: Hierarchy
) -> Iterator[tuple[Membership, ConceptBelow]]:
    if iri == THING:
        for term, where in facts.individuals:
            if where == state:
                yield Membership(TOP, term, state), ConceptBelow(TOP, TOP)
        return
    below = hierarchy.concepts_below(Named(iri))
    for membership in facts.memberships:
        if membership.state == state and membership.concept in below:
            yield membership, ConceptBelow(membership.concept, Named(iri))


def _edge_images(
    role: Role, state: Variable | None, facts: Facts, hierarchy: Hierarchy
) -> Iterator[Image]:
    below = hierarchy.roles_below(role)
    for edge in facts.edges:
        if edge.state == state:
            forward, backward = Role(edge.iri), Role(edge.iri, inverse=True)
            if forward in below:
                yield Image((edge.subject, edge.object), RoleBelow(forward, role))
            if backward in below:
                yield Image((edge.object, edge.subject), RoleBelow(backward, role))


def key_of(atom: Atom) -> Key | None:
    """The predicate that a query must have something below of, or None if all queries have it."""
    match atom:
        case ClassAtom(iri):
            return None if iri == THING else Named(iri)
        case PropertyAtom(iri):
            return Role(iri)


def keys_above(atom: Atom, hierarchy: Hierarchy) -> Iterator[Key]:
    """The predicates of all atoms that may map to `atom`."""
    for membership in memberships_of(atom):
        for concept in hierarchy.concepts_above(membership.concept):
            if isinstance(concept, Named):
                yield concept
    if isinstance(atom, PropertyAtom):
        yield from (Role(role.iri) for role in hierarchy.roles_above(Role(atom.iri)))


def facts_without(query: ConjunctiveQuery, atom: Atom, knowledge: Knowledge) -> Facts:
    """What `query` says if `atom` is left out."""
    rest = tuple(other for other in query.body if other is not atom)
    return facts_of(rest, knowledge.data_properties)
