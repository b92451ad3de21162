"""The meaning of HAVING, read off its definition: try every value, state after state.

Shares no code with the normal forms it is compared with.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

from obda_bm.ir.formulas import (
    And,
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duration,
    Expression,
    Formula,
    IfThen,
    Not,
    Operand,
    Or,
    Quantified,
    Quantifier,
    State,
    StatePattern,
)
from obda_bm.ir.rdf import Literal, RdfTerm, Variable
from obda_bm.ir.starql import StarqlQuery
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom

OPS: dict[Op, Callable[[int, int], bool]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.GE: operator.ge,
    Op.GT: operator.gt,
}
Fact = tuple[str, int] | tuple[str, int, int]
Binding = Mapping[str, int]


@dataclass(frozen=True)
class World:
    """Facts that always hold, and facts of each timestamp; things and values are numbers."""

    static: frozenset[Fact]
    states: Mapping[int, frozenset[Fact]]
    domain: tuple[int, ...]


def value(expression: Expression, states: Binding, values: Binding) -> int:
    match expression:
        case State(name):
            return states[name]
        case Operand(term):
            return ground(term, values)
        case Duration(microseconds):
            return microseconds
        case Arithmetic(left, op, right):
            sign = 1 if op is ArithmeticOp.ADD else -1
            return value(left, states, values) + sign * value(right, states, values)
        case _:
            raise NotImplementedError(expression)


def ground(term: RdfTerm, values: Binding) -> int:
    match term:
        case Variable(name):
            return values[name]
        case Literal(lexical):
            return int(lexical)
        case _:
            raise NotImplementedError(term)


def fact(atom: Atom, values: Binding) -> Fact:
    match atom:
        case ClassAtom(iri, term):
            return (iri, ground(term, values))
        case PropertyAtom(iri, subject, object_):
            return (iri, ground(subject, values), ground(object_, values))


def holds(formula: Formula, world: World, states: Binding, values: Binding) -> bool:
    def true(part: Formula) -> bool:
        return holds(part, world, states, values)

    match formula:
        case Comparison(left, op, right):
            return OPS[op](value(left, states, values), value(right, states, values))
        case StatePattern(state, pattern):
            there = world.states[states[state]]
            return all(fact(a, values) in there for a in pattern.atoms) and all(
                map(true, pattern.filters)
            )
        case And(parts):
            return all(map(true, parts))
        case Or(parts):
            return any(map(true, parts))
        case Not(part):
            return not true(part)
        case IfThen(guard, then):
            return not true(guard) or true(then)
        case Quantified():
            return _quantified(formula, world, states, values)
        case _:
            raise NotImplementedError(formula)


def _quantified(formula: Quantified, world: World, states: Binding, values: Binding) -> bool:
    tried = (
        holds(
            formula.body,
            world,
            {**states, **dict(zip(formula.states, times, strict=True))},
            {**values, **dict(zip([v.name for v in formula.values], chosen, strict=True))},
        )
        for times in product(world.states, repeat=len(formula.states))
        for chosen in product(world.domain, repeat=len(formula.values))
    )
    return any(tried) if formula.quantifier is Quantifier.EXISTS else all(tried)


def answers(query: StarqlQuery, free: tuple[str, ...], world: World) -> set[tuple[int, ...]]:
    """The values of `free` for which WHERE and HAVING hold."""
    found = set()
    for chosen in product(world.domain, repeat=len(free)):
        values = dict(zip(free, chosen, strict=True))
        static = query.where.atoms if query.where else ()
        there = all(fact(atom, values) in world.static for atom in static)
        if there and all(holds(f, world, {}, values) for f in query.row_conditions):
            found.add(chosen)
    return found


def conjunctive_answers(query: ConjunctiveQuery, world: World) -> set[tuple[int, ...]]:
    """The same for a conjunctive query: every way to map its variables, tried."""
    times = sorted({a.state.name for a in query.body if a.state is not None})
    terms = [t for a in query.body for t in a.terms] + list(query.head)
    names = sorted({t.name for t in terms if isinstance(t, Variable)})
    assert not set(times) & set(names), "a state and a value have one name"
    found = set()
    for at in product(world.states, repeat=len(times)):
        for chosen in product(world.domain, repeat=len(names)):
            binding = {**dict(zip(times, at, strict=True)), **dict(zip(names, chosen, strict=True))}
            if _satisfied(query, world, binding):
                found.add(tuple(ground(term, binding) for term in query.head))
    return found


def _satisfied(query: ConjunctiveQuery, world: World, binding: Binding) -> bool:
    for atom in query.body:
        facts = world.static if atom.state is None else world.states[binding[atom.state.name]]
        if fact(atom, binding) not in facts:
            return False
    return all(
        OPS[c.op](ground(c.left, binding), ground(c.right, binding) + c.offset)
        for c in query.comparisons
    )
