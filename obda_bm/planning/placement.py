"""SynopsisPlan -> where its kernel can run: on the driver, with executors' help, or on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from obda_bm.ir.catalog import Relation
from obda_bm.ir.plan import BranchPlan, Input, SynopsisPlan
from obda_bm.ir.spj import Semantics
from obda_bm.ir.sqltypes import Order, SqlType
from obda_bm.ir.terms import ColumnRef, Comparison, Op, Predicate


@dataclass(frozen=True, slots=True)
class OnDriver:
    """All rows come to one kernel."""

    def __str__(self) -> str:
        return "driver"


@dataclass(frozen=True, slots=True)
class Aggregated:
    """Executors leave, of rows that do the same, one with a weight; these come to one kernel."""

    def __str__(self) -> str:
        return "aggregated"


@dataclass(frozen=True, slots=True)
class Keyed:
    """Rows with equal keys meet in one of many kernels; each stream has one key column."""

    keys: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        listed = ", ".join(f"{stream}.{column}" for stream, column in self.keys)
        return f"keyed by {listed}"

    def column(self, stream: str) -> str:
        return dict(self.keys)[stream]


Placement = OnDriver | Aggregated | Keyed


def placements(plan: SynopsisPlan) -> tuple[Placement, ...]:
    """All placements that give the right answer, the one that scales furthest first."""
    keyed = find_key(plan)
    everywhere = (Aggregated(), OnDriver())
    return everywhere if keyed is None else (keyed, *everywhere)


def find_key(plan: SynopsisPlan) -> Keyed | None:
    """Columns, one of each stream, that every match has equal; None where there are none.

    A set query must also project the key: equal results are then found by one kernel only, which
    knows whether it has emitted them.
    """
    found: dict[str, str] | None = None
    for candidate in _candidates(plan):
        if all(_fits(branch, candidate, plan.semantics) for branch in plan.branches):
            found = min(found or candidate, candidate, key=lambda keys: sorted(keys.items()))
    return None if found is None else Keyed(tuple(sorted(found.items())))


def _candidates(plan: SynopsisPlan) -> Iterator[dict[str, str]]:
    """From the classes of the first branch; other branches may bring more streams."""
    if not plan.branches:
        return
    partial: list[dict[str, str]] = [{}]
    for branch in plan.branches:
        choices = [_by_stream(branch, members) for members in _classes(branch)]
        partial = [
            {**known, **choice}
            for known in partial
            for choice in choices
            if choice is not None and all(known.get(s, c) == c for s, c in choice.items())
        ]
    yield from partial


def _by_stream(branch: BranchPlan, members: frozenset[ColumnRef]) -> dict[str, str] | None:
    """The key column of each stream, if the class gives every one of them exactly one."""
    streams = _streams(branch)
    found: dict[str, str] = {}
    types: set[SqlType] = set()
    for alias, relation in streams.items():
        columns = sorted(c.column for c in members if c.occurrence == alias)
        if not columns or relation.time in columns:
            return None
        column = found.get(relation.name, columns[0])
        if column not in columns:
            return None  # a self-join that would send a row to two places
        found[relation.name] = column
        types.add(relation.column(column).type)
    exact = all(t.order is not Order.DENSE for t in types)
    return found if exact and len({t.name for t in types}) == 1 else None


def _fits(branch: BranchPlan, keys: Mapping[str, str], semantics: Semantics) -> bool:
    streams = _streams(branch)
    chosen = {ColumnRef(alias, keys[relation.name]) for alias, relation in streams.items()}
    holder = next((m for m in _classes(branch) if chosen <= m), None)
    if holder is None:
        return False
    return semantics is Semantics.BAG or any(o.term in holder for o in branch.projection)


def _streams(branch: BranchPlan) -> dict[str, Relation]:
    return {scan.alias: scan.relation for i in branch.inputs for scan in i.scans}


def _classes(branch: BranchPlan) -> list[frozenset[ColumnRef]]:
    """Columns that the branch makes equal; one that is equal to none is a class of its own."""
    classes: list[frozenset[ColumnRef]] = [
        frozenset([ColumnRef(scan.alias, column.name)])
        for i in branch.inputs
        for scan in (*i.scans, *i.statics)
        for column in scan.relation.columns
    ]
    for left, right in _equalities(branch):
        joined = [c for c in classes if left in c or right in c]
        classes = [c for c in classes if c not in joined] + [frozenset().union(*joined)]
    return classes


def _equalities(branch: BranchPlan) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    predicates = [p for step in branch.steps for p in step.joins]
    predicates += [p for i in branch.inputs for p in _inner(i)]
    for predicate in predicates:
        match predicate:
            case Comparison(ColumnRef() as left, Op.EQ, ColumnRef() as right, 0):
                yield left, right
            case _:
                pass


def _inner(arriving: Input) -> list[Predicate]:
    scans = (*arriving.scans, *arriving.statics)
    return [*arriving.joins, *(f for scan in scans for f in scan.filters)]
