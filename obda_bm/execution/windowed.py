"""The local engine for queries with windows: DuckDB evaluates one window at a time.

At each tick the answers of its window are reported, whether or not an earlier one had them: they
hold now. Kept are the tuples that a window may still see, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from obda_bm.execution.local import (
    LIMITS,
    Limits,
    Rows,
    RunReport,
    arrivals_of,
    given_rows,
    ignore_late,
    read_markers,
    whole_table,
)
from obda_bm.execution.markers import LateRows, start
from obda_bm.execution.oneshot.duckdb import connect
from obda_bm.execution.oneshot.values import Resource, natural_literal
from obda_bm.execution.ticks import Kept, first_tick, next_tick, skip_silence
from obda_bm.execution.window_tables import (
    PatternTable,
    arrow_table,
    constants_table,
    execute,
    find_matches,
    pattern_tables,
    states_table,
)
from obda_bm.execution.window_terms import Facets, Terms
from obda_bm.ir.formulas import Function, FunctionCall
from obda_bm.ir.rdf import Iri
from obda_bm.ir.window_plan import Answer, WindowPlan
from obda_bm.kernel import arrow_schema
from obda_bm.sql.window_values import is_term
from obda_bm.sql.windows import WindowSql, render_window

Bindings = tuple[tuple[Resource, ...], ...]


@dataclass(frozen=True, slots=True)
class WindowAnswers:
    """What holds at the tick `time`, in microseconds since 1970."""

    time: int
    names: tuple[str, ...]
    rows: Bindings
    report: RunReport


class WindowedRun:
    """The answers of a run, tick by tick; `report` tells the figures so far."""

    def __init__(self, ticks: Iterator[WindowAnswers]) -> None:
        self._ticks = ticks
        self.report = RunReport(None)

    def __iter__(self) -> Iterator[WindowAnswers]:
        for answers in self._ticks:
            self.report = answers.report
            yield answers


def run_windowed(
    plan: WindowPlan,
    tables: Mapping[str, Rows],
    on_late: LateRows | None = None,
    limits: Limits = LIMITS,
) -> WindowedRun:
    """Run `plan` over `tables`, by relation; iterate over it for the answers of each tick.

    Ticks are evaluated as soon as no tuple can still change them. They begin with the data, or at
    the start of the pulse, and end with the data or with the pulse.

    Raises:
        ExecutionError: where DuckDB is missing, or, while iterating, where rows do not fit.
    """
    return WindowedRun(_ticks(plan, tables, on_late or ignore_late, limits))


def _ticks(
    plan: WindowPlan, tables: Mapping[str, Rows], on_late: LateRows, limits: Limits
) -> Iterator[WindowAnswers]:
    given = {r.name: given_rows(r, tables) for r in plan.relations}
    static = {r.name: arrivals_of(r, given[r.name], limits.batch_rows) for r in plan.statics}
    engine = _engine(plan, {r.name: whole_table(r, static[r.name]) for r in plan.statics})
    streams = [stream.relation for stream in plan.streams]
    arrivals = {s.name: arrivals_of(s, given[s.name], limits.batch_rows) for s in streams}
    kept = _nothing(plan)
    clock, report = plan.clock, RunReport(None)
    last: int | None = None
    for closed, pending in read_markers(
        start(streams, limits.max_pending), arrivals, on_late, limits
    ):
        report = replace(report, rows_in=pending.offered, late=pending.late)
        if closed is None:
            continue
        kept = {name: k.joined(closed.rows[name]) for name, k in kept.items()}
        tick = first_tick(clock, kept) if last is None else next_tick(clock, last, kept)
        while tick is not None and tick < closed.until and not _is_over(plan, tick):
            rows = engine.answers(kept, tick)
            units = sum(k.count(tick) for k in kept.values())
            peak = max(report.peak_units, units)
            report = replace(report, results=report.results + len(rows), peak_units=peak)
            yield WindowAnswers(tick, plan.names, rows, report)
            silent = not rows and not len(engine.states(kept, tick))
            last = skip_silence(clock, tick, kept, closed.until) if silent else tick
            tick = next_tick(clock, last, kept)
        if tick is not None and _is_over(plan, tick):
            return
        horizon = tick if tick is not None else last
        if horizon is not None:
            kept = {name: k.since(horizon) for name, k in kept.items()}


def _is_over(plan: WindowPlan, tick: int) -> bool:
    return plan.clock.end is not None and tick > plan.clock.end


def _nothing(plan: WindowPlan) -> dict[str, Kept]:
    empty = np.empty(0, np.int64)
    return {
        s.relation.name: Kept(s, arrow_schema(s.relation).empty_table(), empty)
        for s in plan.streams
    }


@dataclass(frozen=True, slots=True)
class _Engine:
    """A database with the static tables, another for matches, and what is to be asked of them.

    They are two so that no table of the user can have a name of ours.
    """

    data: Any
    matches: Any
    tables: tuple[PatternTable, ...]
    sql: WindowSql
    answer_terms: tuple[Callable[[object, Terms], Resource | None], ...]

    def states(self, kept: Mapping[str, Kept], tick: int) -> Any:
        return np.unique(np.concatenate([k.states(tick) for k in kept.values()]))

    def answers(self, kept: Mapping[str, Kept], tick: int) -> Bindings:
        """The answers of the window at `tick`, in a fixed order."""
        for name, k in kept.items():
            self.data.register(name, k.window(tick))
        terms = Terms()
        constants = constants_table(self.sql.constants, terms)
        found = [find_matches(table, self.data, terms) for table in self.tables]
        states, facets = self.states(kept, tick), Facets(terms.met)
        for table, rows in zip(self.tables, found, strict=True):
            self.matches.register(table.name, arrow_table(table, rows, states, facets))
        self.matches.register("states", states_table(states))
        self.matches.register("constants", constants(facets))
        return self._terms(execute(self.matches, self.sql.text), terms)

    def _terms(self, rows: list[tuple[object, ...]], terms: Terms) -> Bindings:
        made = (
            tuple(make(v, terms) for v, make in zip(row, self.answer_terms, strict=False))
            for row in rows
        )
        # An expression without a value, such as a division by zero, makes no answer.
        full = {tuple(t for t in row if t is not None) for row in made if None not in row}
        return tuple(sorted(full, key=str))


def _engine(plan: WindowPlan, static: Mapping[str, pa.Table]) -> _Engine:
    data = connect()
    for name, table in static.items():
        data.register(name, table)
    sql = render_window(plan)
    makers = tuple(map(_answer_term, plan.answers))
    return _Engine(data, connect(), pattern_tables(plan, sql), sql, makers)


def _answer_term(answer: Answer) -> Callable[[object, Terms], Resource | None]:
    """How a value of the SQL answer becomes a term."""
    if is_term(answer.expression):
        return lambda value, terms: terms.met[value] if isinstance(value, int) else None
    match answer.expression:
        case FunctionCall(Function.DATATYPE):
            return lambda value, _terms: None if value is None else Iri(str(value))
        case _:
            return lambda value, _terms: None if value is None else natural_literal(value)
