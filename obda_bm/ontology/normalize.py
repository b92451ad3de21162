"""Inclusions in normal form: a qualified existential becomes a fresh role with a range."""

from __future__ import annotations

from collections.abc import Iterator

from obda_bm.diagnostics import Span
from obda_bm.ir.tbox import (
    Axiom,
    Concept,
    DisjointConcepts,
    Exists,
    Named,
    Role,
    SubClassOf,
    SubRoleOf,
)
from obda_bm.ontology.expressions import Bottom, Not, Right, Some

FRESH = "urn:obda-bm:fresh#"


class FreshRoles:
    """One fresh role for each qualified existential, called after it."""

    def __init__(self) -> None:
        self._names: dict[Some, str] = {}
        self._taken: set[str] = set()

    def role(self, some: Some) -> Role:
        """The role for `some`: the same for equal expressions, whoever has them."""
        if some not in self._names:
            name = FRESH + text_of(some)
            while name in self._taken:
                name += "'"
            self._taken.add(name)
            self._names[some] = name
        return Role(self._names[some])

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._taken)

    def over(self, properties: frozenset[str]) -> frozenset[str]:
        """The fresh roles below one of `properties`."""
        return frozenset(n for some, n in self._names.items() if some.role.iri in properties)


def include(sub: Concept, right: Right, fresh: FreshRoles, span: Span | None) -> Iterator[Axiom]:
    """The axioms that say `sub` ⊑ `right`."""
    match right:
        case Named() | Exists():
            yield SubClassOf(sub, right, span)
        case Not(concept):
            yield DisjointConcepts(sub, concept, span)
        case Bottom():
            yield DisjointConcepts(sub, sub, span)
        case Some(role, filler):
            invented = fresh.role(right)
            yield SubClassOf(sub, Exists(invented), span)
            yield SubRoleOf(invented, role, span)
            for part in filler:
                yield from include(Exists(invented.inverted()), part, fresh, span)


def text_of(right: Right) -> str:
    """The expression in a word, for the name of a fresh role."""
    match right:
        case Named() | Exists():
            return str(right)
        case Not(concept):
            return f"¬{concept}"
        case Bottom():
            return "⊥"
        case Some(role, filler):
            return f"{role}.{'⊓'.join(map(text_of, filler))}"
