"""Random TBoxes, data and queries, small enough for the chase."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from obda_bm.ir.rdf import XSD, Iri, Literal, RdfTerm, Variable
from obda_bm.ir.tbox import (
    THING,
    Axiom,
    Concept,
    Exists,
    Named,
    Reflexive,
    Role,
    SubClassOf,
    SubRoleOf,
    TBox,
)
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    PropertyAtom,
    TermComparison,
    UnionOfCQs,
    variables_of,
)
from tests.rewriting.chase import Data, State, World

CLASSES = ("A", "B", "C")
ROLES = ("P", "Q", "F")
FRESH = frozenset("F")
DATA_PROPERTY = "D"
DATATYPE = XSD + "integer"
INDIVIDUALS = tuple(map(Iri, "abc"))
LITERALS = (Literal("1", DATATYPE), Literal("2", DATATYPE))
VARIABLES = tuple(map(Variable, "wxyz"))
VALUES = tuple(map(Variable, "uv"))
STATES = tuple(map(Variable, "ij"))


@dataclass(frozen=True)
class Case:
    tbox: TBox
    data: Data
    query: UnionOfCQs


roles = st.builds(Role, st.sampled_from(ROLES), st.booleans())
data_role = Role(DATA_PROPERTY)
concepts: st.SearchStrategy[Concept] = st.one_of(
    st.builds(Named, st.sampled_from(CLASSES)), st.builds(Exists, roles)
)
left_concepts = st.one_of(
    concepts, concepts, concepts, st.just(Exists(data_role)), st.just(Named(THING))
)
right_concepts = st.one_of(concepts, concepts, concepts, st.just(Exists(data_role)))

axioms: st.SearchStrategy[Axiom] = st.one_of(
    st.builds(SubClassOf, left_concepts, right_concepts),
    st.builds(SubClassOf, concepts, st.builds(Exists, roles)),
    st.builds(SubClassOf, st.builds(Exists, roles), concepts),
    st.builds(SubClassOf, concepts, concepts),
    st.builds(SubRoleOf, roles, roles),
)
rare_axioms: st.SearchStrategy[Axiom] = st.one_of(
    st.builds(Reflexive, roles),
    st.just(SubClassOf(Exists(data_role.inverted()), Named(DATATYPE))),
)


@st.composite
def tboxes(draw: st.DrawFn) -> TBox:
    found = draw(st.lists(axioms, min_size=1, max_size=6))
    if draw(st.integers(0, 4)) == 0:
        found.append(draw(rare_axioms))
    return TBox(tuple(found), data_properties=frozenset((DATA_PROPERTY,)), fresh=FRESH)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World()
    individual = st.sampled_from(INDIVIDUALS)
    for iri, element in draw(st.lists(st.tuples(st.sampled_from(CLASSES), individual), max_size=4)):
        world.add_member(iri, element)
        world.individuals.add(element)
    named_roles = st.sampled_from([role for role in ROLES if role not in FRESH])
    for iri, a, b in draw(st.lists(st.tuples(named_roles, individual, individual), max_size=4)):
        world.add_pair(Role(iri), a, b)
        world.individuals |= {a, b}
    for a, v in draw(st.lists(st.tuples(individual, st.sampled_from(LITERALS)), max_size=1)):
        world.add_pair(data_role, a, v)
        world.add_member(DATATYPE, v)
        world.individuals.add(a)
    return world


@st.composite
def atoms(draw: st.DrawFn, state: Variable | None) -> Atom:
    pool = VARIABLES * 3 + INDIVIDUALS[:1]
    kind = draw(st.integers(0, 11))
    if kind < 5:
        return ClassAtom(draw(st.sampled_from(CLASSES)), draw(st.sampled_from(pool)), state)
    if kind < 10:
        ends = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        return PropertyAtom(draw(st.sampled_from(("P", "Q"))), *ends, state)
    if kind < 11:
        value: RdfTerm = draw(st.sampled_from((*VALUES, LITERALS[0])))
        return PropertyAtom(DATA_PROPERTY, draw(st.sampled_from(pool)), value, state)
    return ClassAtom(DATATYPE, draw(st.sampled_from(VALUES)), state)


@st.composite
def bodies(draw: st.DrawFn, size: int, states: tuple[Variable | None, ...]) -> tuple[Atom, ...]:
    picked = draw(st.lists(st.sampled_from(states), min_size=1, max_size=size))
    return tuple(draw(atoms(state)) for state in picked)


@st.composite
def heads(draw: st.DrawFn, body: tuple[Atom, ...], width: int) -> tuple[RdfTerm, ...]:
    shown = sorted({t for t in variables_of(body) if t not in STATES})
    if not shown:
        return (INDIVIDUALS[0],) * width
    return tuple(draw(st.sampled_from(shown)) for _ in range(width))


@st.composite
def comparisons(draw: st.DrawFn, body: tuple[Atom, ...]) -> tuple[TermComparison, ...]:
    states = sorted({a.state for a in body if a.state is not None})
    found: list[TermComparison] = []
    if len(states) == 2 and draw(st.booleans()):
        found.append(TermComparison(states[0], Op.LT, states[1]))
    plain = sorted({t for t in variables_of(body) if t not in STATES})
    if plain and draw(st.integers(0, 5)) == 0:
        sides = draw(st.sampled_from(plain)), draw(st.sampled_from((*plain, INDIVIDUALS[1])))
        op = draw(st.sampled_from((Op.NE, Op.LT, Op.EQ)))
        found.append(TermComparison(sides[0], op, sides[1]))
    return tuple(found)


@st.composite
def cases(draw: st.DrawFn, size: int = 4) -> Case:
    with_states = draw(st.integers(0, 4)) == 0
    states: tuple[Variable | None, ...] = (None, *STATES) if with_states else (None,)
    width = draw(st.integers(0, 2))
    disjuncts = []
    for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
        body = draw(bodies(size, states))
        head = draw(heads(body, width))
        disjuncts.append(ConjunctiveQuery(head, body, draw(comparisons(body))))
    labels: tuple[State, ...] = (None, 1, 2) if with_states else (None,)
    data: Data = {label: draw(worlds()) for label in labels}
    # The query's constant is known to the data, so that both sides have it in their domain.
    data[None].individuals.add(INDIVIDUALS[0])
    names = tuple(f"c{n}" for n in range(width))
    return Case(draw(tboxes()), data, UnionOfCQs(names, tuple(disjuncts)))
