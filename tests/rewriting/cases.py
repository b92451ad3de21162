"""Random TBoxes, data and queries, small enough for the chase.

Most random queries have no answers, and few of the others need invented individuals. So half of
the queries are cut out of the canonical model: facts that hang together, with variables for names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

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
from tests.rewriting.chase import Data, Element, Null, State, TooLarge, World, chase

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


def random_case(seed: int) -> Case:
    """The case with number `seed`."""
    random = Random(seed)
    tbox = _tbox(random)
    labels: tuple[State, ...] = (None, 1, 2) if random.random() < 0.2 else (None,)
    data = {label: _world(random) for label in labels}
    # The query's constant is known to the data, so that both sides have it in their domain.
    data[None].individuals.add(INDIVIDUALS[0])
    bodies = [_body(random, tbox, data) for _ in range(random.choice((1, 1, 1, 2)))]
    width = random.choice((0, 1, 1, 2))
    disjuncts = tuple(
        ConjunctiveQuery(_head(random, body, width), body, _comparisons(random, body))
        for body in bodies
    )
    return Case(tbox, data, UnionOfCQs(tuple(f"c{n}" for n in range(width)), disjuncts))


def _tbox(random: Random) -> TBox:
    axioms = [_axiom(random) for _ in range(random.randint(1, 7))]
    if random.random() < 0.15:
        axioms.append(Reflexive(_role(random)))
    if random.random() < 0.2:
        axioms.append(SubClassOf(Exists(Role(DATA_PROPERTY, inverse=True)), Named(DATATYPE)))
    return TBox(tuple(axioms), data_properties=frozenset((DATA_PROPERTY,)), fresh=FRESH)


def _axiom(random: Random) -> Axiom:
    kind = random.random()
    if kind < 0.2:
        return SubRoleOf(_role(random), _role(random))
    if kind < 0.55:
        return SubClassOf(_concept(random), Exists(_role(random)))
    if kind < 0.6:
        return SubClassOf(_concept(random), Exists(Role(DATA_PROPERTY)))
    if kind < 0.65:
        return SubClassOf(Exists(Role(DATA_PROPERTY)), _concept(random))
    if kind < 0.68:
        return SubClassOf(Named(THING), _concept(random))
    return SubClassOf(_concept(random), _concept(random))


def _role(random: Random) -> Role:
    return Role(random.choice(ROLES), random.random() < 0.4)


def _concept(random: Random) -> Concept:
    return Named(random.choice(CLASSES)) if random.random() < 0.5 else Exists(_role(random))


def _world(random: Random) -> World:
    world = World()
    for _ in range(random.randint(0, 4)):
        element = random.choice(INDIVIDUALS)
        world.add_member(random.choice(CLASSES), element)
        world.individuals.add(element)
    for _ in range(random.randint(0, 3)):
        a, b = random.choice(INDIVIDUALS), random.choice(INDIVIDUALS)
        world.add_pair(Role(random.choice(("P", "Q"))), a, b)
        world.individuals |= {a, b}
    if random.random() < 0.3:
        a, value = random.choice(INDIVIDUALS), random.choice(LITERALS)
        world.add_pair(Role(DATA_PROPERTY), a, value)
        world.add_member(DATATYPE, value)
        world.individuals.add(a)
    return world


def _body(random: Random, tbox: TBox, data: Data) -> tuple[Atom, ...]:
    if random.random() < 0.5:
        try:
            body = _cut_out(random, chase(data, tbox, 3))
        except TooLarge:
            body = ()
        if body:
            return body
    states = (None,) if len(data) == 1 else (None, *STATES)
    return tuple(_atom(random, random.choice(states)) for _ in range(random.randint(1, 5)))


def _cut_out(random: Random, model: Data) -> tuple[Atom, ...]:
    """Facts that hang together, each individual replaced by a variable of its own."""
    state = random.choice(tuple(model))
    facts = sorted(_facts(model[state]), key=str)
    random.shuffle(facts)
    chosen = facts[:1]
    for _ in range(random.randint(0, 4)):
        known = {e for _, elements in chosen for e in elements}
        more = (f for f in facts if f not in chosen and known & set(f[1]))
        chosen += [fact for fact in (next(more, None),) if fact is not None]
    names: dict[Element, RdfTerm] = {}
    place = None if state is None else STATES[0]
    return tuple(_fact_atom(random, iri, elements, names, place) for iri, elements in chosen)


def _facts(world: World) -> Iterator[tuple[str, tuple[Element, ...]]]:
    for iri, members in world.members.items():
        yield from ((iri, (member,)) for member in members)
    for iri, pairs in world.pairs.items():
        if iri not in FRESH:
            yield from ((iri, pair) for pair in pairs)


def _fact_atom(
    random: Random,
    iri: str,
    elements: tuple[Element, ...],
    names: dict[Element, RdfTerm],
    state: Variable | None,
) -> Atom:
    for element in elements:
        if element not in names:
            constant = not isinstance(element, Null) and random.random() < 0.1
            names[element] = element if constant else Variable(f"x{len(names)}")
        elif random.random() < 0.1:  # one individual as two variables
            names[element] = Variable(f"x{len(names)}_{random.randint(0, 9)}")
    terms = [names[element] for element in elements]
    return ClassAtom(iri, *terms, state) if len(terms) == 1 else PropertyAtom(iri, *terms, state)


def _atom(random: Random, state: Variable | None) -> Atom:
    pool = VARIABLES * 4 + INDIVIDUALS[:1]
    kind = random.random()
    if kind < 0.4:
        return ClassAtom(random.choice(CLASSES), random.choice(pool), state)
    if kind < 0.85:
        ends = random.choice(pool), random.choice(pool)
        return PropertyAtom(random.choice(("P", "Q")), *ends, state)
    if kind < 0.95:
        value: RdfTerm = random.choice((*VALUES, LITERALS[0]))
        return PropertyAtom(DATA_PROPERTY, random.choice(pool), value, state)
    return ClassAtom(DATATYPE, random.choice(VALUES), state)


def _shown(body: tuple[Atom, ...]) -> list[Variable]:
    return sorted({t for t in variables_of(body) if t not in STATES})


def _head(random: Random, body: tuple[Atom, ...], width: int) -> tuple[RdfTerm, ...]:
    shown = _shown(body)
    return tuple(random.choice(shown) if shown else INDIVIDUALS[0] for _ in range(width))


def _comparisons(random: Random, body: tuple[Atom, ...]) -> tuple[TermComparison, ...]:
    found: list[TermComparison] = []
    if {a.state for a in body} >= set(STATES) and random.random() < 0.5:
        found.append(TermComparison(STATES[0], Op.LT, STATES[1]))
    shown = _shown(body)
    if shown and random.random() < 0.15:
        right = random.choice((*shown, INDIVIDUALS[1]))
        op = random.choice((Op.NE, Op.LT, Op.EQ))
        found.append(TermComparison(random.choice(shown), op, right))
    return tuple(found)
