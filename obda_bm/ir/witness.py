"""Streams that force memory to grow: the certificate of an unbounded verdict."""

from __future__ import annotations

from dataclasses import dataclass

from obda_bm.ir.catalog import Relation
from obda_bm.ir.sqltypes import Value


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of a stream or a static relation, in the order of the relation's columns."""

    relation: Relation
    values: tuple[Value | None, ...]

    def __getitem__(self, column: str) -> Value | None:
        return self.values[[c.name for c in self.relation.columns].index(column)]

    @property
    def time(self) -> int | None:
        """The timestamp; None for static tuples."""
        if self.relation.time is None:
            return None
        time = self[self.relation.time]
        assert isinstance(time, int)
        return time

    def __str__(self) -> str:
        pairs = zip(self.relation.columns, self.values, strict=True)
        cells = (f"{c.name}={'NULL' if v is None else c.type.literal(v)}" for c, v in pairs)
        return f"{self.relation.name}({', '.join(cells)})"


@dataclass(frozen=True, slots=True)
class Witness:
    """After any subset of the candidates, the continuations tell which subset it was.

    `common` is always there: the static relations, and tuples of finite streams. A subset of the
    candidates arrives, then one continuation; so 2^N subsets need 2^N states.
    """

    common: tuple[Tuple, ...]
    candidates: tuple[tuple[Tuple, ...], ...]
    continuations: tuple[tuple[Tuple, ...], ...]

    def __post_init__(self) -> None:
        if len(self.candidates) != len(self.continuations):
            raise ValueError("each candidate has its continuation")

    @property
    def n(self) -> int:
        return len(self.candidates)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What executing a witness showed.

    `exact`: each continuation answers for exactly its own candidate, whatever else was received.
    Otherwise the answers of all continuations together tell the subsets apart.
    """

    n: int
    subsets: int
    exact: bool
