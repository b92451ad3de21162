"""Select-project-join queries over streams and relations, and unions of them ([S] Definition 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from obda_bm.diagnostics import Span
from obda_bm.ir.catalog import Column, Extent, Relation
from obda_bm.ir.terms import ColumnRef, Constant, Predicate, Term, columns_of, rename


class Semantics(Enum):
    """What a projection does with duplicates."""

    BAG = "bag"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One mention of a stream or relation in FROM; a self-join has several of one relation."""

    alias: str
    relation: Relation
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        name = self.relation.name
        return name if name == self.alias else f"{name} {self.alias}"

    @property
    def time(self) -> ColumnRef | None:
        return ColumnRef(self.alias, self.relation.time) if self.relation.time else None


@dataclass(frozen=True, slots=True)
class Output:
    """One item of the SELECT list."""

    name: str
    term: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SpjQuery:
    """`π_projection σ_predicates (occurrences)`; the predicates are a conjunction."""

    occurrences: tuple[Occurrence, ...]
    projection: tuple[Output, ...]
    predicates: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        aliases = [occurrence.alias for occurrence in self.occurrences]
        if len(set(aliases)) != len(aliases):
            raise ValueError(f"two occurrences share an alias: {aliases}")

    def __str__(self) -> str:
        outputs = ", ".join(str(output.term) for output in self.projection)
        conditions = " ∧ ".join(map(str, self.predicates)) or "true"
        inputs = " × ".join(map(str, self.occurrences)) or "()"
        return f"π[{outputs}] σ[{conditions}] ({inputs})"

    def occurrence(self, alias: str) -> Occurrence:
        return next(o for o in self.occurrences if o.alias == alias)

    def column(self, ref: ColumnRef) -> Column:
        return self.occurrence(ref.occurrence).relation.column(ref.column)

    def extent(self, alias: str) -> Extent:
        return self.occurrence(alias).relation.extent

    def is_time(self, term: Term) -> bool:
        match term:
            case ColumnRef(alias, name):
                return self.occurrence(alias).relation.time == name
            case Constant():
                return False

    @property
    def projected(self) -> tuple[ColumnRef, ...]:
        return tuple(o.term for o in self.projection if isinstance(o.term, ColumnRef))

    def checks(self) -> tuple[Predicate, ...]:
        """The catalog's constraints on every occurrence, about its own columns."""
        return tuple(
            rename(check, {c: ColumnRef(o.alias, c.column) for c in columns_of(check)})
            for o in self.occurrences
            for check in o.relation.checks
        )


@dataclass(frozen=True, slots=True)
class SpjUnion:
    """A union of queries that all keep duplicates, or all eliminate them."""

    branches: tuple[SpjQuery, ...]
    semantics: Semantics

    def __post_init__(self) -> None:
        if len({len(branch.projection) for branch in self.branches}) != 1:
            raise ValueError("the branches of a union project the same number of columns")

    def __str__(self) -> str:
        sign = "\n∪ " if self.semantics is Semantics.SET else "\n⊎ "
        return sign.join(map(str, self.branches))
