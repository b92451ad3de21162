"""How a verdict was reached: what was known of each branch, and which conditions held."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class BranchExplanation:
    """One branch after preprocessing."""

    query: str
    satisfiable: bool
    streams: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    columns: tuple[ColumnExplanation, ...] = ()
    joins: tuple[str, ...] = ()
    conditions: tuple[ConditionExplanation, ...] = ()
