"""Which variables a formula speaks of, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from obda_bm.diagnostics import Span
from obda_bm.ir.formulas import (
    Aggregate,
    And,
    Arithmetic,
    Comparison,
    Duration,
    Expression,
    Formula,
    FunctionCall,
    GroupPattern,
    IfThen,
    MacroCall,
    Minus,
    Not,
    Operand,
    Or,
    Quantified,
    State,
    StatePattern,
    conjunction,
    disjunction,
)
from obda_bm.ir.rdf import Variable
from obda_bm.ir.ucq import Atom


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A variable at a place in the text."""

    variable: Variable
    span: Span | None


def leaves(expression: Expression) -> Iterator[Operand | State | Duration | Aggregate]:
    """The values at the bottom of `expression`; an aggregate is one of them."""
    match expression:
        case Operand() | State() | Duration() | Aggregate():
            yield expression
        case Minus(operand):
            yield from leaves(operand)
        case Arithmetic(left, _, right):
            yield from leaves(left)
            yield from leaves(right)
        case FunctionCall(_, arguments):
            for argument in arguments:
                yield from leaves(argument)


def in_expression(expression: Expression) -> Iterator[Occurrence]:
    """The value variables of `expression` outside its aggregates."""
    for leaf in leaves(expression):
        if isinstance(leaf, Operand) and isinstance(leaf.term, Variable):
            yield Occurrence(leaf.term, leaf.span)


def in_aggregates(expression: Expression) -> Iterator[Occurrence]:
    """The value variables inside the aggregates of `expression`."""
    for leaf in leaves(expression):
        if isinstance(leaf, Aggregate) and leaf.argument is not None:
            yield from in_expression(leaf.argument)


def expressions_of(formula: Comparison | FunctionCall) -> tuple[Expression, ...]:
    match formula:
        case Comparison(left, _, right):
            return (left, right)
        case FunctionCall(_, arguments):
            return arguments


def in_atoms(atoms: Iterable[Atom]) -> Iterator[Occurrence]:
    for atom in atoms:
        for term in atom.terms:
            if isinstance(term, Variable):
                yield Occurrence(term, _place(atom, term))


def _place(atom: Atom, variable: Variable) -> Span | None:
    """Where `variable` stands in the text of `atom`; the whole atom if it stands before it."""
    if atom.span is None:
        return None
    found = re.search(rf"[?$]{re.escape(variable.name.lstrip('$'))}\b", atom.span.text)
    if found is None:
        return atom.span
    start = atom.span.start
    return Span(atom.span.source, start + found.start(), start + found.end())


def bound_in_group(group: GroupPattern) -> frozenset[Variable]:
    return frozenset(occurrence.variable for occurrence in in_atoms(group.atoms))


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """The formulas directly inside `formula`, FILTERs included."""
    match formula:
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
        case IfThen(guard, then):
            return (guard, then)
        case Quantified(body=body):
            return (body,)
        case StatePattern(pattern=pattern):
            return pattern.filters
        case Comparison() | FunctionCall() | MacroCall():
            return ()


def with_parts(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """`formula` with `change` applied to what is directly inside of it."""
    match formula:
        case And(parts):
            return conjunction(tuple(map(change, parts)), formula.span)
        case Or(parts):
            return disjunction(tuple(map(change, parts)), formula.span)
        case Not(part):
            return replace(formula, part=change(part))
        case IfThen(guard, then):
            return replace(formula, guard=change(guard), consequence=change(then))
        case Quantified(body=body):
            return replace(formula, body=change(body))
        case StatePattern(pattern=pattern):
            filters = tuple(map(change, pattern.filters))
            return replace(formula, pattern=replace(pattern, filters=filters))
        case Comparison() | FunctionCall() | MacroCall():
            return formula


def subformulas(formula: Formula) -> Iterator[Formula]:
    """`formula` and everything inside it, outermost first."""
    yield formula
    for part in parts_of(formula):
        yield from subformulas(part)


def free_occurrences(formula: Formula) -> Iterator[Occurrence]:
    """The value variables that no quantifier of `formula` binds."""
    match formula:
        case Comparison() | FunctionCall():
            for expression in expressions_of(formula):
                yield from in_expression(expression)
                yield from in_aggregates(expression)
        case StatePattern(pattern=pattern):
            yield from in_atoms(pattern.atoms)
        case MacroCall(_, arguments):
            yield from (Occurrence(a, formula.span) for a in arguments if isinstance(a, Variable))
        case _:
            pass
    bound = formula.values if isinstance(formula, Quantified) else ()
    for part in parts_of(formula):
        yield from (o for o in free_occurrences(part) if o.variable not in bound)
