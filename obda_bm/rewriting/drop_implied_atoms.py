"""The core of a query with respect to the TBox: no atom that the others imply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obda_bm.ir.hierarchy import TOP
from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.tbox import Concept, Exists, Role
from obda_bm.ir.ucq import Atom, ConjunctiveQuery, PropertyAtom
from obda_bm.rewriting.embedding import Goal, Image, embed
from obda_bm.rewriting.facts import Facts, facts_without, images
from obda_bm.rewriting.places import unbound, visible
from obda_bm.rewriting.steps import ConceptBelow, Derived, Knowledge, ReflexiveBelow, Step


def drop_implied_atoms(derived: Derived, knowledge: Knowledge) -> Derived:
    """An equivalent query, under the TBox, made of a part of the atoms.

    A part, rather than any smaller query, because whatever homomorphism into the canonical model
    the query has, its part has too: exploration from the part misses nothing.
    """
    for atom in derived.query.body:
        steps = _why_implied(derived.query, atom, knowledge)
        if steps is not None:
            rest = tuple(other for other in derived.query.body if other is not atom)
            smaller = replace(derived.query, body=rest)
            return drop_implied_atoms(derived.by(smaller, *steps), knowledge)
    return derived


def _why_implied(
    query: ConjunctiveQuery, atom: Atom, knowledge: Knowledge
) -> tuple[Step, ...] | None:
    """The inclusions by which the rest of `query` implies all of it, or None."""
    facts = facts_without(query, atom, knowledge)
    loose = unbound(query)
    own = tuple(_images(atom, facts, loose, knowledge))
    if not own:
        return None
    others = (other for other in query.body if other is not atom)
    goals = [Goal(other, tuple(_images(other, facts, loose, knowledge))) for other in others]
    goals.append(Goal(atom, own))
    fixed: dict[Variable, RdfTerm] = {v: v for v in visible(query)}
    found = embed(goals, fixed, lambda _: True)
    if found is None:
        return None
    return tuple(dict.fromkeys(image.reason for image in found if image.reason is not None))


def _images(
    atom: Atom, facts: Facts, loose: frozenset[Variable], knowledge: Knowledge
) -> Iterator[Image]:
    yield from images(atom, facts, knowledge.hierarchy)
    if isinstance(atom, PropertyAtom):
        yield from _loops(atom, facts, knowledge)
        if atom.object in loose:
            for term, step in _domain(Role(atom.iri), atom, facts, knowledge):
                yield Image((term, atom.object), step)
        if atom.subject in loose:
            for term, step in _domain(Role(atom.iri, inverse=True), atom, facts, knowledge):
                yield Image((atom.subject, term), step)


def _loops(atom: PropertyAtom, facts: Facts, knowledge: Knowledge) -> Iterator[Image]:
    reflexive = knowledge.hierarchy.reflexive_below(Role(atom.iri))
    if reflexive is not None:
        for term, state in facts.individuals:
            if state == atom.state:
                yield Image((term, term), ReflexiveBelow(reflexive, Role(atom.iri)))


def _domain(
    role: Role, atom: Atom, facts: Facts, knowledge: Knowledge
) -> Iterator[tuple[RdfTerm, Step]]:
    """The terms that are certain to have a successor by `role`, named or not."""
    concept: Concept = Exists(role)
    below = knowledge.hierarchy.concepts_below(concept)
    for membership in facts.memberships:
        if membership.state == atom.state and membership.concept in below:
            yield membership.term, ConceptBelow(membership.concept, concept)
    if TOP in below:
        for term, state in facts.individuals:
            if state == atom.state:
                yield term, ConceptBelow(TOP, concept)
