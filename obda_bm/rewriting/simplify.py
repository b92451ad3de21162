"""Leave out of a query what always holds, and the query itself where nothing can satisfy it."""

from __future__ import annotations

from dataclasses import replace

from obda_bm.ir.hierarchy import TOP
from obda_bm.ir.rdf import Iri, Literal
from obda_bm.ir.tbox import THING, Named, Role
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom, TermComparison
from obda_bm.rewriting.facts import is_individual, memberships_of
from obda_bm.rewriting.places import unbound
from obda_bm.rewriting.steps import ConceptBelow, Derived, Knowledge, ReflexiveBelow, Step


def simplify(derived: Derived, knowledge: Knowledge) -> Derived | None:
    """An equivalent query without trivial atoms and repetitions; None if it has no answers."""
    query = derived.query
    if any(map(_never_holds, query.comparisons)):
        return None
    read = [_read(atom, knowledge) for atom in query.body]
    body = tuple(dict.fromkeys(atom for atom, _ in read))
    if any(_puts_literal_into_thing(atom) for atom in body):
        return None
    comparisons = tuple(dict.fromkeys(query.comparisons))
    simple = _drop_thing(ConjunctiveQuery(query.head, body, comparisons), knowledge)
    return derived.by(simple, *(step for _, step in read if step is not None))


def _never_holds(comparison: TermComparison) -> bool:
    strict = comparison.op in (Op.LT, Op.GT, Op.NE)
    return strict and comparison.left == comparison.right and comparison.offset == 0


def _read(atom: Atom, knowledge: Knowledge) -> tuple[Atom, Step | None]:
    """`Thing(t)` for an atom that holds of every individual, else the atom itself."""
    hierarchy = knowledge.hierarchy
    match atom:
        case ClassAtom(iri, term, state) if iri != THING:
            if TOP in hierarchy.concepts_below(Named(iri)):
                thing = ClassAtom(THING, term, state, atom.span)
                return thing, ConceptBelow(TOP, Named(iri))
        case PropertyAtom(iri, subject, object_, state) if subject == object_:
            reflexive = hierarchy.reflexive_below(Role(iri))
            if reflexive is not None:
                thing = ClassAtom(THING, subject, state, atom.span)
                return thing, ReflexiveBelow(reflexive, Role(iri))
    return atom, None


def _puts_literal_into_thing(atom: Atom) -> bool:
    return isinstance(atom, ClassAtom) and atom.iri == THING and isinstance(atom.term, Literal)


def _drop_thing(query: ConjunctiveQuery, knowledge: Knowledge) -> ConjunctiveQuery:
    for atom in query.body:
        if isinstance(atom, ClassAtom) and atom.iri == THING:
            rest = tuple(other for other in query.body if other is not atom)
            if _is_trivial(atom, query) or _is_said_by(atom, rest, knowledge):
                return _drop_thing(replace(query, body=rest), knowledge)
    return query


def _is_trivial(atom: ClassAtom, query: ConjunctiveQuery) -> bool:
    """Names denote, and no domain is empty; but that a state exists has to be seen."""
    return atom.state is None and (isinstance(atom.term, Iri) or atom.term in unbound(query))


def _is_said_by(atom: ClassAtom, rest: tuple[Atom, ...], knowledge: Knowledge) -> bool:
    return any(
        m.term == atom.term
        and m.state == atom.state
        and is_individual(m, knowledge.data_properties)
        for other in rest
        for m in memberships_of(other)
    )
