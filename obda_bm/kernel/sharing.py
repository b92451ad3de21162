"""Which synopses of different branches always hold the same: they are kept once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from obda_bm.ir.plan import BranchPlan, Extreme, Input, Scan, Step, Synopsis
from obda_bm.ir.terms import ColumnRef, Comparison, Predicate, columns_of, rename
from obda_bm.kernel.encoding import TextPool
from obda_bm.kernel.scan import Codec, codec

Names = Mapping[str, str]
"""Aliases -> names that do not depend on what a branch calls its inputs."""


def signature(branch: BranchPlan, index: int) -> Hashable:
    """All that determines what synopsis `index` holds, whatever its inputs are called."""
    synopsis = branch.synopses[index]
    inputs = [branch.inputs[i] for i in synopsis.inputs]
    aliases = [scan.alias for given in inputs for scan in (*given.scans, *given.statics)]
    names = {alias: f"#{number}" for number, alias in enumerate(aliases)}
    steps = [step for step in branch.steps if step.target == index]
    # Once an input outside has ended, nothing of the synopsis can be completed any more.
    ends = [x.end for i, x in enumerate(branch.inputs) if i not in synopsis.inputs]
    return (
        branch.scale,
        tuple(_input(given, names) for given in inputs),
        _content(synopsis, names, codec(branch, TextPool())),
        tuple(_step(branch, synopsis, step, names) for step in steps),
        frozenset(ends),
    )


def _input(given: Input, names: Names) -> Hashable:
    scans = tuple(_scan(scan, names) for scan in (*given.scans, *given.statics))
    return len(given.scans), scans, _predicates(given.joins, names), given.end


def _scan(scan: Scan, names: Names) -> Hashable:
    limits = frozenset((_column(r.column, names), r.lower, r.upper) for r in scan.ranges)
    return scan.relation, _predicates(scan.filters, names), limits


def _step(branch: BranchPlan, synopsis: Synopsis, step: Step, names: Names) -> Hashable:
    place = synopsis.inputs.index
    older = tuple(
        (tuple(map(place, branch.synopses[i].inputs)), signature(branch, i)) for i in step.old
    )
    return tuple(map(place, step.new)), older, _predicates(step.joins, names)


def _content(synopsis: Synopsis, names: Names, how: Codec) -> Hashable:
    """What is kept of a match; what it will be compared with later does not matter here."""
    tests = list(dict.fromkeys(join.right for join in synopsis.unlike))
    return (
        tuple(_column(c, names) for c in synopsis.key),
        tuple((_column(r.column, names), r.lower, r.upper) for r in synopsis.clamps),
        tuple((_column(p.column, names), p.grids, p.texts) for p in synopsis.places),
        tuple(_extreme(extreme, names, how) for extreme in synopsis.extremes),
        tuple((_column(e.time, names), e.ticks) for e in synopsis.expiries),
        synopsis.horizon,
        tuple(_unlike(join, tests, names) for join in synopsis.unlike),
    )


def _extreme(extreme: Extreme, names: Names, how: Codec) -> Hashable:
    columns = tuple(_column(c, names) for c in extreme.columns)
    limits = extreme.lower, extreme.upper
    return columns, extreme.shifts, extreme.side, limits, how.number_type(extreme)


def _unlike(join: Comparison, tests: Sequence[object], names: Names) -> Hashable:
    assert isinstance(join.left, ColumnRef)
    return _column(join.left, names), tests.index(join.right)


def _column(column: ColumnRef, names: Names) -> ColumnRef:
    return replace(column, occurrence=names[column.occurrence])


def _predicates(predicates: tuple[Predicate, ...], names: Names) -> frozenset[Predicate]:
    return frozenset(rename(p, {c: _column(c, names) for c in columns_of(p)}) for p in predicates)
