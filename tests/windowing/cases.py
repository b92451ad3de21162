"""Random mappings, data and windowed queries, small enough to try everything."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from obda_bm.ir.catalog import Catalog, Column, Extent, Relation
from obda_bm.ir.sqltypes import INTEGER, TIMESTAMP
from tests.unfolding.oracle import TYPE, Rule, Term
from tests.unfolding.settings import CLASSES, DATA, ROLES, V

SECOND = 1_000_000
STREAMS = ("s1", "s2")


def _stream(name: str) -> Relation:
    columns = (Column("id", INTEGER), Column("v", INTEGER), Column("ts", TIMESTAMP, False))
    return Relation(name, columns, Extent.INFINITE, time="ts")


STATIC = Relation("r0", (Column("id", INTEGER), Column("v", INTEGER)), Extent.STATIC)
CATALOG = Catalog((STATIC, *map(_stream, STREAMS)))
TABLES = [
    "SELECT id, v FROM r0",
    "SELECT id, v FROM s1",
    "SELECT id, v FROM s1",
    "SELECT id, v FROM s2",
    "SELECT id, v FROM s1 WHERE v > 1",
    "SELECT r0.id AS id, s1.v AS v FROM r0, s1 WHERE r0.id = s1.id",
]
OBJECT = Term("template", "http://e/o/{id}")


def mapping(rng: random.Random) -> tuple[str, list[Rule]]:
    """The same mapping twice: as Turtle for the project, as rules for the oracle."""
    lines = ["@prefix rr: <http://www.w3.org/ns/r2rml#> ."]
    rules = []
    fixed = [("SELECT id, v FROM s1", 2), ("SELECT id, v FROM r0", 0)]
    chosen = fixed + [(rng.choice(TABLES), rng.randrange(3)) for _ in range(rng.randint(2, 5))]
    for n, (sql, kind) in enumerate(chosen):
        if kind == 0:
            predicate, made = TYPE, Term("constant", f"<{rng.choice(CLASSES)}>")
            map_ = f"rr:constant {made.pattern}"
        elif kind == 1:
            predicate, made = f"<{rng.choice(ROLES)}>", Term("template", "http://e/o/{v}")
            map_ = f'rr:template "{made.pattern}"'
        else:
            predicate, made = f"<{rng.choice(DATA)}>", Term("column", "v")
            map_ = 'rr:column "v"'
        lines.append(
            f'<http://e/m{n}> rr:logicalTable [ rr:sqlQuery "{sql}" ] ; rr:subjectMap'
            f' [ rr:template "{OBJECT.pattern}" ] ; rr:predicateObjectMap'
            f" [ rr:predicate {predicate} ; rr:objectMap [ {map_} ] ] ."
        )
        rules.append(Rule(sql, OBJECT, Term("constant", predicate), made))
    return "\n".join(lines), rules


Rows = dict[str, list[tuple[int, ...]]]


def data(rng: random.Random) -> Rows:
    rows: Rows = {"r0": [(rng.randrange(3), rng.randrange(4)) for _ in range(rng.randrange(4))]}
    for name in STREAMS:
        times = sorted(rng.randrange(60, 90) for _ in range(rng.randint(1, 6)))
        rows[name] = [(rng.randrange(3), rng.randrange(4), time) for time in times]
    return rows


def tables(rows: Rows) -> dict[str, pa.Table]:
    """The rows as the engine takes them."""
    found = {}
    for relation in CATALOG.relations:
        columns = [list(column) for column in zip(*rows[relation.name], strict=True)]
        columns = columns or [[] for _ in relation.columns]
        arrays: list[Any] = [pa.array(column, pa.int64()) for column in columns]
        if relation.time:
            ticks = pa.array([time * SECOND for time in columns[-1]], pa.int64())
            arrays[-1] = ticks.cast(pa.timestamp("us"))
        found[relation.name] = pa.table(arrays, [c.name for c in relation.columns])
    return found


def fill(connection: Any, rows: Rows) -> None:
    """The rows as the oracle takes them."""
    connection.execute("CREATE TABLE r0 (id INTEGER, v INTEGER)")
    for name in STREAMS:
        connection.execute(f"CREATE TABLE all_{name} (id INTEGER, v INTEGER, ts INTEGER)")
    for name, listed in rows.items():
        table = name if name == "r0" else f"all_{name}"
        for row in listed:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join(map(str, row))})")


def query(rng: random.Random) -> tuple[str, dict[str, tuple[int, int]], int]:
    """A text, the edges of its windows in seconds, and its slide."""
    read = STREAMS if rng.random() < 0.4 else STREAMS[:1]
    edges = {}
    for name in read:
        end = rng.choice([0, 0, 3])
        edges[name] = (end + rng.choice([5, 10, 20]), end)
    slide = rng.choice([4, 7, 10])
    sources = ", ".join(
        f"{name} [NOW - {begin}s, NOW - {end}s] -> {slide}s" for name, (begin, end) in edges.items()
    )
    head = f"PREFIX : <{V}>\n"
    tail = f"FROM STREAM {sources}\n"
    return head + _clauses(rng, tail), edges, slide


def _clauses(rng: random.Random, streams: str) -> str:
    where = rng.choice(["{ ?s a :C0 }", "{ ?s a :C1 }", "{ ?s :D0 ?n }", "{ ?s :P0 ?s }"])
    sequence = "SEQUENCE BY StdSeq AS seq\n"
    chance = rng.random()
    if chance < 0.25:
        return f"SELECT ?s {_aggregates(rng)}\n{streams}{sequence}{_grouped(rng)}"
    if chance < 0.4:
        return f"SELECT {{ ?s }}\n{streams}{sequence}HAVING {_forall(rng)}"
    return f"SELECT {{ ?s }}\n{streams}WHERE {where}\n{sequence}HAVING {_condition(rng, 2)}"


def _aggregates(rng: random.Random) -> str:
    listed = ["COUNT(*)", "SUM(?n)", "AVG(?n)", "MAX(?n) - MIN(?n)", "COUNT(?n) + 1", "MIN(?n)"]
    return " ".join(f"({a} AS ?a{k})" for k, a in enumerate(rng.sample(listed, 2)))


def _grouped(rng: random.Random) -> str:
    body = f"GRAPH h {{ ?s :D{rng.randrange(2)} ?n }}"
    if rng.random() < 0.4:
        body = f"({body} AND {_condition(rng, 1)})"
    having = rng.choice(["", "", "\nHAVING AGGREGATE AVG(?n) + 1 < MAX(?n)"])
    return f"HAVING EXISTS h IN seq ({body})\nGROUP BY ?s{having}"


def _class(rng: random.Random) -> str:
    return f":C{rng.randrange(2)}"


def _pattern(rng: random.Random, state: str) -> tuple[str, str]:
    """A pattern about ?s, and the variable that must be quantified for it."""
    o = f"?o{rng.randrange(10**6)}"
    text, used = rng.choice(
        [
            (f"{{ ?s a {_class(rng)} }}", ""),
            (f"{{ ?s :P{rng.randrange(2)} {o} }}", o),
            (f"{{ ?s :P{rng.randrange(2)} {o} . {o} a {_class(rng)} }}", o),
        ]
    )
    return f"GRAPH {state} {text}", used


def _of(rng: random.Random, state: str, value: str) -> str:
    return f"GRAPH {state} {{ ?s :D{rng.randrange(2)} {value} }}"


def _op(rng: random.Random) -> str:
    return rng.choice(["<", "<=", "=", "!=", ">", ">="])


def _forall(rng: random.Random) -> str:
    order = rng.choice(["i < j", "i <= j", "i + 1 = j", "j <= i + 5s"])
    pair = f"{_of(rng, 'i', '?x')} AND {_of(rng, 'j', '?y')} AND {order}"
    then = rng.choice(
        [f"?x {_op(rng)} ?y", f"?x + 1 {_op(rng)} ?y", f"GRAPH j {{ ?s a {_class(rng)} }}"]
    )
    return f"FORALL i, j IN seq ?x, ?y (IF ({pair}) THEN {then})"


def _condition(rng: random.Random, depth: int) -> str:
    chance = rng.random()
    if depth and chance < 0.45:
        one, other = _condition(rng, depth - 1), _condition(rng, depth - 1)
        return rng.choice([f"({one} AND {other})", f"({one} OR {other})", f"NOT ({one})"])
    if chance < 0.55:
        return _forall(rng)
    if chance < 0.65:
        then, o = _pattern(rng, "l")
        guard, p = _pattern(rng, "k")
        inner = f"EXISTS l IN seq {o} (k <= l AND {then})"
        return f"FORALL k IN seq {p} (IF {guard} THEN {inner})"
    if chance < 0.75:
        pattern, o = _pattern(rng, "k")
        return f"EXISTS k IN seq {o} ({pattern})"
    if chance < 0.85:
        return f"EXISTS k IN seq ?x ({_of(rng, 'k', '?x')} AND ABS(?x - 2) {_op(rng)} 1)"
    pair = f"{_of(rng, 'k', '?x')} AND {_of(rng, 'l', '?y')} AND k < l AND ?x {_op(rng)} ?y"
    return f"EXISTS k, l IN seq ?x, ?y ({pair})"
