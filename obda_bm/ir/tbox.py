"""DL-Lite_R with datatypes, which is what OWL 2 QL says ([CGLLR07], [OWL2P]).

Axioms are in normal form: a qualified existential on the right is a fresh role with a range.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from obda_bm.diagnostics import Span
from obda_bm.ir.ucq import local_name

THING = "http://www.w3.org/2002/07/owl#Thing"
"""The class of every individual; `Thing(x)` in a query holds for whatever the data names."""


@dataclass(frozen=True, slots=True, order=True)
class Role:
    """An object or data property, or the inverse of an object property."""

    iri: str
    inverse: bool = False

    def inverted(self) -> Role:
        return Role(self.iri, not self.inverse)

    def __str__(self) -> str:
        return local_name(self.iri) + ("⁻" if self.inverse else "")


@dataclass(frozen=True, slots=True, order=True)
class Named:
    """A class, or a datatype where a data property's values are meant."""

    iri: str

    def __str__(self) -> str:
        return local_name(self.iri)


@dataclass(frozen=True, slots=True, order=True)
class Exists:
    """Everything with some `role` successor; `∃P⁻` is the range of P."""

    role: Role

    def __str__(self) -> str:
        return f"∃{self.role}"


Concept = Named | Exists


@dataclass(frozen=True, slots=True)
class SubClassOf:
    sub: Concept
    sup: Concept
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.sub} ⊑ {self.sup}"


@dataclass(frozen=True, slots=True)
class SubRoleOf:
    sub: Role
    sup: Role
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.sub} ⊑ {self.sup}"


@dataclass(frozen=True, slots=True)
class DisjointConcepts:
    left: Concept
    right: Concept
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.left} ⊑ ¬{self.right}"


@dataclass(frozen=True, slots=True)
class DisjointRoles:
    """`DisjointRoles(P, P⁻)` is asymmetry."""

    left: Role
    right: Role
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.left} ⊑ ¬{self.right}"


@dataclass(frozen=True, slots=True)
class Reflexive:
    role: Role
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"reflexive {self.role}"


@dataclass(frozen=True, slots=True)
class Irreflexive:
    role: Role
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"irreflexive {self.role}"


Axiom = SubClassOf | SubRoleOf | DisjointConcepts | DisjointRoles | Reflexive | Irreflexive


@dataclass(frozen=True, slots=True)
class TBox:
    """Axioms, and the vocabulary that the ontology declares.

    `fresh` are the roles that normalisation invented; no data has them.
    """

    axioms: tuple[Axiom, ...]
    classes: frozenset[str] = frozenset()
    object_properties: frozenset[str] = frozenset()
    data_properties: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()

    @property
    def vocabulary(self) -> frozenset[str]:
        """The IRIs of classes and properties that a query may use."""
        return self.classes | self.object_properties | (self.data_properties - self.fresh)

    def __str__(self) -> str:
        return "\n".join(map(str, self.axioms))


def concepts_of(axiom: Axiom) -> tuple[Concept, ...]:
    """The concepts that `axiom` is about."""
    match axiom:
        case SubClassOf(sub, sup):
            return (sub, sup)
        case DisjointConcepts(left, right):
            return (left, right)
        case _:
            return ()


def roles_of(axiom: Axiom) -> tuple[Role, ...]:
    """The roles that `axiom` mentions, by themselves or in a concept."""
    match axiom:
        case SubRoleOf(sub, sup):
            return (sub, sup)
        case DisjointRoles(left, right):
            return (left, right)
        case Reflexive(role) | Irreflexive(role):
            return (role,)
        case _:
            return tuple(c.role for c in concepts_of(axiom) if isinstance(c, Exists))
