"""(state, rows) -> (state', output): the semiring state machine over many timestamps at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from obda_bm.ir.plan import BranchPlan, Extreme, Memory, Side, Step, Synopsis, SynopsisPlan
from obda_bm.ir.spj import Semantics
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of
from obda_bm.kernel.emit import bag_results, new_results, result_table
from obda_bm.kernel.encoding import Array, TextPool
from obda_bm.kernel.history import Front, History, best, counted, front, present
from obda_bm.kernel.rows import (
    Column,
    Rows,
    compare,
    concatenate,
    expand,
    matching_pairs,
    multiply,
    slices,
)
from obda_bm.kernel.scan import Codec, codec, equalities, holds, join_rows, read_input
from obda_bm.kernel.state import KernelState
from obda_bm.kernel.stores import empty_store, forget, load, save


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
    ranks: int
    histories: tuple[History | Front, ...] = ()


def initial_state(plan: SynopsisPlan, static: Mapping[str, pa.Table]) -> KernelState:
    synopses = tuple(
        tuple(empty_store(branch, s, plan.semantics) for s in branch.synopses)
        for branch in plan.branches
    )
    emitted = result_table(plan).drop(["time", "count"]) if plan.emitted is Memory.STORED else None
    return KernelState(synopses, emitted, dict(static))


def advance(
    plan: SynopsisPlan, state: KernelState, rows: Mapping[str, pa.Table], until: int
) -> Advanced:
    """The state after `rows`, and what they add to the answer, with the time of each marker.

    All timestamps in `rows` are older than `until`, and none is older than an earlier `until`.
    """
    results: list[pa.Table] = []
    kept: list[tuple[pa.Table, ...]] = []
    for branch, stores in zip(plan.branches, state.synopses, strict=True):
        tables, found = _advance_branch(plan, branch, stores, {**state.static, **rows}, until)
        kept.append(tables)
        results.append(found)
    answer = pa.concat_tables(results) if results else result_table(plan)
    if plan.semantics is Semantics.BAG:
        return Advanced(KernelState(tuple(kept), None, state.static, True), answer)
    answer, emitted = new_results(plan, answer, state.emitted)
    return Advanced(KernelState(tuple(kept), emitted, state.static, True), answer)


def _advance_branch(
    plan: SynopsisPlan,
    branch: BranchPlan,
    stores: Sequence[pa.Table],
    tables: Mapping[str, pa.Table],
    until: int,
) -> tuple[tuple[pa.Table, ...], pa.Table]:
    how = codec(branch, TextPool())
    arrived = [read_input(arriving, branch, tables, how) for arriving in branch.inputs]
    times = np.unique(np.concatenate([rows.rank for rows in arrived]))
    inputs = tuple(_ranked(rows, times) for rows in arrived)
    batch = Batch(branch, plan.semantics, how, inputs, len(times))
    saved = []
    for i, (synopsis, store) in enumerate(zip(branch.synopses, stores, strict=True)):
        old = load(store, synopsis, how, plan.semantics)
        parts = [run_step(batch, s) for s in branch.steps if s.target == i]
        new = [_contribution(batch, synopsis, part) for part in parts]
        history = _history(batch, synopsis, concatenate([old, *new]))
        batch = Batch(branch, plan.semantics, how, inputs, len(times), (*batch.histories, history))
        saved.append(save(forget(history, synopsis, branch, until), store, synopsis, how))
    found = [run_step(batch, s) for s in branch.steps if s.target is None]
    if plan.emitted is Memory.DERIVED:
        before = _answer_before(batch, stores)
        return tuple(saved), bag_results(
            plan, batch_rows(found, branch), branch, how, times, before
        )
    return tuple(saved), bag_results(plan, batch_rows(found, branch), branch, how, times, None)


def batch_rows(found: Sequence[Rows], branch: BranchPlan) -> Rows | None:
    """All matches, reduced to what is projected."""
    columns = [o.term for o in branch.projection if isinstance(o.term, ColumnRef)]
    reduced = [Rows({c: r.columns[c] for c in columns}, r.rank, r.weight) for r in found]
    return concatenate(reduced) if reduced else None


def _answer_before(batch: Batch, stores: Sequence[pa.Table]) -> Rows | None:
    """What the synopses before the batch evaluate to: the answer that was emitted."""
    rows = Rows({}, np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))
    nothing = Step((), tuple(range(len(batch.plan.inputs))), _all_joins(batch.plan), None)
    for index in nothing.old:
        rows = _with_history(batch, rows, index, nothing)
    return rows


def _all_joins(branch: BranchPlan) -> tuple[Comparison, ...]:
    found = dict.fromkeys(p for step in branch.steps for p in step.joins)
    return tuple(p for p in found if isinstance(p, Comparison))


def _ranked(rows: Rows, times: Array) -> Rows:
    return Rows(rows.columns, np.searchsorted(times, rows.rank), rows.weight)


def run_step(batch: Batch, step: Step) -> Rows:
    """New matches of `step`: tuples of one timestamp, then older partial matches."""
    first, *others = step.new
    rows = batch.inputs[first]
    for other in others:
        more = batch.inputs[other]
        ready = {*rows.columns, *more.columns}
        joins = [p for p in step.joins if set(columns_of(p)) <= ready]
        rows = join_rows(rows, more, joins, batch.how, same_time=True)
    for index in step.old:
        rows = _with_history(batch, rows, index, step)
    return rows


def _with_history(batch: Batch, rows: Rows, index: int, step: Step) -> Rows:
    """`rows` with the partial matches of synopsis `index` that were there before them."""
    history, synopsis = batch.histories[index], batch.plan.synopses[index]
    keys = equalities(step.joins, rows.columns, history.keys)
    how = batch.how
    mine = [how.comparable(rows.columns[a], a, history.keys[b]) for a, b in keys]
    theirs = [how.comparable(history.keys[b], b, rows.columns[a]) for a, b in keys]
    entries = len(history.rank) if isinstance(history, Front) else _entries(history)
    starts, ends, order = matching_pairs(mine, theirs, (len(rows), entries))
    parts = [
        _extended(
            batch,
            rows.take(np.arange(part.start, part.stop)),
            synopsis,
            history,
            step,
            (starts[part], ends[part], order),
        )
        for part in slices(ends - starts)
    ]
    if parts:
        return concatenate(parts)
    none = (starts, ends, order)
    return _extended(batch, rows, synopsis, history, step, none)


def _entries(history: History) -> int:
    return len(np.unique(history.codes // (history.ranks + 2)))


def _extended(
    batch: Batch,
    rows: Rows,
    synopsis: Synopsis,
    history: History | Front,
    step: Step,
    pairs: tuple[Array, Array, Array],
) -> Rows:
    i, entry = expand(*pairs)
    columns = {name: values[i] for name, values in rows.columns.items()}
    keys = {c: values[entry] for c, values in history.keys.items()}
    paired = Rows({**columns, **keys}, rows.rank[i], rows.weight[i])
    match history:
        case Front():
            there = history.rank[entry] < paired.rank
            values = {e: v[entry] for e, v in zip(synopsis.extremes, history.extremes, strict=True)}
            paired = paired.with_columns(values)
        case History():
            there, position = history.before(entry, paired.rank)
            if history.values is not None and len(history.values):
                found = history.values[position]
                if batch.semantics is Semantics.BAG:
                    paired = Rows(paired.columns, paired.rank, multiply(paired.weight, found))
                else:
                    paired = paired.with_columns({synopsis.extremes[0]: found})
            elif synopsis.extremes:
                empty = np.zeros(len(paired), dtype=np.int64)
                paired = paired.with_columns({synopsis.extremes[0]: empty})
    paired = paired.take(there)
    return paired.take(_tests(batch, paired, rows, synopsis, step))


def _tests(batch: Batch, paired: Rows, before: Rows, synopsis: Synopsis, step: Step) -> Array:
    """What is left to compare between the new partial matches and what is there already."""
    mask = np.ones(len(paired), dtype=np.bool_)
    plain = {c for c in paired.columns if isinstance(c, ColumnRef)}
    for join in step.joins:
        columns = set(columns_of(join))
        if columns <= plain and not columns <= set(before.columns):
            mask &= holds(paired, join, batch.how)
    for extreme in synopsis.extremes:
        for test in extreme.tests:
            if test in before.columns:
                mask &= passes(paired, extreme, test, batch.how)
    for other in [c for c in before.columns if isinstance(c, Extreme)]:
        for extreme in synopsis.extremes:
            mask &= _meet(paired, extreme, other, batch.how)
            mask &= _meet(paired, other, extreme, batch.how)
        for test in other.tests:
            if test in plain and test not in before.columns:
                mask &= passes(paired, other, test, batch.how)
    return mask


def passes(rows: Rows, extreme: Extreme, test: ColumnRef, how: Codec) -> Array:
    """Whether the best stored value satisfies the test of a future column."""
    value = rows.columns[extreme] + extreme.gap(test)
    return _satisfies(value, extreme, how.comparable(rows.columns[test], test, value))


def _satisfies(value: Array, extreme: Extreme, future: Array) -> Array:
    if extreme.side is Side.MIN:
        return compare(value, Op.LT if extreme.strict else Op.LE, future)
    return compare(value, Op.GT if extreme.strict else Op.GE, future)


def _meet(rows: Rows, one: Extreme, other: Extreme, how: Codec) -> Array:
    """Two stored extremes that test each other: `one` against the columns of `other`.

    Right where `other` is one column, or where each of the columns is tested by all of the other's
    in the same way; what else the two compare, single columns of them do.
    """
    tested = set(other.columns) <= set(one.tests)
    alike = len({one.gap(c) for c in other.columns if c in one.tests}) == 1
    complete = set(one.columns) <= set(other.tests) and not any((*one.shifts, *other.shifts))
    if not (tested and alike and (len(other.columns) == 1 or complete)):
        return np.ones(len(rows), dtype=np.bool_)
    value, raw = rows.columns[one] + one.gap(other.columns[0]), rows.columns[other]
    if value.dtype == np.float64 and raw.dtype != np.float64:
        raw = raw / how.unit(other.columns[0])
    if raw.dtype == np.float64 and value.dtype != np.float64:
        value = value / how.unit(one.columns[0])
    return _satisfies(value, one, raw)


def _contribution(batch: Batch, synopsis: Synopsis, rows: Rows) -> Rows:
    """New partial matches as the synopsis keeps them: key columns clamped, extremes combined."""
    columns: dict[Column, Array] = {c: rows.columns[c] for c in synopsis.key}
    for clamp in synopsis.clamps:
        columns[clamp.column] = _clipped(columns[clamp.column], clamp.lower, clamp.upper)
    for extreme in synopsis.extremes:
        columns[extreme] = _worst(batch, rows, extreme)
    return Rows(columns, rows.rank, rows.weight)


def _clipped(values: Array, lower: int | None, upper: int | None) -> Array:
    if lower is not None:
        values = np.maximum(values, lower)
    return values if upper is None else np.minimum(values, upper)


def _worst(batch: Batch, rows: Rows, extreme: Extreme) -> Array:
    how = batch.how
    dense = any(how.types[c].order is Order.DENSE for c in (*extreme.columns, *extreme.tests))
    values = []
    for column, shift in zip(extreme.columns, extreme.shifts, strict=True):
        if column in rows.columns:
            plain = rows.columns[column]
            whole = dense and plain.dtype != np.float64
            values.append(plain / how.unit(column) if whole else plain + shift)
    older = [c for c in rows.columns if isinstance(c, Extreme)]
    values += [rows.columns[o] + _regapped(o, extreme) for o in older if _serves(o, extreme)]
    worst = values[0]
    for value in values[1:]:
        worst = np.maximum(worst, value) if extreme.side is Side.MIN else np.minimum(worst, value)
    return _clipped(worst, extreme.lower, extreme.upper)


def _regapped(older: Extreme, extreme: Extreme) -> int:
    """The older value, as the larger extreme would hold it for a test that they share."""
    test = next(t for t in extreme.tests if t in older.tests)
    return older.gap(test) - extreme.gap(test)


def _serves(older: Extreme, extreme: Extreme) -> bool:
    return (
        older.side is extreme.side
        and older.strict == extreme.strict
        and set(older.columns) <= set(extreme.columns)
        and bool(set(older.tests) & set(extreme.tests))
    )


def _history(batch: Batch, synopsis: Synopsis, rows: Rows) -> History | Front:
    if batch.semantics is Semantics.BAG:
        return counted(rows, synopsis.key, batch.ranks)
    match synopsis.extremes:
        case ():
            return present(rows, synopsis.key, batch.ranks)
        case (extreme,):
            return best(rows, synopsis.key, extreme, batch.ranks)
        case several:
            return front(rows, synopsis.key, several)
