"""The consistency queries hold in the data exactly when the chase contradicts an axiom."""

from __future__ import annotations

from random import Random

from obda_bm.ir.tbox import (
    Axiom,
    DisjointConcepts,
    DisjointRoles,
    Exists,
    Irreflexive,
    Named,
    Role,
    SubClassOf,
    TBox,
)
from obda_bm.rewriting import violations
from tests.rewriting.cases import CLASSES, random_case
from tests.rewriting.chase import TooLarge, World, answers, chase

SEEDS = 500


def negative(random: Random) -> Axiom:
    roles = [Role(random.choice("PQ"), random.random() < 0.4) for _ in range(2)]
    concepts = [random.choice((Named(random.choice(CLASSES)), Exists(r))) for r in roles]
    return random.choice(
        (
            DisjointConcepts(concepts[0], concepts[1]),
            DisjointConcepts(concepts[0], concepts[0]),
            DisjointRoles(roles[0], roles[1]),
            Irreflexive(roles[0]),
        )
    )


def contradicts(model: World, axiom: Axiom) -> bool:
    match axiom:
        case DisjointConcepts(left, right):
            return bool(model.is_in(left) & model.is_in(right))
        case DisjointRoles(left, right):
            return bool(pairs(model, left) & pairs(model, right))
        case Irreflexive(role):
            return any(a == b for a, b in pairs(model, role))
        case _:
            return False


def pairs(model: World, role: Role) -> set[tuple[object, object]]:
    found = model.pairs.get(role.iri, set())
    return {(b, a) if role.inverse else (a, b) for a, b in found}


def test_violations_are_found_and_nothing_else() -> None:
    compared = found = 0
    for seed in range(SEEDS):
        case, axiom = random_case(seed), negative(Random(seed))
        data = {None: case.data[None]}
        tbox = TBox((*case.tbox.axioms, axiom), data_properties=case.tbox.data_properties)
        inventing = sum(isinstance(a, SubClassOf) for a in tbox.axioms)
        try:
            model = chase(data, tbox, min(inventing, 4) + 3)
        except TooLarge:
            continue
        (violation,) = violations(tbox)
        expected = contradicts(model[None], axiom)
        assert bool(answers(violation.rewriting.ucq.disjuncts, data)) == expected, seed
        compared += 1
        found += expected
    assert compared > SEEDS * 0.7
    assert SEEDS * 0.05 < found < SEEDS * 0.95


def test_positive_axioms_have_no_violations() -> None:
    assert not list(violations(TBox((SubClassOf(Named("A"), Named("B")),))))
