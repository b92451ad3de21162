"""Random tuples for the relations of a query, as Arrow and as DuckDB tables, and batch cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from obda_bm.execution.reference import Row, Tuple, Tuples
from obda_bm.ir.catalog import Column, Extent, Relation
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.sqltypes import DAY, DOUBLE, Family, Order, SqlType, Value, instant
from obda_bm.ir.terms import (
    ColumnRef,
    Comparison,
    Constant,
    Membership,
    NotNull,
    Op,
    Predicate,
    columns_of,
)

Emitted = dict[int, Counter[Row]]
"""By marker, the rows that it emits; markers that emit nothing are left out."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000
_START = instant("2026-03-01")
_ROWS = {0: 5, 1: 60, 2: 40, 3: 24, 4: 12}
"""So many tuples per stream, by the occurrences in a branch: nested loops must stay quick."""


def relations_of(query: SpjUnion) -> dict[str, Relation]:
    found = {o.relation.name: o.relation for b in query.branches for o in b.occurrences}
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Clock:
    """The timestamps of random streams: `ticks` of them, each `stride` after the one before."""

    ticks: int
    stride: int


def random_tuples(rng: Random, query: SpjUnion) -> dict[str, list[Tuple]]:
    """Tuples for every relation of `query`, streams in the order of their timestamps.

    Values come from a few around the constants of the query, so that joins hit; keys, CHECK and
    NOT NULL hold.
    """
    occurrences = max(len(branch.occurrences) for branch in query.branches)
    size = rng.randint(2, _ROWS.get(occurrences, 6))
    pools = {family: _pool(rng, query, family) for family in Family}
    clock = Clock(rng.randint(2, 14), _stride(rng, query))
    return {
        name: _tuples(rng, relation, _likely(rng, query, name, pools), size, clock)
        for name, relation in relations_of(query).items()
    }


def _likely(
    rng: Random, query: SpjUnion, name: str, pools: Mapping[Family, list[Value]]
) -> Callable[[Relation, float], dict[str, Value | None]]:
    """Draws a tuple that more often than not passes the filters of one of its occurrences."""
    filters = [
        [p for p in b.predicates if {c.occurrence for c in columns_of(p)} == {o.alias}]
        for b in query.branches
        for o in b.occurrences
        if o.relation.name == name
    ]

    def draw(relation: Relation, nulls: float) -> dict[str, Value | None]:
        wanted = rng.choice(filters) if rng.random() < 0.7 else []
        own = [p for p in wanted if all(c.column != relation.time for c in columns_of(p))]
        for _ in range(20):
            row = {c.name: _draw(rng, c, pools, nulls) for c in relation.columns}
            if all(passes(p, row) for p in own):
                break
        return row

    return draw


def _tuples(
    rng: Random,
    relation: Relation,
    draw: Callable[[Relation, float], dict[str, Value | None]],
    size: int,
    clock: Clock,
) -> list[Tuple]:
    found: list[Tuple] = []
    if relation.extent is Extent.STATIC:
        size = min(rng.randint(0, 6), size if relation.rows is None else relation.rows)
    taken: set[tuple[object, ...]] = set()
    nulls = rng.choice((0.0, 0.1, 0.4))
    for _ in range(size):
        row = draw(relation, nulls)
        if relation.time is not None:
            row[relation.time] = _timestamp(rng, relation, clock)
        keys = {(key, *(row[c] for c in key)) for key in relation.keys}
        valid = all(passes(check, row) for check in relation.checks)
        if valid and not keys & taken and all(row[c] is not None for k in relation.keys for c in k):
            taken |= keys
            found.append(row)
    if relation.time is not None:
        found.sort(key=lambda row: row[relation.time or ""])  # type: ignore[arg-type, return-value]
    return found


def _timestamp(rng: Random, relation: Relation, clock: Clock) -> int:
    """A finite stream keeps to its end."""
    start = tick_start(relation.column(relation.time or "").type)
    latest = clock.ticks - 1
    if relation.end is not None:
        latest = min(latest, (relation.end - start) // clock.stride)
    return start + clock.stride * rng.randint(0, max(latest, 0))


def _stride(rng: Random, query: SpjUnion) -> int:
    """From one timestamp to the next: such that intervals hold several, or few."""
    kinds = [r.column(r.time).type for r in relations_of(query).values() if r.time is not None]
    if not kinds or kinds[0].family is Family.NUMBER:
        return 1
    predicates = [p for branch in query.branches for p in branch.predicates]
    offsets = [abs(p.offset) for p in predicates if isinstance(p, Comparison) and p.offset]
    wanted = rng.choice(offsets or [tick_unit(kinds[0])]) // rng.choice((1, 2, 3))
    grain = max(int(kind.grain) for kind in kinds)
    return max(wanted // grain, 1) * grain


def tick_unit(kind: SqlType) -> int:
    """What a tick of the random streams is for a time column of type `kind`."""
    if kind.family is Family.NUMBER:
        return 1
    return DAY if kind.grain == DAY else 60 * _SECOND


def tick_start(kind: SqlType) -> int:
    return 0 if kind.family is Family.NUMBER else _START


def _draw(
    rng: Random, column: Column, pools: Mapping[Family, list[Value]], nulls: float
) -> Value | None:
    if column.nullable and rng.random() < nulls:
        return None
    if column.type.values is not None:
        return rng.choice(column.type.values)
    return rng.choice([v for v in pools[column.type.family] if _fits(v, column.type)])


def _fits(value: Value, kind: SqlType) -> bool:
    if isinstance(value, str):
        return True
    if kind.order is Order.DENSE:
        return Fraction(float(value)) == value
    return (Fraction(value) / kind.grain).denominator == 1 and abs(value) <= _largest(kind)


def _largest(kind: SqlType) -> Value:
    """DECIMAL(2, 1) has no 10."""
    name, _, arguments = kind.name.rstrip(")").partition("(")
    if name not in ("DECIMAL", "NUMERIC") or not arguments:
        return 2**62
    precision, _, scale = arguments.partition(",")
    return Fraction(10 ** int(precision) - 1, 10 ** int(scale or 0))


def _pool(rng: Random, query: SpjUnion, family: Family) -> list[Value]:
    """A few values of `family`: those of the query's constants, their neighbours, and others."""
    constants = [c for c in _constants(query) if c.type.family is family]
    known = sorted({c.value for c in constants}, key=str)
    match family:
        case Family.BOOLEAN:
            return [0, 1]
        case Family.TEXT:
            others: list[Value] = ["t0", "t1", "t3", "it's", "Ω"]
            return [*known, *rng.sample(others, 3)]
        case Family.INSTANT:
            near = [v + d for v in known if isinstance(v, int) for d in (-DAY, -1, 1, DAY)]
            some = [_START, _START + DAY, _START + 1]
            return [*known, *_few(rng, near), *some]
        case Family.NUMBER:
            numbers = sorted(v for v in known if not isinstance(v, str))
            steps = (-1, Fraction(-1, 2), Fraction(-1, 10), Fraction(1, 10), Fraction(1, 2), 1)
            near = [_plain(v + d) for v in numbers for d in steps]
            odd = [Fraction(1 / 3), Fraction(5, 2), -7, 2**40] if _wide(query) else [Fraction(1, 2)]
            others = [*near, 0, 1, 2, 3, rng.choice(odd)]
            middle = rng.choices(_between(numbers), k=2)
            return [*numbers, *_few(rng, others), *middle, rng.choice((0, 1, 2))]


def _between(numbers: Sequence[Value]) -> list[Value]:
    """Values in the middle of a range."""
    near = pairwise(numbers)
    middles = [(Fraction(a) + Fraction(b)) / 2 for a, b in near]
    halves = [_plain(Fraction(round(m * parts), parts)) for m in middles for parts in (1, 2, 4)]
    return halves or [1]


def _wide(query: SpjUnion) -> bool:
    """No column is an INTEGER of 32 bits: those are DuckDB's."""
    columns = [c for r in relations_of(query).values() for c in r.columns if c.name != r.time]
    return all(c.type.name != "INTEGER" for c in columns if c.type.family is Family.NUMBER)


def _few(rng: Random, values: Sequence[Any]) -> list[Any]:
    return rng.sample(list(values), min(len(values), rng.randint(2, 8)))


def _plain(value: Value) -> Value:
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def _constants(query: SpjUnion) -> Iterator[Constant]:
    checks = [c for r in relations_of(query).values() for c in r.checks]
    predicates = [p for branch in query.branches for p in branch.predicates]
    for predicate in (*checks, *predicates):
        match predicate:
            case Comparison(left, _, right):
                yield from (t for t in (left, right) if isinstance(t, Constant))
            case Membership(_, values):
                yield from values


def passes(check: Predicate, row: Tuple) -> bool:
    """A CHECK that is unknown, because of a NULL, passes."""
    match check:
        case Comparison(left, op, right):
            values = [row[t.column] if isinstance(t, ColumnRef) else t.value for t in (left, right)]
            return None in values or _compare(op, *values)
        case Membership(column, listed):
            value = row[column.column]
            return value is None or value in [c.value for c in listed]
        case NotNull(column):
            return row[column.column] is not None


def _compare(op: Op, left: Any, right: Any) -> bool:
    answers = {Op.LT: left < right, Op.EQ: left == right, Op.GT: left > right}
    answers |= {Op.LE: left <= right, Op.NE: left != right, Op.GE: left >= right}
    return bool(answers[op])


def timestamps(query: SpjUnion, tuples: Tuples) -> list[int]:
    """The markers: all timestamps of all streams, in order."""
    streams = [r for r in relations_of(query).values() if r.time is not None]
    return sorted({row[r.time] for r in streams for row in tuples[r.name]})  # type: ignore[misc, index]


def random_cuts(rng: Random, times: Sequence[int]) -> list[int]:
    """Where batches end (exclusive): between timestamps, at times twice between the same two."""
    likely = rng.choice((0.2, 0.5, 0.8))
    cuts = []
    for time, following in zip(times, [*times[1:], times[-1] + 2] if times else [], strict=True):
        if following == times[-1] + 2 or rng.random() < likely:
            cuts.append(rng.choice((time + 1, following)))
            if cuts[-1] < following and rng.random() < 0.1:
                cuts.append(following)  # a batch without any tuple
    return cuts


def every_timestamp(times: Sequence[int]) -> list[int]:
    return [time + 1 for time in times]


def one_batch(times: Sequence[int]) -> list[int]:
    return [times[-1] + 1] if times else []


def batches(
    query: SpjUnion, tuples: Tuples, cuts: Sequence[int]
) -> Iterator[dict[str, list[Tuple]]]:
    """By stream, the tuples of each batch."""
    streams = [r for r in relations_of(query).values() if r.time is not None]
    for start, until in zip([-(2**62), *cuts], cuts, strict=False):
        yield {
            r.name: [row for row in tuples[r.name] if start <= row[r.time] < until]  # type: ignore[index, operator]
            for r in streams
        }


def arrow_table(relation: Relation, rows: Sequence[Tuple]) -> pa.Table:
    from obda_bm.kernel import arrow_schema

    schema = arrow_schema(relation)
    arrays = [_arrow_array([row[f.name] for row in rows], f.type) for f in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _arrow_array(values: Sequence[Value | None], kind: pa.DataType) -> pa.Array:
    if pa.types.is_temporal(kind):
        moments = [None if v is None else _EPOCH + timedelta(microseconds=int(v)) for v in values]
        array = pa.array(moments, pa.timestamp("us", tz="UTC"))
        return array.cast(pa.timestamp("us")).cast(kind) if _naive(kind) else array.cast(kind)
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).cast(kind)
    return pa.array([None if v is None else _arrow_value(v, kind) for v in values], kind)


def _naive(kind: pa.DataType) -> bool:
    return not (pa.types.is_timestamp(kind) and kind.tz)


def _arrow_value(value: Value, kind: pa.DataType) -> object:
    if isinstance(value, str):
        return value
    if pa.types.is_boolean(kind):
        return bool(value)
    if pa.types.is_floating(kind):
        return float(value)
    if pa.types.is_decimal(kind):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return int(value)


def exact(value: object) -> Value | None:
    """A value from Arrow or DuckDB as `ir.sqltypes` has it."""
    match value:
        case bool() | int():
            return int(value)
        case float() | Decimal():
            return _plain(Fraction(value))
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            return (moment - _EPOCH) // timedelta(microseconds=1)
        case date():
            return (value - date(1970, 1, 1)) // timedelta(microseconds=1)
        case None | str():
            return value
    raise AssertionError(f"no value of a SQL type: {value!r}")


def emitted(results: pa.Table) -> Emitted:
    """The kernel's results as the reference gives them."""
    found: Emitted = {}
    columns = [results.column(i).to_pylist() for i in range(results.num_columns)]
    assert results.column_names[0] == "time"
    assert results.column_names[-1] == "count"
    for time, *values, count in zip(*columns, strict=True):
        assert int(count) > 0, f"a count of {count}"
        found.setdefault(int(time), Counter())[tuple(map(exact, values))] += int(count)
    return found


def load_duckdb(query: SpjUnion, tuples: Tuples) -> duckdb.DuckDBPyConnection:
    """A database with the relations of `query`, filled."""
    connection = duckdb.connect()
    for name, relation in relations_of(query).items():
        columns = ", ".join(f'"{c.name}" {c.type.storage}' for c in relation.columns)
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        if tuples[name]:
            rows = ", ".join(_values(relation, row) for row in tuples[name])
            connection.execute(f'INSERT INTO "{name}" VALUES {rows}')
    return connection


def _values(relation: Relation, row: Tuple) -> str:
    return f"({', '.join(_literal(c.type, row[c.name]) for c in relation.columns)})"


def _literal(kind: SqlType, value: Value | None) -> str:
    if value is None:
        return "NULL"
    if kind.order is DOUBLE.order:
        return f"{float(value)!r}::DOUBLE"
    return kind.literal(value)


def answer_duckdb(connection: duckdb.DuckDBPyConnection, sql: str) -> Counter[Row]:
    return Counter(tuple(map(exact, row)) for row in connection.execute(sql).fetchall())
