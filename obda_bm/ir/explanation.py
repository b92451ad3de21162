"""How a verdict was reached: what was known of each branch, and which conditions held."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class ColumnExplanation:
    column: str
    type: str
    domain: str
    bounded: bool


@dataclass(frozen=True, slots=True)
class ConditionExplanation:
    condition: str
    source: str
    statement: str
    violations: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.violations


class TimeRelation(Enum):
    BEFORE = "before"
    NOT_AFTER = "not after"
    WITHIN = "within"


@dataclass(frozen=True, slots=True)
class TimeEdge:
    """What P+ says about the timestamps of two streams.

    >>> print(TimeEdge("S", "T", TimeRelation.WITHIN, "5 min"))
    T within 5 min of S
    """

    earlier: str
    later: str
    relation: TimeRelation
    interval: str = ""

    def __str__(self) -> str:
        if self.relation is TimeRelation.WITHIN:
            return f"{self.later} within {self.interval} of {self.earlier}"
        return f"{self.earlier} {self.relation.value} {self.later}"


@dataclass(frozen=True, slots=True)
class BranchExplanation:
    """One branch after preprocessing.

    `streams` are the infinite ones; `arrivals` are those that end, too. `order` is the transitive
    reduction of the order in time, and the windows.
    """

    query: str
    satisfiable: bool
    streams: tuple[str, ...] = ()
    arrivals: tuple[str, ...] = ()
    order: tuple[TimeEdge, ...] = ()
    columns: tuple[ColumnExplanation, ...] = ()
    joins: tuple[str, ...] = ()
    conditions: tuple[ConditionExplanation, ...] = ()
