"""What fails a criterion: the condition, the columns and joins that fail it, and where."""

from __future__ import annotations

from dataclasses import dataclass

from obda_bm.ir.terms import ColumnRef
from obda_bm.order.cells import Region
from obda_bm.order.joins import Join
from obda_bm.order.streams import Stream


@dataclass(frozen=True, slots=True)
class Condition:
    """One clause of a criterion, under the name its source gives it."""

    name: str
    source: str
    statement: str


@dataclass(frozen=True, slots=True)
class Violation:
    """`stored` is the closed set over which partial matches have to be remembered.

    The joins are oriented: what is stored on the left, what may still arrive on the right.
    `cell` restricts the columns to the region in which the condition fails.
    """

    condition: Condition
    columns: tuple[ColumnRef, ...]
    stored: frozenset[Stream]
    joins: tuple[Join, ...] = ()
    cell: Region = ()
