"""(state, rows) -> (state', output): the semiring state machine over many timestamps at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pyarrow as pa

from obda_bm.ir.plan import BranchPlan, Extreme, Memory, Side, Step, Synopsis, SynopsisPlan
from obda_bm.ir.spj import Semantics
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of
from obda_bm.kernel.contribution import contribution, extremes_of, tested
from obda_bm.kernel.counts import multiply, ones
from obda_bm.kernel.emit import all_results, branch_results, new_results, unless_answered
from obda_bm.kernel.encoding import Array, TextPool
from obda_bm.kernel.front import Front, front
from obda_bm.kernel.groups import Index
from obda_bm.kernel.history import History, best, counted, present
from obda_bm.kernel.pairs import matches
from obda_bm.kernel.rows import Mask, Rows, compare, concatenate, everything, ranked
from obda_bm.kernel.scan import Codec, codec, equalities, holds, join_at_once, limit_of, read_input
from obda_bm.kernel.state import KernelState, shared
from obda_bm.kernel.stores import Store, load, save


@dataclass(frozen=True, slots=True)
class Advanced:
    state: KernelState
    results: pa.Table


@dataclass(frozen=True, slots=True)
class Batch:
    """One branch at work on one batch."""

    plan: BranchPlan
    semantics: Semantics
    how: Codec
    inputs: tuple[Rows, ...]
    times: Index
    histories: tuple[History | Front, ...] = ()


def advance(
    plan: SynopsisPlan, state: KernelState, rows: Mapping[str, pa.Table], until: int
) -> Advanced:
    """The state after `rows`, and what they add to the answer, with the time of each marker.

    All timestamps in `rows` are older than `until`, and none is older than an earlier `until`.
    Results have the columns `time`, what is projected, and `count`: int64, or decimal256(76, 0) in
    a batch where a count needs more than 64 bits.
    """
    tables = {**state.static, **rows}
    done = [
        _advance_branch(plan, branch, stores, tables, until)
        for branch, stores in zip(plan.branches, state.synopses, strict=True)
    ]
    kept = shared(state, [stores for stores, _ in done])
    answer = all_results(plan, [found for _, found in done])
    if plan.semantics is Semantics.BAG:
        return Advanced(KernelState(kept, None, state.static, True), answer)
    answer, emitted = new_results(plan, answer, state.emitted)
    return Advanced(KernelState(kept, emitted, state.static, True), answer)


def _advance_branch(
    plan: SynopsisPlan,
    branch: BranchPlan,
    stores: Sequence[Store],
    tables: Mapping[str, pa.Table],
    until: int,
) -> tuple[tuple[Store, ...], pa.Table]:
    batch = _arrived(plan, branch, tables)
    saved = []
    for i, (synopsis, store) in enumerate(zip(branch.synopses, stores, strict=True)):
        parts = [run_step(batch, s) for s in branch.steps if s.target == i]
        new = [contribution(synopsis, part, batch.how) for part in parts]
        history = _history(batch, synopsis, concatenate([load(store, synopsis, batch.how), *new]))
        batch = replace(batch, histories=(*batch.histories, history))
        saved.append(_saved(batch, history, synopsis, until))
    found = _projected(branch, [run_step(batch, s) for s in branch.steps if s.target is None])
    if plan.emitted is Memory.DERIVED:
        found = unless_answered(found, _answer_before(batch), branch, batch.how)
    return tuple(saved), branch_results(plan, found, branch, batch.how, batch.times)


def _saved(batch: Batch, history: History | Front, synopsis: Synopsis, until: int) -> Store:
    """What is left of a synopsis; entries that a horizon makes alike become one."""
    store = save(history, synopsis, batch.plan, batch.how, until)
    if synopsis.horizon is None:
        return store
    alike = _history(batch, synopsis, load(store, synopsis, batch.how))
    return save(alike, synopsis, batch.plan, batch.how, until)


def _arrived(plan: SynopsisPlan, branch: BranchPlan, tables: Mapping[str, pa.Table]) -> Batch:
    how = codec(branch, TextPool())
    inputs, times = ranked([read_input(x, branch, tables, how) for x in branch.inputs])
    return Batch(branch, plan.semantics, how, inputs, times)


def _projected(branch: BranchPlan, found: Sequence[Rows]) -> Rows:
    """All matches, reduced to what is projected."""
    columns = {o.term for o in branch.projection if isinstance(o.term, ColumnRef)}
    return concatenate([rows.only(columns) for rows in found])


def _answer_before(batch: Batch) -> Rows:
    """What the synopses before the batch evaluate to: the answer that was emitted."""
    rows = Rows({}, np.zeros(1, dtype=np.int64), ones(1))
    nothing = Step((), tuple(range(len(batch.plan.inputs))), _all_joins(batch.plan), None)
    for index in nothing.old:
        rows = _with_history(batch, rows, index, nothing)
    return rows


def _all_joins(branch: BranchPlan) -> tuple[Comparison, ...]:
    found = dict.fromkeys(p for step in branch.steps for p in step.joins)
    return tuple(p for p in found if isinstance(p, Comparison))


def run_step(batch: Batch, step: Step) -> Rows:
    """New matches of `step`: tuples of one timestamp, then older partial matches."""
    first, *others = step.new
    rows = batch.inputs[first]
    for other in others:
        more = batch.inputs[other]
        ready = {*rows.columns, *more.columns}
        joins = [p for p in step.joins if set(columns_of(p)) <= ready]
        rows = join_at_once(rows, more, joins, batch.how)
    for index in step.old:
        rows = _with_history(batch, rows, index, step)
    return rows


def _with_history(batch: Batch, rows: Rows, index: int, step: Step) -> Rows:
    """`rows` with the partial matches of synopsis `index` that were there before them."""
    history, how = batch.histories[index], batch.how
    joins = _plain_joins(step, [*batch.plan.synopses[index].extremes, *extremes_of(rows)])
    keys = equalities(joins, rows.columns, history.keys)
    mine = [how.comparable(rows.columns[a], a, history.keys[b]) for a, b in keys]
    theirs = [how.comparable(history.keys[b], b, rows.columns[a]) for a, b in keys]
    limit = limit_of(joins, rows.columns, history.keys)
    found = matches(mine, theirs, (len(rows), history.entries), limit)
    return concatenate(
        [_extended(batch, rows, index, step, *found.pairs(part)) for part in found.parts()]
    )


def _extended(batch: Batch, rows: Rows, index: int, step: Step, row: Index, entry: Index) -> Rows:
    """Pairs of a row and an entry of synopsis `index` that satisfy what the two compare."""
    history, synopsis = batch.histories[index], batch.plan.synopses[index]
    there, position = history.before(entry, rows.rank[row])
    if not there.all():
        kept = np.flatnonzero(there)
        row, entry, position = row[kept], entry[kept], position[kept]
    paired = rows.take(row).with_columns({c: v[entry] for c, v in history.keys.items()})
    values = [v[position] for v in history.values]
    if batch.semantics is Semantics.BAG:
        paired = replace(paired, weight=multiply(paired.weight, values[0]))
    else:
        paired = paired.with_columns(dict(zip(synopsis.extremes, values, strict=True)))
    return paired.where(_tests(batch, paired, rows, synopsis, step))


def _tests(batch: Batch, paired: Rows, before: Rows, synopsis: Synopsis, step: Step) -> Mask:
    """What is left to compare between the new partial matches and what is there already."""
    mask = everything(len(paired))
    older = extremes_of(before)
    for join in step.joins:
        for stored, other in permutations(columns_of(join)):
            mine = _serving(synopsis.extremes, stored, other)
            theirs = _serving(older, other, stored)
            if not (mine or stored in synopsis.key) or not (theirs or other in before.columns):
                continue
            match mine, theirs:
                case None, None:
                    mask &= holds(paired, join, batch.how)
                case Extreme(), None:
                    mask &= passes(paired, mine, other, batch.how)
                case None, Extreme():
                    mask &= passes(paired, theirs, stored, batch.how)
                case Extreme(), Extreme():
                    mask &= _meet(paired, mine, theirs, batch.how)
                    mask &= _meet(paired, theirs, mine, batch.how)
    return mask


def _serving(extremes: Iterable[Extreme], column: ColumnRef, test: ColumnRef) -> Extreme | None:
    """The extreme that stands for `column` when it is compared with `test`."""
    return next((e for e in extremes if column in e.columns and test in e.tests), None)


def _plain_joins(step: Step, extremes: Sequence[Extreme]) -> list[Comparison]:
    """Joins of columns as they are, or of their places; extremes decide the others."""
    return [
        j
        for j in step.joins
        if isinstance(j, Comparison)
        and not any(_serving(extremes, a, b) for a, b in permutations(columns_of(j)))
    ]


def passes(rows: Rows, extreme: Extreme, test: ColumnRef, how: Codec) -> Mask:
    """Whether the best stored value satisfies the test of a future column."""
    value = tested(rows, extreme, test, how)
    return _satisfies(value, extreme, how.comparable(rows.columns[test], test, value))


def _satisfies(value: Array, extreme: Extreme, future: Array) -> Mask:
    return compare(value, Op.LE if extreme.side is Side.MIN else Op.GE, future)


def _meet(rows: Rows, one: Extreme, other: Extreme, how: Codec) -> Mask:
    """Two stored extremes that test each other: `one` against the columns of `other`.

    Right where `other` is one column, or where each of the columns is tested by all of the other's
    in the same way; what else the two compare, single columns of them do.
    """
    every = set(other.columns) <= set(one.tests)
    alike = len({one.gap(c) for c in other.columns if c in one.tests}) == 1
    complete = set(one.columns) <= set(other.tests) and not any((*one.shifts, *other.shifts))
    if not (every and alike and (len(other.columns) == 1 or complete)):
        return everything(len(rows))
    value = tested(rows, one, other.columns[0], how)
    return _satisfies(value, one, how.comparable(rows.columns[other], other.columns[0], value))


def _history(batch: Batch, synopsis: Synopsis, rows: Rows) -> History | Front:
    ranks = len(batch.times)
    if batch.semantics is Semantics.BAG:
        return counted(rows, synopsis.key, ranks)
    match synopsis.extremes:
        case ():
            return present(rows, synopsis.key, ranks)
        case (extreme,):
            return best(rows, synopsis.key, extreme, ranks)
        case several:
            return front(rows, synopsis.key, several)
