"""Range restriction: every variable gets its values from a pattern that must hold.

A formula is looked at in two ways: where it holds and where it fails. A pattern binds its variables
where it holds; NOT and the guard of IF swap the two; FORALL is read as "no counterexample", so
its body is looked at where it fails, and there the guard holds. This is the safe-range condition of
first-order queries, with one addition that the published queries need: a free variable may also
get its range from the guard of a FORALL, see `ranged_by_guards`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from obda_bm.diagnostics import Diagnostic
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
)
from obda_bm.ir.rdf import Variable
from obda_bm.syntax.unsafe import explain_unsafe, explain_unused
from obda_bm.syntax.variables import (
    Occurrence,
    bound_in_group,
    expressions_of,
    free_occurrences,
    in_atoms,
    in_expression,
    subformulas,
)

Variables = frozenset[Variable]
NOTHING: Variables = frozenset()


class Holds(Enum):
    """Which way a formula is looked at."""

    YES = True
    NO = False

    @property
    def other(self) -> Holds:
        return Holds.NO if self is Holds.YES else Holds.YES


def bound_by(formula: Formula, holds: Holds = Holds.YES) -> Variables:
    """The value variables that get their values wherever `formula` holds (or fails)."""
    match formula:
        case Comparison() | FunctionCall() | MacroCall():
            return NOTHING
        case StatePattern(pattern=pattern):
            return bound_in_group(pattern) if holds is Holds.YES else NOTHING
        case Not(part):
            return bound_by(part, holds.other)
        case And() | Or() | IfThen():
            return _bound_by_parts(formula, holds)
        case Quantified(Quantifier.EXISTS, values=values, body=body) if holds is Holds.YES:
            return bound_by(body, Holds.YES) - set(values)
        case Quantified(Quantifier.FORALL, values=values, body=body) if holds is Holds.NO:
            return bound_by(body, Holds.NO) - set(values)
        case Quantified():
            return NOTHING  # an empty sequence makes it hold (or fail) without any pattern


def _bound_by_parts(formula: And | Or | IfThen, holds: Holds) -> Variables:
    bound = [bound_by(part, way) for part, way in ways(formula, holds)]
    if all_needed(formula, holds):
        return NOTHING.union(*bound)
    return bound[0].intersection(*bound[1:])


def ways(formula: And | Or | IfThen, holds: Holds) -> tuple[tuple[Formula, Holds], ...]:
    """The parts of `formula`, each with the way in which it counts; IF counts as NOT."""
    match formula:
        case And(parts) | Or(parts):
            return tuple((part, holds) for part in parts)
        case IfThen(guard, then):
            return ((guard, holds.other), (then, holds))


def all_needed(formula: And | Or | IfThen, holds: Holds) -> bool:
    """Whether every part is needed: a conjunction that holds, or a disjunction that fails."""
    return isinstance(formula, And) == (holds is Holds.YES)


def ranged_by_guards(formula: Formula) -> Variables:
    """The free variables that the guard of a FORALL ranges over.

    `FORALL i, j IN seq ?x, ?y (IF GRAPH i {?s :v ?x} AND ... THEN ...)` speaks of every ?s that
    some state of the window gives a :v. Without this reading the formula would hold for all
    things there are, and the published queries would be unsafe.
    """
    match formula:
        case And(parts):
            return NOTHING.union(*map(ranged_by_guards, parts))
        case Quantified(Quantifier.EXISTS, values=values, body=body):
            return ranged_by_guards(body) - set(values)
        case Quantified(Quantifier.FORALL, values=values, body=IfThen(guard, _)):
            return bound_by(guard) - set(values)
        case _:
            return NOTHING


def unsafe_in(formula: Formula, given: Variables) -> Iterator[Diagnostic]:
    """What is not range-restricted in `formula`, when `given` are bound outside of it."""
    known = given | bound_by(formula) | ranged_by_guards(formula)
    for occurrence in _loose(formula, Holds.YES, known):
        yield explain_unsafe(occurrence, formula, known)
    yield from _unbound_quantified(formula)


def _loose(formula: Formula, holds: Holds, given: Variables) -> Iterator[Occurrence]:
    """The occurrences of variables that nothing binds where their value is needed."""
    match formula:
        case Comparison() | FunctionCall():
            for expression in expressions_of(formula):
                yield from _missing(in_expression(expression), given)
        case StatePattern(pattern=pattern):
            if holds is Holds.NO:
                yield from _missing(in_atoms(pattern.atoms), given)
            for condition in pattern.filters:
                yield from _loose(condition, holds, given | bound_in_group(pattern))
        case Not(part):
            yield from _loose(part, holds.other, given)
        case And() | Or() | IfThen():
            inner = given | (bound_by(formula, holds) if all_needed(formula, holds) else NOTHING)
            for part, way in ways(formula, holds):
                yield from _loose(part, way, inner)
        case Quantified():
            yield from _loose_in_quantified(formula, holds, given)
        case MacroCall():
            pass


def _loose_in_quantified(
    formula: Quantified, holds: Holds, given: Variables
) -> Iterator[Occurrence]:
    """A FORALL, and an EXISTS that must fail, can only test what is bound outside of them."""
    inside = Holds.YES if formula.quantifier is Quantifier.EXISTS else Holds.NO
    if inside is not holds:
        free = _missing(free_occurrences(formula), given)
        loose = {occurrence.variable: occurrence for occurrence in reversed(list(free))}
        yield from reversed(loose.values())
        given = given | set(loose)
    inner = given | bound_by(formula.body, inside) | set(formula.values)
    yield from _loose(formula.body, inside, inner)


def _missing(occurrences: Iterator[Occurrence], given: Variables) -> Iterator[Occurrence]:
    return (occurrence for occurrence in occurrences if occurrence.variable not in given)


def _unbound_quantified(formula: Formula) -> Iterator[Diagnostic]:
    """Quantified value variables that no pattern in the scope of their quantifier binds."""
    for part in subformulas(formula):
        if isinstance(part, Quantified):
            inside = Holds.YES if part.quantifier is Quantifier.EXISTS else Holds.NO
            bound = bound_by(part.body, inside)
            for value in part.values:
                if value not in bound:
                    yield explain_unused(value, part)
