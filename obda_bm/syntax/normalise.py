"""Normal forms of conditions: negations at the leaves, names apart, disjunctions outside.

Negated comparisons become the opposite ones. That is right because safety binds their variables,
and every bound value compares with every other of its type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from obda_bm.diagnostics import Span
from obda_bm.ir.formulas import (
    And,
    Comparison,
    Formula,
    FunctionCall,
    IfThen,
    MacroCall,
    Not,
    Or,
    Quantified,
    Quantifier,
    StatePattern,
    conjunction,
    disjunction,
)
from obda_bm.ir.rdf import Variable
from obda_bm.ir.terms import Op
from obda_bm.syntax.macros import fresh_name
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.safety import Holds
from obda_bm.syntax.substitute import Substitution, substitute
from obda_bm.syntax.variables import with_parts

MOST_BRANCHES = 512
_OPPOSITE = {Op.LT: Op.GE, Op.GE: Op.LT, Op.GT: Op.LE, Op.LE: Op.GT, Op.EQ: Op.NE, Op.NE: Op.EQ}
_DUAL = {Quantifier.EXISTS: Quantifier.FORALL, Quantifier.FORALL: Quantifier.EXISTS}


def negation_normal_form(formula: Formula, holds: Holds = Holds.YES) -> Formula:
    """`formula` (or its negation) without IF, and with NOT before patterns and functions only."""
    yes = holds is Holds.YES
    match formula:
        case Comparison(_, op):
            return formula if yes else replace(formula, op=_OPPOSITE[op])
        case StatePattern(pattern=pattern) if yes and pattern.filters:
            filters = tuple(map(negation_normal_form, pattern.filters))
            return replace(formula, pattern=replace(pattern, filters=filters))
        case StatePattern() | FunctionCall() | MacroCall():
            return formula if yes else Not(formula, formula.span)
        case Not(part):
            return negation_normal_form(part, holds.other)
        case And(parts) | Or(parts):
            inner = tuple(negation_normal_form(part, holds) for part in parts)
            join = conjunction if isinstance(formula, And) == yes else disjunction
            return join(inner, formula.span)
        case IfThen(guard, then):
            both = (negation_normal_form(guard, holds.other), negation_normal_form(then, holds))
            return (disjunction if yes else conjunction)(both, formula.span)
        case Quantified(quantifier, body=body):
            kind = quantifier if yes else _DUAL[quantifier]
            return replace(formula, quantifier=kind, body=negation_normal_form(body, holds))


def rename_apart(formula: Formula, taken: frozenset[str]) -> Formula:
    """`formula` with a name of its own for whatever is quantified, none of `taken` among them.

    States and values get different names, as both are variables of a conjunctive query.
    """
    used = set(taken)

    def new(name: str) -> str:
        chosen = name if name not in used else fresh_name(name, used)
        used.add(chosen)
        return chosen

    def apart(part: Formula) -> Formula:
        if isinstance(part, Quantified):
            values = {value: Variable(new(value.name)) for value in part.values}
            states = {state: new(state) for state in part.states}
            part = substitute(part, Substitution(values, states))
        return with_parts(part, apart)

    return apart(formula)


@dataclass(frozen=True, slots=True)
class Branch:
    """One disjunct: what must hold together, and the states that EXISTS asked for."""

    literals: tuple[Formula, ...]
    states: frozenset[str] = frozenset()


def branches(formula: Formula) -> tuple[Branch, ...]:
    """The disjunctive normal form of a formula in negation normal form with names apart.

    EXISTS leaves its states behind and is dropped; whatever is not AND, OR or EXISTS is a literal.

    Raises:
        StarqlError: there are more than `MOST_BRANCHES`.
    """
    match formula:
        case Or(parts):
            found = tuple(branch for part in parts for branch in branches(part))
        case And(parts):
            found = _products(tuple(map(branches, parts)), formula.span)
        case Quantified(Quantifier.EXISTS, states=states, body=body):
            found = tuple(replace(b, states=b.states | set(states)) for b in branches(body))
        case StatePattern(pattern=pattern) if pattern.filters:
            bare = replace(formula, pattern=replace(pattern, filters=()))
            choices = ((Branch((bare,)),), *map(branches, pattern.filters))
            found = _products(choices, formula.span)
        case _:
            found = (Branch((formula,)),)
    return _few(found, len(found), formula.span)


def _products(choices: tuple[tuple[Branch, ...], ...], span: Span | None) -> tuple[Branch, ...]:
    size = 1
    for choice in choices:
        size *= len(choice)
    _few((), size, span)
    return tuple(_together(chosen) for chosen in product(*choices))


def _together(chosen: tuple[Branch, ...]) -> Branch:
    literals = tuple(literal for branch in chosen for literal in branch.literals)
    return Branch(literals, frozenset[str]().union(*(branch.states for branch in chosen)))


def _few(found: tuple[Branch, ...], size: int, span: Span | None) -> tuple[Branch, ...]:
    if size > MOST_BRANCHES:
        message = f"the condition has more than {MOST_BRANCHES} branches"
        hint = "Use fewer ORs inside of ANDs, or split the query into several streams."
        raise Mistake.TOO_MANY_BRANCHES.error(span, message, hint)
    return found
