"""Aggregates stand where groups are, and only grouped variables stand beside them."""

from __future__ import annotations

from collections.abc import Iterator

from obda_bm.diagnostics import Diagnostic, did_you_mean
from obda_bm.ir.formula_text import variable_text
from obda_bm.ir.formulas import Aggregate, Comparison, Expression, Formula, FunctionCall
from obda_bm.ir.rdf import Variable
from obda_bm.ir.starql import Construct, Select, SelectItem, StarqlQuery
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.variables import (
    Occurrence,
    expressions_of,
    in_atoms,
    in_expression,
    leaves,
    subformulas,
)


def check_grouping(query: StarqlQuery) -> Iterator[Diagnostic]:
    yield from _check_misplaced(query)
    yield from _check_nested(query)
    yield from _check_columns(query)
    if is_grouped(query):
        yield from _check_beside(query)


def is_grouped(query: StarqlQuery) -> bool:
    """Whether the answers are groups: GROUP BY, HAVING AGGREGATE, or an aggregate in SELECT."""
    return (
        query.group_by is not None
        or query.having_aggregate is not None
        or any(aggregates_in(item.expression) for item in _items(query))
    )


def aggregates_in(expression: Expression) -> list[Aggregate]:
    return [leaf for leaf in leaves(expression) if isinstance(leaf, Aggregate)]


def _items(query: StarqlQuery) -> tuple[SelectItem, ...]:
    return query.output.items if isinstance(query.output, Select) else ()


def expressions_in(formula: Formula) -> Iterator[Expression]:
    for part in subformulas(formula):
        if isinstance(part, Comparison | FunctionCall):
            yield from expressions_of(part)


def _check_misplaced(query: StarqlQuery) -> Iterator[Diagnostic]:
    """Aggregates in WHERE and HAVING, where there are no groups yet."""
    for formula in query.row_conditions:
        for expression in expressions_in(formula):
            for aggregate in aggregates_in(expression):
                hint = "Write the condition after GROUP BY, as HAVING AGGREGATE ..."
                message = f"{aggregate.function.value} stands where there are no groups"
                yield Mistake.MISPLACED_AGGREGATE.at(aggregate.span, message, hint)


def _check_nested(query: StarqlQuery) -> Iterator[Diagnostic]:
    expressions = [item.expression for item in _items(query)]
    if query.having_aggregate:
        expressions += expressions_in(query.having_aggregate)
    for outer in (a for e in expressions for a in aggregates_in(e)):
        if outer.argument is not None and aggregates_in(outer.argument):
            hint = "Create a stream with the inner aggregate, and read from it."
            message = "an aggregate inside an aggregate"
            yield Mistake.MISPLACED_AGGREGATE.at(outer.span, message, hint)


def _check_columns(query: StarqlQuery) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for item in _items(query):
        if item.name in seen:
            message = f"two columns are called ?{item.name}"
            yield Mistake.REPEATED.at(item.span, message, "Rename one of them with AS.")
        seen.add(item.name)


def _check_beside(query: StarqlQuery) -> Iterator[Diagnostic]:
    """Variables outside of aggregates must have one value in each group."""
    grouped = set(query.group_by.variables) if query.group_by else set()
    named = {Variable(item.name) for item in _items(query) if item.alias}
    for occurrence in _beside(query):
        if occurrence.variable not in grouped:
            yield _not_grouped(occurrence, grouped)
    if query.having_aggregate:
        for expression in expressions_in(query.having_aggregate):
            for occurrence in in_expression(expression):
                if occurrence.variable not in grouped | named:
                    yield _not_grouped(occurrence, grouped | named)


def _beside(query: StarqlQuery) -> Iterator[Occurrence]:
    match query.output:
        case Construct(atoms):
            yield from in_atoms(atoms)
        case Select(items):
            for item in items:
                yield from in_expression(item.expression)


def _not_grouped(occurrence: Occurrence, grouped: set[Variable]) -> Diagnostic:
    text = variable_text(occurrence.variable)
    near = did_you_mean(text, map(variable_text, grouped))
    hint = f"Add {text} to GROUP BY, or take an aggregate of it."
    message = f"{text} has many values in a group"
    return Mistake.NOT_GROUPED.at(occurrence.span, message, f"{near} {hint}" if near else hint)
