"""The patterns of a window plan -> tables of their matches in one window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from obda_bm.execution.mistakes import Mistake
from obda_bm.execution.oneshot.terms import Make, Row, from_builder
from obda_bm.execution.window_terms import Facets, Ids, Terms
from obda_bm.ir.lexical import NUMERIC_DATATYPES
from obda_bm.ir.rdf import XSD, Iri, Literal
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.sqltypes import Family, Order
from obda_bm.ir.unfolded import (
    ColumnTerm,
    FixedTerm,
    TemplateTerm,
    TermBuilder,
    UnfoldedBranch,
    shape_of,
    slots_of,
)
from obda_bm.ir.window_plan import Facet, Match, Missing, Pattern, Range, Selection, WindowPlan
from obda_bm.sql import render_sql
from obda_bm.sql.windows import WindowSql

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Matches = list[tuple[int, ...]]
"""Rows of a table: the timestamp, and the numbers of the terms."""


@dataclass(frozen=True, slots=True)
class Query:
    """SQL for some branches of a pattern, and how its rows become terms."""

    sql: str
    time: int | None
    makers: tuple[tuple[tuple[int, ...], Make], ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a pattern's table: the facets it needs, and the type of its numbers."""

    facets: tuple[Facet, ...]
    numbers: pa.DataType


@dataclass(frozen=True, slots=True)
class PatternTable:
    name: str
    queries: tuple[Query, ...]
    columns: tuple[Column, ...]


def pattern_tables(plan: WindowPlan, sql: WindowSql) -> tuple[PatternTable, ...]:
    """What is computed once for all windows."""
    matches = [m for s in plan.selections for m in _matches(s)]
    return tuple(_table(pattern, plan, sql, matches) for pattern in plan.patterns)


def _matches(selection: Selection) -> Iterator[Match]:
    for source in selection.sources:
        match source:
            case Match():
                yield source
            case Range(_, matches):
                yield from matches
            case _:
                pass
    for condition in selection.conditions:
        if isinstance(condition, Missing):
            for inner in condition.selections:
                yield from _matches(inner)


def _table(
    pattern: Pattern, plan: WindowPlan, sql: WindowSql, matches: list[Match]
) -> PatternTable:
    first = 1 if pattern.is_timed else 0
    columns = []
    for k in range(len(pattern.query.head) - first):
        readers = {m.variables[k] for m in matches if m.pattern == pattern.name}
        facets = tuple(f for f in Facet if any((v, f) in sql.facets for v in readers))
        builders = [branch.terms[k + first] for branch in pattern.branches]
        columns.append(Column(facets, number_type(builders)))
    groups: dict[object, list[UnfoldedBranch]] = {}
    for branch in pattern.branches:
        groups.setdefault(tuple(map(shape_of, branch.terms)), []).append(branch)
    queries = (_query(branches, pattern.is_timed, plan.base) for branches in groups.values())
    return PatternTable(pattern.name, tuple(queries), tuple(columns))


def _query(branches: list[UnfoldedBranch], is_timed: bool, base: str) -> Query:
    union = SpjUnion(tuple(branch.query for branch in branches), Semantics.SET)
    like = branches[0]
    at = {output.name: i for i, output in enumerate(like.query.projection)}
    terms = like.terms[1:] if is_timed else like.terms
    makers = tuple((_places(term, at), from_builder(term, at, base)) for term in terms)
    time = _places(like.terms[0], at)[0] if is_timed else None
    return Query(render_sql(union, "duckdb"), time, makers)


def _places(term: TermBuilder, at: dict[str, int]) -> tuple[int, ...]:
    return tuple(at[slot.column.column] for slot in slots_of(term))


def number_type(builders: list[TermBuilder]) -> pa.DataType:
    """The narrowest type that holds the numbers which `builders` make."""
    scales = [_scale(builder) for builder in builders]
    known = [scale for scale in scales if scale is not None]
    if len(known) < len(scales):
        return pa.float64()
    return pa.decimal128(38, max(known)) if any(known) else pa.int64()


def _scale(builder: TermBuilder) -> int | None:
    """The digits after the point; 0 where there are no numbers, None for floating ones."""
    match builder:
        case FixedTerm(Literal(lexical, datatype)) if datatype in NUMERIC_DATATYPES:
            return None if _is_floating(datatype) else len(lexical.partition(".")[2])
        case ColumnTerm(_, slot, datatype) if datatype in NUMERIC_DATATYPES:
            exact = slot.type.family is Family.NUMBER and slot.type.order is Order.DISCRETE
            if _is_floating(datatype) or not exact:
                return None
            return len(str(slot.type.grain.denominator)) - 1
        case TemplateTerm(_, _, datatype) if datatype in NUMERIC_DATATYPES:
            return None
        case _:
            return 0


def _is_floating(datatype: str) -> bool:
    return datatype in {XSD + "double", XSD + "float"}


def find_matches(table: PatternTable, connection: Any, terms: Terms) -> Matches:
    """The matches of a pattern among the rows that the connection has, each once."""
    found: dict[tuple[int, ...], None] = {}
    for query in table.queries:
        numbers = [_numbering(places, make, terms) for places, make in query.makers]
        for row in execute(connection, query.sql):
            time = 0 if query.time is None else microseconds(row[query.time])
            found[time, *(number(row) for number in numbers)] = None
    return list(found)


def _numbering(places: tuple[int, ...], make: Make, terms: Terms) -> Callable[[Row], int]:
    """The number of a row's term; rows with the same values are looked at once."""
    known: dict[tuple[object, ...], int] = {}

    def number(row: Row) -> int:
        values = tuple(row[place] for place in places)
        if values not in known:
            term = make(row)
            assert term is not None, "the query keeps no row with NULL in a term"
            known[values] = terms.number(term)
        return known[values]

    return number


def microseconds(time: object) -> int:
    """A timestamp or date as microseconds since 1970."""
    assert isinstance(time, date)
    moment = time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)
    return (moment.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def arrow_table(table: PatternTable, rows: Matches, states: Ids, facets: Facets) -> pa.Table:
    """The matches, with the places of their states among `states` and the facets of their terms."""
    width = len(table.columns) + 1
    values = np.array(rows, np.int64).reshape(len(rows), width)
    columns = {"at": np.searchsorted(states, values[:, 0]), "at_time": values[:, 0]}
    for k, column in enumerate(table.columns, start=1):
        ids = values[:, k]
        columns[f"v{k}"] = ids
        for facet in column.facets:
            columns[f"v{k}_{facet.value}"] = facets.column(facet, ids, column.numbers)
    return pa.table(columns)


def constants_table(constants: tuple[Iri | Literal, ...], terms: Terms) -> Callable[..., pa.Table]:
    """One row with the numbers of the query's constants; their orders are known at the end."""
    ids = np.array([terms.number(constant) for constant in constants], np.int64)

    def table(facets: Facets) -> pa.Table:
        orders = facets.column(Facet.ORDER, ids, pa.int64())
        columns: dict[str, Any] = {"one": [1]}
        for n, (id_, order) in enumerate(zip(ids.tolist(), orders.to_pylist(), strict=True)):
            columns |= {f"c{n}": [id_], f"c{n}_order": [order]}
        return pa.table(columns)

    return table


def states_table(states: Ids) -> pa.Table:
    return pa.table({"at": np.arange(len(states), dtype=np.int64), "at_time": states})


def execute(connection: Any, sql: str) -> list[Row]:
    import duckdb

    try:
        rows: list[Row] = connection.execute(sql).fetchall()
        return rows
    except duckdb.Error as error:
        message = f"DuckDB refuses the query: {str(error).splitlines()[0].lower()}"
        raise Mistake.QUERY_FAILED.error(message, "Check the expressions of the query.") from None
