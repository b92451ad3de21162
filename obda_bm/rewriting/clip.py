"""Replace an invented individual by what makes the axioms invent it.

The rule of [EOSTX12], for axioms with a single concept on the left. In the canonical model take the
invented individual that was made last among those a query's variables are bound to. All its
neighbours in the query are then bound to the one individual it was made for, because its own
successors would have been made later. So the neighbours are one, and the atoms around the variable
hold because of one axiom B ⊑ ∃R: they can be replaced by B at the neighbour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from obda_bm.ir.rdf import Literal, RdfTerm, Variable
from obda_bm.ir.tbox import THING, Concept, Exists, Named, Role, SubClassOf
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom
from obda_bm.rewriting.places import atoms_with, fresh_names
from obda_bm.rewriting.steps import ConceptBelow, Derived, Knowledge, RoleBelow, Step
from obda_bm.rewriting.unify import representative, unifier, unite


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a query says about one variable, seen from its neighbours."""

    atoms: tuple[Atom, ...]
    neighbours: tuple[RdfTerm, ...]
    roles: tuple[Role, ...]
    concepts: tuple[Named, ...]


def clip(derived: Derived, variable: Variable, knowledge: Knowledge) -> Iterator[Derived]:
    """The queries in which an axiom accounts for `variable` as an invented individual."""
    query = derived.query
    around = surroundings(query, variable)
    if variable in around.neighbours:
        return  # only a reflexive role leads from an invented individual to itself
    parent = _parent(around, query)
    if parent is None:
        return
    kept = tuple(atom for atom in query.body if atom not in around.atoms)
    for axiom in _most_general(_inventing(around, knowledge), knowledge):
        made = concept_atom(axiom.sub, parent, query, around.atoms[0])
        united = unite(query, (*kept, made), unifier(around.neighbours, parent))
        yield derived.by(united, *_reasons(axiom, around))


def surroundings(query: ConjunctiveQuery, variable: Variable) -> Surroundings:
    """The atoms around `variable`, their roles pointing towards it."""
    atoms = atoms_with(query, variable)
    edges = [_edge_towards(a, variable) for a in atoms if isinstance(a, PropertyAtom)]
    return Surroundings(
        atoms,
        tuple(dict.fromkeys(neighbour for neighbour, _ in edges)),
        tuple(dict.fromkeys(role for _, role in edges)),
        tuple(dict.fromkeys(Named(a.iri) for a in atoms if isinstance(a, ClassAtom))),
    )


def _edge_towards(atom: PropertyAtom, variable: Variable) -> tuple[RdfTerm, Role]:
    if atom.object == variable:
        return atom.subject, Role(atom.iri)
    return atom.object, Role(atom.iri, inverse=True)


def _parent(around: Surroundings, query: ConjunctiveQuery) -> RdfTerm | None:
    """What the neighbours become; somebody not mentioned so far if there are none."""
    if not around.neighbours:
        return next(fresh_names(query))
    chosen = representative(around.neighbours, query)
    return None if isinstance(chosen, Literal) else chosen


def _inventing(around: Surroundings, knowledge: Knowledge) -> Iterator[SubClassOf]:
    """The axioms B ⊑ ∃R whose R-successor has the roles and concepts that are asked for."""
    for role in _candidates(around, knowledge):
        axioms = knowledge.generators.get(role)
        if (
            axioms
            and _has_roles(role, around, knowledge)
            and _has_concepts(role, around, knowledge)
        ):
            yield from axioms


def _candidates(around: Surroundings, knowledge: Knowledge) -> Iterator[Role]:
    """The roles that lead to what the first thing asked for is: fewer than all there are."""
    if around.roles:
        yield from knowledge.hierarchy.roles_below(around.roles[0])
    elif around.concepts[0].iri == THING:
        yield from knowledge.generators
    else:
        for concept in knowledge.hierarchy.concepts_below(around.concepts[0]):
            if isinstance(concept, Exists):
                yield concept.role.inverted()


def _has_roles(role: Role, around: Surroundings, knowledge: Knowledge) -> bool:
    return all(role in knowledge.hierarchy.roles_below(r) for r in around.roles)


def _has_concepts(role: Role, around: Surroundings, knowledge: Knowledge) -> bool:
    made = Exists(role.inverted())
    return all(
        role.iri not in knowledge.data_properties
        if concept.iri == THING
        else made in knowledge.hierarchy.concepts_below(concept)
        for concept in around.concepts
    )


def _most_general(axioms: Iterable[SubClassOf], knowledge: Knowledge) -> list[SubClassOf]:
    """The axioms with the most general left sides, one for each of these."""
    kept: list[SubClassOf] = []
    for axiom in axioms:
        if not any(_covers(other.sub, axiom.sub, knowledge) for other in kept):
            kept = [a for a in kept if not _covers(axiom.sub, a.sub, knowledge)]
            kept.append(axiom)
    return kept


def _covers(general: Concept, special: Concept, knowledge: Knowledge) -> bool:
    """Whether the atom of `general` stands for that of `special`, too.

    A compiled edge stands for edges only: with Pump ⊑ ∃feeds, `feeds(x, y)` is not `Pump(x)`.
    """
    match general, special:
        case Named(iri), _:
            return iri == THING or special in knowledge.hierarchy.concepts_below(general)
        case Exists(role), Exists(lower):
            return lower in knowledge.hierarchy.roles_below(role)
        case _:
            return False


def concept_atom(
    concept: Concept, term: RdfTerm, query: ConjunctiveQuery, place: Atom
) -> ClassAtom | PropertyAtom:
    """The atom that says that `term` is in `concept`, in the state of the atom `place`."""
    match concept:
        case Named(iri):
            return ClassAtom(iri, term, place.state, place.span)
        case Exists(Role(iri, inverse)):
            other = next(v for v in fresh_names(query) if v != term)
            subject, object_ = (other, term) if inverse else (term, other)
            return PropertyAtom(iri, subject, object_, place.state, place.span)


def _reasons(axiom: SubClassOf, around: Surroundings) -> Iterator[Step]:
    assert isinstance(axiom.sup, Exists)
    role = axiom.sup.role
    yield axiom
    yield from (RoleBelow(role, wanted) for wanted in around.roles)
    yield from (ConceptBelow(Exists(role.inverted()), wanted) for wanted in around.concepts)
