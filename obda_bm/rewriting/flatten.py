"""Compiled atoms spelt out: one query per choice of a predicate below each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.tbox import THING, Concept, Exists, Named, Role
from obda_bm.ir.ucq import Atom, ClassAtom, PropertyAtom
from obda_bm.rewriting.facts import memberships_of
from obda_bm.rewriting.places import fresh_names, unbound
from obda_bm.rewriting.steps import ConceptBelow, Derived, Knowledge, RoleBelow, Step


@dataclass(frozen=True, slots=True)
class Slot:
    """A compiled atom, and the predicates below it."""

    atom: Atom
    below: frozenset[Concept | Role]


@dataclass(frozen=True, slots=True)
class Choice:
    """An atom over the data, why it implies a slot, and which slots it fills (a bit for each)."""

    atom: Atom
    step: Step
    fills: int


def flatten(derived: Derived, knowledge: Knowledge) -> Iterator[Derived]:
    """Queries over the data whose union says what the compiled query says.

    >>> from obda_bm.ir.hierarchy import Hierarchy
    >>> from obda_bm.ir.tbox import SubClassOf, TBox
    >>> from obda_bm.ir.ucq import ConjunctiveQuery
    >>> tbox = TBox((SubClassOf(Named("Pump"), Named("Device")),))
    >>> query = ConjunctiveQuery((Variable("x"),), (ClassAtom("Device", Variable("x")),))
    >>> knowledge = Knowledge(Hierarchy(tbox), {}, frozenset(), frozenset())
    >>> [str(flat.query) for flat in flatten(Derived(query), knowledge)]
    ['q(?x) :- Device(?x)', 'q(?x) :- Pump(?x)']
    """
    query = derived.query
    loose = unbound(query)
    spare = fresh_names(query)
    ordered = sorted(query.body, key=lambda atom: _looseness(atom, loose))
    slots = [Slot(atom, frozenset(_below(atom, knowledge))) for atom in ordered]
    offers = [_offer(slot, next(spare), slots, loose, knowledge) for slot in slots]
    for chosen in _fill(offers, 0, ()):
        body = tuple(choice.atom for choice in chosen)
        yield derived.by(replace(query, body=body), *(choice.step for choice in chosen))


def _looseness(atom: Atom, loose: frozenset[Variable]) -> float:
    """How little the atom asks for: what fills it must have been offered to it, or stand earlier.

    `P(x, y)` fills the slots of ∃P at its ends, whether written `P(x, u)` or as a class above ∃P;
    these two offer each other's choices at the same term; and any of them fills `P(u, w)`.
    """
    return 1.5 if isinstance(atom, ClassAtom) else sum(term in loose for term in atom.terms)


def _fill(
    offers: list[tuple[Choice, ...]], position: int, chosen: tuple[Choice, ...]
) -> Iterator[tuple[Choice, ...]]:
    """Every selection that fills all slots and of which no part would do."""
    if position == len(offers):
        if all(_is_needed(choice, chosen) for choice in chosen):
            yield chosen
    elif _filled(chosen) >> position & 1:
        yield from _fill(offers, position + 1, chosen)
    else:
        for choice in offers[position]:
            # What fills all that an earlier choice fills makes that one superfluous for good.
            if all(earlier.fills & ~choice.fills for earlier in chosen):
                yield from _fill(offers, position + 1, (*chosen, choice))


def _is_needed(choice: Choice, chosen: tuple[Choice, ...]) -> bool:
    return bool(choice.fills & ~_filled(tuple(other for other in chosen if other is not choice)))


def _filled(chosen: tuple[Choice, ...]) -> int:
    return reduce(or_, (choice.fills for choice in chosen), 0)


def _offer(
    slot: Slot,
    spare: Variable,
    slots: list[Slot],
    loose: frozenset[Variable],
    knowledge: Knowledge,
) -> tuple[Choice, ...]:
    return tuple(
        Choice(atom, step, sum(_implies(atom, s, loose) << i for i, s in enumerate(slots)))
        for atom, step in _spell(slot, spare, knowledge)
    )


def _implies(chosen: Atom, slot: Slot, loose: frozenset[Variable]) -> bool:
    """Whether the data atom `chosen` says what `slot` asks for."""
    if slot.atom.state != chosen.state:
        return False
    match slot.atom:
        case ClassAtom(iri, term):
            found = memberships_of(chosen)
            return any(m.term == term and _is_below(m.concept, iri, slot) for m in found)
        case PropertyAtom() as wanted:
            return isinstance(chosen, PropertyAtom) and _fits(wanted, chosen, slot, loose)


def _is_below(concept: Concept, iri: str, slot: Slot) -> bool:
    return iri == THING or concept in slot.below


def _fits(
    wanted: PropertyAtom, chosen: PropertyAtom, slot: Slot, loose: frozenset[Variable]
) -> bool:
    forward, backward = Role(chosen.iri), Role(chosen.iri, inverse=True)
    ends = chosen.subject, chosen.object
    return (forward in slot.below and _agree(wanted, ends, loose)) or (
        backward in slot.below and _agree(wanted, ends[::-1], loose)
    )


def _agree(wanted: PropertyAtom, ends: tuple[RdfTerm, ...], loose: frozenset[Variable]) -> bool:
    pairs = zip(wanted.terms, ends, strict=True)
    return all(term == end or term in loose for term, end in pairs)


def _spell(slot: Slot, spare: Variable, knowledge: Knowledge) -> Iterator[tuple[Atom, Step]]:
    atom = slot.atom
    match atom:
        case ClassAtom(iri):
            for concept in knowledge.hierarchy.concepts_below(Named(iri)):
                if not _is_fresh(concept, knowledge):
                    yield _spelt(concept, atom, spare), ConceptBelow(concept, Named(iri))
        case PropertyAtom(iri, subject, object_):
            for role in knowledge.hierarchy.roles_below(Role(iri)):
                if role.iri not in knowledge.fresh:
                    ends = (object_, subject) if role.inverse else (subject, object_)
                    edge = PropertyAtom(role.iri, *ends, atom.state, atom.span)
                    yield edge, RoleBelow(role, Role(iri))


def _spelt(concept: Concept, atom: ClassAtom, spare: Variable) -> Atom:
    match concept:
        case Named(iri):
            return replace(atom, iri=iri)
        case Exists(Role(iri, inverse)):
            subject, object_ = (spare, atom.term) if inverse else (atom.term, spare)
            return PropertyAtom(iri, subject, object_, atom.state, atom.span)


def _below(atom: Atom, knowledge: Knowledge) -> Iterator[Concept | Role]:
    match atom:
        case ClassAtom(iri):
            yield from knowledge.hierarchy.concepts_below(Named(iri))
        case PropertyAtom(iri):
            yield from knowledge.hierarchy.roles_below(Role(iri))


def _is_fresh(concept: Concept, knowledge: Knowledge) -> bool:
    return isinstance(concept, Exists) and concept.role.iri in knowledge.fresh
