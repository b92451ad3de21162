"""The names that SELECT gives its columns, replaced by what they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from obda_bm.ir.formulas import (
    And,
    Arithmetic,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Minus,
    Not,
    Operand,
    Or,
    conjunction,
    disjunction,
)
from obda_bm.ir.rdf import Variable

Named = Mapping[Variable, Expression]


def expand_names(formula: Formula, named: Named) -> Formula:
    """`formula`, a condition on groups, without the names of columns."""
    match formula:
        case Comparison(left, _, right):
            return replace(formula, left=_value(left, named), right=_value(right, named))
        case FunctionCall(_, arguments):
            return replace(formula, arguments=tuple(_value(a, named) for a in arguments))
        case Not(part):
            return replace(formula, part=expand_names(part, named))
        case And(parts):
            return conjunction(tuple(expand_names(p, named) for p in parts), formula.span)
        case Or(parts):
            return disjunction(tuple(expand_names(p, named) for p in parts), formula.span)
        case _:
            raise AssertionError(f"no condition on groups: {formula}")


def _value(expression: Expression, named: Named) -> Expression:
    match expression:
        case Operand(Variable() as variable) if variable in named:
            return named[variable]
        case Minus(operand):
            return replace(expression, operand=_value(operand, named))
        case Arithmetic(left, _, right):
            return replace(expression, left=_value(left, named), right=_value(right, named))
        case FunctionCall(_, arguments):
            return replace(expression, arguments=tuple(_value(a, named) for a in arguments))
        case _:
            return expression
