"""Random queries of the fragment, over the tables of the test catalog."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from obda_bm.ir.sqltypes import Family

from .catalogs import CATALOG

OPERATORS = ["=", "<", "<=", ">", ">=", "<>"]
STREAMS = ("s", "t", "f")
CONSTANTS = {
    "number": ["0", "1", "2", "3", "2.5", "1 + 1"],
    "text": ["'x'", "'y'", "'low'"],
    "boolean": ["TRUE", "FALSE"],
    "instant": ["DATE '2020-01-01'", "TIMESTAMP '2020-01-01 12:00:00'", "'2020-01-02'"],
    "time": ["TIMESTAMP '2020-01-01 12:00:00'", "DATE '2020-01-02' + INTERVAL '1' HOUR"],
}


@dataclass(frozen=True)
class Name:
    """A column as a query may write it, and what it can be compared with."""

    text: str
    kind: str


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A bag or a set, a single SELECT or a union, over tables, derived tables and CTEs."""
    ending = draw(st.sampled_from(["", "", "UNION ALL", "UNION"]))
    distinct = not ending and draw(st.booleans())
    is_set = distinct or ending == "UNION"
    first = draw(selects(depth=2, is_set=is_set, distinct=distinct, inner=False))
    if not ending:
        return first
    return f"{first} {ending} {draw(selects(depth=1, is_set=is_set, inner=False))}"


@st.composite
def selects(
    draw: st.DrawFn, depth: int, is_set: bool, distinct: bool = False, inner: bool = True
) -> str:
    """A SELECT of a number `k` and, inside another query, a time `w`."""
    aliases = draw(st.permutations(["s", "t", "x", "s_2"]))[: draw(st.integers(1, 2))]
    ctes: list[str] = []
    tables: list[str] = []
    names: list[Name] = []
    for number, alias in enumerate(aliases):
        nested = depth > 0 and draw(st.booleans())
        if nested:
            body = draw(derived(depth - 1, is_set))
            names += [Name(f"{alias}.k", "number"), Name(f"{alias}.w", "time")]
            if draw(st.booleans()):
                ctes.append(f"v{depth}_{number} AS ({body})")
                tables.append(f"v{depth}_{number} AS {alias}")
            else:
                tables.append(f"({body}) AS {alias}")
        else:
            table = draw(st.sampled_from(STREAMS))
            tables.append(f"{table} AS {alias}")
            names += columns_of(table, alias)
    numbers = [name.text for name in names if name.kind == "number"]
    times = [name.text for name in names if name.kind == "time"]
    outputs = [f"{draw(st.sampled_from([*numbers, '7']))} AS k"]
    if inner:
        outputs.append(f"{draw(st.sampled_from(times))} AS w")
    parts = draw(st.lists(conditions(names, is_set), max_size=3))
    joined = draw(joins(tables, names, is_set))
    where = f" WHERE {' AND '.join(parts)}" if parts else ""
    start = f"WITH {', '.join(ctes)} " if ctes else ""
    mark = "DISTINCT " if distinct else ""
    select = f"{start}SELECT {mark}{', '.join(outputs)} FROM {joined}{where}"
    # A WITH after a UNION must stand in parentheses.
    return f"({select})" if ctes and not inner else select


@st.composite
def derived(draw: st.DrawFn, depth: int, is_set: bool) -> str:
    """The body of a derived table; under set semantics its own duplicates do not matter."""
    distinct = is_set and draw(st.booleans())
    first = draw(selects(depth, is_set, distinct))
    if first.startswith("WITH") or not draw(st.booleans()):
        return first
    union = draw(st.sampled_from(["UNION ALL", "UNION"] if is_set else ["UNION ALL"]))
    return f"{first} {union} {draw(selects(0, is_set))}"


@st.composite
def joins(draw: st.DrawFn, tables: list[str], names: list[Name], is_set: bool) -> str:
    if len(tables) == 1:
        return tables[0]
    left, right = tables
    if draw(st.booleans()):
        return f"{left}, {right}"
    return f"{left} JOIN {right} ON {draw(conditions(names, is_set))}"


def columns_of(table: str, alias: str) -> list[Name]:
    relation = CATALOG.find(table)
    assert relation is not None
    return [
        Name(f"{alias}.{c.name}", "time" if c.name == relation.time else c.type.family.value)
        for c in relation.columns
    ]


@st.composite
def conditions(draw: st.DrawFn, names: list[Name], is_set: bool) -> str:
    shapes = ["compare", "constant", "list", "range", "present"] + ["or"] * is_set
    shape = draw(st.sampled_from(shapes))
    name = draw(st.sampled_from(names))
    constants = st.sampled_from(CONSTANTS[name.kind])
    match shape:
        case "compare":
            other = draw(st.sampled_from([n for n in names if n.kind == name.kind]))
            return f"{name.text} {draw(operators(name))} {other.text}{draw(shifts(name))}"
        case "constant":
            return f"{name.text} {draw(operators(name))} {draw(constants)}"
        case "list":
            return (
                f"{name.text} IN ({', '.join(draw(st.lists(constants, min_size=1, max_size=3)))})"
            )
        case "range" if name.kind != Family.TEXT.value:
            return f"{name.text} BETWEEN {draw(constants)} AND {draw(constants)}"
        case "or":
            parts = conditions(names, is_set=False)
            return f"({draw(parts)} OR {draw(parts)})"
        case _:
            return f"{name.text} IS NOT NULL"


def operators(name: Name) -> st.SearchStrategy[str]:
    return st.sampled_from(["=", "<>"] if name.kind == Family.TEXT.value else OPERATORS)


def shifts(name: Name) -> st.SearchStrategy[str]:
    if name.kind != "time":
        return st.just("")
    return st.sampled_from(["", " + INTERVAL '12' HOUR", " - INTERVAL '1 day'"])
