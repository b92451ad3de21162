"""Several streams -> one, so that one batch has rows of all of them.

Streams share columns of equal type: row by row, a tag says whose values they are. Beside columns
of its own for every stream, this saves the NULLs of all the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 — as all of Spark's documentation calls it
from pyspark.sql.types import DataType

from obda_bm.execution.conform import Origin, conform, match_names
from obda_bm.ir.catalog import Relation

TAG = "tag"


@dataclass(frozen=True, slots=True)
class Slot:
    """The `index`-th common column of its type."""

    type: DataType
    index: int

    @property
    def name(self) -> str:
        return f"{self.type.simpleString()} {self.index}"


@dataclass(frozen=True, slots=True)
class Lane:
    """Where the columns of one stream are: their names there, and their common columns."""

    relation: Relation
    names: tuple[str, ...]
    slots: tuple[Slot, ...]


def lanes_of(relations: Sequence[Relation], frames: Mapping[str, DataFrame]) -> tuple[Lane, ...]:
    """A lane for each stream.

    Raises:
        ExecutionError: where a column is missing.
    """
    return tuple(_lane(relation, frames[relation.name]) for relation in relations)


def _lane(relation: Relation, frame: DataFrame) -> Lane:
    names = match_names(relation, frame.columns, Origin(f"the source of {relation.name!r}"))
    slots: list[Slot] = []
    for name in names:
        type_ = frame.schema[name].dataType
        slots.append(Slot(type_, sum(slot.type == type_ for slot in slots)))
    return Lane(relation, names, tuple(slots))


def tag(lanes: Sequence[Lane], frames: Mapping[str, DataFrame]) -> DataFrame:
    """All rows of all streams."""
    slots = tuple(dict.fromkeys(slot for lane in lanes for slot in lane.slots))
    parts = [
        frames[lane.relation.name].select(F.lit(i).alias(TAG), *_columns(lane, slots))
        for i, lane in enumerate(lanes)
    ]
    return reduce(DataFrame.union, parts)


def _columns(lane: Lane, slots: Sequence[Slot]) -> list[Column]:
    own = dict(zip(lane.slots, lane.names, strict=True))
    return [
        (F.col(f"`{own[s]}`") if s in own else F.lit(None).cast(s.type)).alias(s.name)
        for s in slots
    ]


def untag(lanes: Sequence[Lane], rows: pa.Table, before: Mapping[str, int]) -> dict[str, pa.Table]:
    """By stream, its rows with its own columns and types; `before` counts those of old batches.

    Raises:
        ExecutionError: where a value does not fit.
    """
    return {
        lane.relation.name: conform(
            lane.relation,
            own_rows(lane, i, rows),
            Origin(lane.relation.name, before[lane.relation.name]),
        )
        for i, lane in enumerate(lanes)
    }


def own_rows(lane: Lane, index: int, rows: pa.Table) -> pa.Table:
    """The rows of one stream, under its own names."""
    chosen = rows.filter(pc.equal(rows.column(TAG), index))
    columns = [chosen.column(slot.name) for slot in lane.slots]
    return pa.table(columns, names=[column.name for column in lane.relation.columns])
