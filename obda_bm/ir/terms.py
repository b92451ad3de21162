"""Columns, constants and the comparisons between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from obda_bm.diagnostics import Span
from obda_bm.ir.sqltypes import SqlType, Value


@dataclass(frozen=True, slots=True, order=True)
class ColumnRef:
    """A column of one occurrence of a stream or relation, as `alias.column`."""

    occurrence: str
    column: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.occurrence}.{self.column}" if self.occurrence else self.column


@dataclass(frozen=True, slots=True)
class Constant:
    value: Value
    type: SqlType
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.type.literal(self.value)


Term = ColumnRef | Constant


class Op(Enum):
    LT = "<"
    LE = "<="
    EQ = "="
    NE = "<>"
    GE = ">="
    GT = ">"

    @property
    def mirrored(self) -> Op:
        """The operator after its two sides change places."""
        return _MIRRORED[self]


_MIRRORED = {Op.LT: Op.GT, Op.LE: Op.GE, Op.EQ: Op.EQ, Op.NE: Op.NE, Op.GE: Op.LE, Op.GT: Op.LT}


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right + offset`; only time columns have an offset, in ticks of their type."""

    left: Term
    op: Op
    right: Term
    offset: int = 0
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        shift = f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}" if self.offset else ""
        return f"{self.left} {self.op.value} {self.right}{shift}"


@dataclass(frozen=True, slots=True)
class Membership:
    """`column IN (values)`: a filter that makes the column finite."""

    column: ColumnRef
    values: tuple[Constant, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.column} IN ({', '.join(map(str, self.values))})"


@dataclass(frozen=True, slots=True)
class NotNull:
    column: ColumnRef
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.column} IS NOT NULL"


Predicate = Comparison | Membership | NotNull


def columns_of(predicate: Predicate) -> tuple[ColumnRef, ...]:
    match predicate:
        case Comparison(left, _, right):
            return tuple(term for term in (left, right) if isinstance(term, ColumnRef))
        case Membership(column) | NotNull(column):
            return (column,)


def rename(predicate: Predicate, renaming: dict[ColumnRef, ColumnRef]) -> Predicate:
    """`predicate` with its columns replaced; columns not in `renaming` stay."""

    def new(term: Term) -> Term:
        return renaming.get(term, term) if isinstance(term, ColumnRef) else term

    match predicate:
        case Comparison(left, _, right):
            return replace(predicate, left=new(left), right=new(right))
        case Membership(column) | NotNull(column):
            return replace(predicate, column=renaming.get(column, column))
