"""The streams and static relations that queries range over."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from obda_bm.diagnostics import Span
from obda_bm.ir.sqltypes import SqlType
from obda_bm.ir.terms import Predicate


class Extent(Enum):
    """Which tuples there will be ([S] Definitions 2 and 3)."""

    STATIC = "static"  # all of them known before the query starts
    FINITE = "finite"  # a stream that ends at a known time
    INFINITE = "infinite"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: SqlType
    nullable: bool = True
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Values of `columns`, where none is NULL, are those of `key` in a row of `relation`."""

    columns: tuple[str, ...]
    relation: str
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Where tuples come from; data only, the engines give it a meaning."""

    format: str
    options: tuple[tuple[str, str | int | float | bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A stream (with a time column) or a static relation (without one).

    `checks` are constraints that every tuple satisfies; their columns have an empty occurrence.
    `end` is the last possible timestamp of a finite stream, in ticks of the time column.
    `rows` is a known cardinality, used for the bound only.
    """

    name: str
    columns: tuple[Column, ...]
    extent: Extent
    time: str | None = None
    keys: tuple[tuple[str, ...], ...] = ()
    checks: tuple[Predicate, ...] = ()
    end: int | None = None
    rows: int | None = None
    source: Source | None = None
    foreign_keys: tuple[ForeignKey, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.time is None) != (self.extent is Extent.STATIC):
            raise ValueError(f"a stream, and no static relation, has a time column: {self.name}")
        if (self.end is None) != (self.extent is not Extent.FINITE):
            raise ValueError(f"a finite stream, and no other, has an end: {self.name}")

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True, slots=True)
class Catalog:
    relations: tuple[Relation, ...]

    def find(self, name: str) -> Relation | None:
        """The relation called `name`, in any case, as SQL finds it."""
        exact = [r for r in self.relations if r.name == name]
        folded = exact or [r for r in self.relations if r.name.lower() == name.lower()]
        return folded[0] if folded else None
