"""Window plans -> SQL over the tables of their patterns, for DuckDB."""

from __future__ import annotations

from dataclasses import dataclass, replace

from obda_bm.ir.formulas import And, Comparison, Formula, FunctionCall, Not, Or
from obda_bm.ir.rdf import Iri, Literal, Variable
from obda_bm.ir.window_plan import (
    AnyState,
    Condition,
    Facet,
    Grouping,
    Match,
    Missing,
    Range,
    Selection,
    Source,
    WindowPlan,
)
from obda_bm.sql.window_values import (
    Ledger,
    Scope,
    answer_sql,
    comparison_sql,
    holds_sql,
)

Facets = frozenset[tuple[Variable, Facet]]


@dataclass(frozen=True, slots=True)
class WindowSql:
    """The query for one window, and what its tables must have.

    Tables are those of the patterns, `states`, and `constants` with one row. A table has the
    columns `at` and `at_time` of its state, and `v1`, `v2`, … of its variables with their facets.
    """

    text: str
    facets: Facets
    constants: tuple[Iri | Literal, ...]


def render_window(plan: WindowPlan) -> WindowSql:
    """The answers of `plan` as one SQL query."""
    ledger = Ledger()
    columns = {v: f"b.c{n}" for n, v in enumerate(plan.variables)}
    each = "{}" if plan.grouping is None else "any_value({})"
    outside = Scope(ledger, columns, each=each)
    answers = [answer_sql(answer.expression, outside) for answer in plan.answers]
    tail = "" if plan.grouping is None else _group_sql(plan.grouping, outside)
    asked = frozenset(ledger.facets)  # the same for all bindings, whatever their conditions ask
    bindings = "\nUNION\n".join(_bindings_sql(plan, s, asked, ledger) for s in plan.selections)
    text = f"SELECT DISTINCT {', '.join(answers) or '1'} FROM (\n{bindings}\n) AS b{tail}"
    return WindowSql(text, frozenset(ledger.facets), tuple(ledger.constants))


def _group_sql(grouping: Grouping, scope: Scope) -> str:
    keys = ", ".join(scope.values[v] for v in grouping.variables)
    # Without a binding there is no group, also where everything is one group.
    conditions = ["count(*) > 0"]
    if grouping.having is not None:
        conditions.append(_formula_sql(grouping.having, scope))
    by = f"\nGROUP BY {keys}" if keys else ""
    return f"{by}\nHAVING {' AND '.join(conditions)}"


def _formula_sql(formula: Formula, scope: Scope) -> str:
    match formula:
        case And(parts):
            return f"({' AND '.join(_formula_sql(part, scope) for part in parts)})"
        case Or(parts):
            return f"({' OR '.join(_formula_sql(part, scope) for part in parts)})"
        case Not(part):
            return f"NOT {_formula_sql(part, scope)}"
        case Comparison():
            return f"({comparison_sql(formula, scope)})"
        case FunctionCall():
            return holds_sql(formula, scope)
        case _:
            raise AssertionError(f"no condition on values: {formula}")


def _bindings_sql(plan: WindowPlan, selection: Selection, asked: Facets, ledger: Ledger) -> str:
    """The bindings of one selection; what it does not bind is NULL."""
    scope = _inside(selection, Scope(ledger))
    outputs: list[str] = []
    for n, variable in enumerate(plan.variables):
        own = ["", *(f"_{f.value}" for f in Facet if (variable, f) in asked)]
        place = scope.values.get(variable)
        outputs += (f"{'NULL' if place is None else place + f} AS c{n}{f}" for f in own)
    for n, state in enumerate(plan.grouping.states if plan.grouping else ()):
        at = f"{scope.states[state]}.at" if state in scope.states else "NULL"
        outputs.append(f"{at} AS s{n}")
    return f"SELECT DISTINCT {', '.join(outputs) or '1 AS one'}{_body_sql(selection, scope)}"


def _inside(selection: Selection, outside: Scope) -> Scope:
    """The scope in a selection: its sources bind what is not bound outside."""
    values, states = dict(outside.values), dict(outside.states)
    for n, source in enumerate(selection.sources):
        alias = f"a{outside.depth}_{n}"
        match source:
            case Match(_, state, variables):
                if state is not None:
                    states.setdefault(state, alias)
                for k, variable in enumerate(variables, start=1):
                    values.setdefault(variable, f"{alias}.v{k}")
            case AnyState(state):
                states.setdefault(state, alias)
            case Range(variable):
                values.setdefault(variable, f"{alias}.v")
    return replace(outside, values=values, states=states, depth=outside.depth + 1)


def _body_sql(selection: Selection, scope: Scope) -> str:
    """FROM and WHERE; the conditions come first, as ranges must have the facets they ask for."""
    aliases = [f"a{scope.depth - 1}_{n}" for n in range(len(selection.sources))]
    pairs = list(zip(selection.sources, aliases, strict=True))
    conditions = [c for source, alias in pairs for c in _agreement(source, alias, scope)]
    conditions += (_condition_sql(condition, scope) for condition in selection.conditions)
    tables = ", ".join(f"{_source_sql(s, scope.ledger)} AS {alias}" for s, alias in pairs)
    start = f"\nFROM {tables}" if tables else ""
    return start + (f"\nWHERE {' AND '.join(conditions)}" if conditions else "")


def _agreement(source: Source, alias: str, scope: Scope) -> list[str]:
    """That what another source binds is the same here."""
    match source:
        case Match(_, state, variables):
            places = [(scope.values[v], f"{alias}.v{k}") for k, v in enumerate(variables, start=1)]
            if state is not None:
                places.append((f"{scope.states[state]}.at", f"{alias}.at"))
            return [f"{place} = {own}" for place, own in places if place != own]
        case AnyState() | Range():
            return []


def _source_sql(source: Source, ledger: Ledger) -> str:
    match source:
        case Match(pattern):
            return pattern
        case AnyState():
            return "states"
        case Range(variable, matches):
            facets = ["", *(f"_{f.value}" for f in Facet if (variable, f) in ledger.facets)]
            columns = ", ".join(f"v1{facet} AS v{facet}" for facet in facets)
            tables = dict.fromkeys(match.pattern for match in matches)
            return f"({' UNION '.join(f'SELECT {columns} FROM {table}' for table in tables)})"


def _condition_sql(condition: Condition, scope: Scope) -> str:
    match condition:
        case Missing(selections):
            found = (f"SELECT 1{_body_sql(s, _inside(s, scope))}" for s in selections)
            return " AND ".join(f"NOT EXISTS (\n{rows}\n)" for rows in found)
        case _:
            return _formula_sql(condition, scope)
