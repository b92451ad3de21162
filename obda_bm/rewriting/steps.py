"""Queries on their way through the rewriting, each with the inclusions that led to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from obda_bm.ir.hierarchy import Hierarchy
from obda_bm.ir.tbox import Axiom, Concept, Role, SubClassOf
from obda_bm.ir.ucq import ConjunctiveQuery


@dataclass(frozen=True, slots=True)
class ConceptBelow:
    """`sub` ⊑ `sup` follows from the axioms; which of them is looked up when somebody asks."""

    sub: Concept
    sup: Concept


@dataclass(frozen=True, slots=True)
class RoleBelow:
    sub: Role
    sup: Role


@dataclass(frozen=True, slots=True)
class ReflexiveBelow:
    """The reflexive role `sub` ⊑ `sup`, so that everything is related to itself by `sup`."""

    sub: Role
    sup: Role


Step = Axiom | ConceptBelow | RoleBelow | ReflexiveBelow


@dataclass(frozen=True, slots=True)
class Derived:
    """A query that implies the user's, and why."""

    query: ConjunctiveQuery
    steps: tuple[Step, ...] = ()

    def by(self, query: ConjunctiveQuery, *steps: Step) -> Derived:
        """What `query` is when `steps` lead from this one to it."""
        return replace(self, query=query, steps=self.steps + steps)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A TBox as the rewriting asks for it."""

    hierarchy: Hierarchy
    generators: dict[Role, tuple[SubClassOf, ...]]
    """The axioms `B ⊑ ∃R`, by R: each of them invents individuals."""
    data_properties: frozenset[str]
    fresh: frozenset[str]


def axioms_of(steps: tuple[Step, ...], hierarchy: Hierarchy) -> tuple[Axiom, ...]:
    """The axioms that `steps` use, each once, in order."""
    used: dict[Axiom, None] = {}
    for step in steps:
        used |= dict.fromkeys(_axioms_of_step(step, hierarchy))
    return tuple(used)


def _axioms_of_step(step: Step, hierarchy: Hierarchy) -> tuple[Axiom, ...]:
    match step:
        case ConceptBelow(sub, sup):
            return hierarchy.why_concept(sub, sup)
        case RoleBelow(sub, sup):
            return hierarchy.why_role(sub, sup)
        case ReflexiveBelow(sub, sup):
            return (hierarchy.reflexivity(sub), *hierarchy.why_role(sub, sup))
        case _:
            return (step,)
