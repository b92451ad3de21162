"""The meaning of a windowed query, read off its definition: states as sets of triples, all tried.

It shares with the project the data types of queries and axioms only. Terms are texts as N-Triples
writes them; rows become triples by the rules of `tests.unfolding.oracle`.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from obda_bm.ir.formulas import (
    Aggregate,
    AggregateFunction,
    And,
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duration,
    Formula,
    Function,
    FunctionCall,
    IfThen,
    Not,
    Operand,
    Or,
    Quantified,
    Quantifier,
    State,
    StatePattern,
)
from obda_bm.ir.rdf import Variable
from obda_bm.ir.starql import Select, StarqlQuery
from obda_bm.ir.tbox import TBox
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import Atom, ClassAtom
from tests.unfolding.oracle import TYPE, Rule, Triple, closed, graph

OPS: dict[Op, Callable[[Any, Any], bool]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.GE: operator.ge,
    Op.GT: operator.gt,
}
ARITHMETIC: dict[ArithmeticOp, Callable[[Any, Any], Any]] = {
    ArithmeticOp.ADD: operator.add,
    ArithmeticOp.SUB: operator.sub,
    ArithmeticOp.MUL: operator.mul,
}
DEPTH = 5
Binding = Mapping[str, Any]


@dataclass(frozen=True)
class Window:
    """The states of one window, by time, and all that is asserted in it together."""

    states: Mapping[int, frozenset[Triple]]
    everything: frozenset[Triple]

    @property
    def named(self) -> list[str]:
        """All terms that the data speaks of."""
        triples = {t for state in self.states.values() for t in state} | self.everything
        terms = {term for s, _, o in triples for term in (s, o)}
        return sorted(term for term in terms if not term.startswith("_:n"))


def window(
    rules: list[Rule], tbox: TBox, connection: Any, edges: Mapping[str, tuple[int, int]], tick: int
) -> Window:
    """The window at `tick`; `edges` are begin and end of each stream that is read, in seconds.

    The connection has a table `all_s` for each stream `s`, with whole numbers `ts` as timestamps.
    """
    times: set[int] = set()
    for name, (begin, end) in edges.items():
        seen = f"SELECT ts FROM all_{name} WHERE ts BETWEEN {tick - begin} AND {tick - end}"
        times |= {time for (time,) in connection.execute(seen).fetchall()}

    def triples(condition: str) -> frozenset[Triple]:
        for name in ("s1", "s2"):
            begin, end = edges.get(name, (-1, 0))
            inside = f"ts BETWEEN {tick - begin} AND {tick - end} AND {condition}"
            view = f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM all_{name} WHERE {inside}"
            connection.execute(view)
        return frozenset(closed(set(graph(rules, connection)), tbox, DEPTH))

    return Window({t: triples(f"ts = {t}") for t in sorted(times)}, triples("true"))


def answers(query: StarqlQuery, seen: Window) -> set[tuple[Any, ...]]:
    """Terms as texts, calculated values as fractions."""
    bindings = list(_bindings(query, seen))
    assert isinstance(query.output, Select)
    if query.group_by is None:
        names = [item.name for item in query.output.items]
        return {tuple(binding[name] for name in names) for binding, _ in bindings}
    groups: dict[tuple[str, ...], set[tuple[Any, ...]]] = defaultdict(set)
    keys = [v.name for v in query.group_by.variables]
    for binding, states in bindings:
        row = (tuple(sorted(binding.items())), states)
        groups[tuple(binding[key] for key in keys)].add(row)
    found = set()
    for rows in groups.values():
        members = [dict(binding) for binding, _ in rows]
        having = query.having_aggregate
        if having is None or _group_holds(having, members):
            found.add(tuple(_of_group(i.expression, members) for i in query.output.items))
    return found


def _group_holds(formula: Formula, members: list[dict[str, str]]) -> bool:
    assert isinstance(formula, Comparison)
    left, right = (_of_group(side, members) for side in (formula.left, formula.right))
    return OPS[formula.op](left, right)


def _of_group(expression: Any, members: list[dict[str, str]]) -> Any:
    match expression:
        case Operand(Variable(name)):
            return members[0][name]
        case Operand(term):
            return number(str(term))
        case Aggregate(AggregateFunction.COUNT, None):
            return Fraction(len(members))
        case Aggregate(function, Operand(Variable(name))):
            values = [number(member[name]) for member in members]
            return {
                AggregateFunction.COUNT: Fraction(len(values)),
                AggregateFunction.SUM: sum(values, Fraction(0)),
                AggregateFunction.AVG: sum(values, Fraction(0)) / len(values),
                AggregateFunction.MIN: min(values),
                AggregateFunction.MAX: max(values),
            }[function]
        case Arithmetic(left, op, right):
            return ARITHMETIC[op](_of_group(left, members), _of_group(right, members))
    raise NotImplementedError(expression)


def _bindings(query: StarqlQuery, seen: Window) -> Iterator[tuple[dict[str, str], Any]]:
    """The values of the free variables, with the states of an outermost EXISTS."""
    free = sorted(_free(query))
    once = _nullable(query)
    atoms = query.where.atoms if query.where else ()
    for chosen in product(seen.named, repeat=len(free)):
        binding = dict(zip(free, chosen, strict=True))
        if not all(_fact(a, binding) in seen.everything for a in atoms):
            continue
        if query.where is None and not _ranged(query.having, binding, seen):
            continue
        for states, rest in _outermost(query.having, seen):
            if rest is None or holds(rest, seen, once, states, binding):
                yield binding, tuple(states.items())


def _outermost(having: Formula | None, seen: Window) -> Iterator[tuple[dict[str, int], Any]]:
    match having:
        case Quantified(Quantifier.EXISTS, states=states, values=()):
            for times in product(seen.states, repeat=len(states)):
                yield dict(zip(states, times, strict=True)), having.body
        case _:
            yield {}, having


def _ranged(having: Formula | None, binding: Binding, seen: Window) -> bool:
    """Without WHERE, the subject of a FORALL is one that a pattern of its guard is about."""
    match having:
        case Quantified(Quantifier.FORALL, body=IfThen(guard, _)):
            parts = guard.parts if isinstance(guard, And) else (guard,)
            patterns = [p for p in parts if isinstance(p, StatePattern)]
            return any(
                s == binding["s"] and _fits(p.pattern.atoms[0], q, o)
                for p in patterns
                for state in seen.states.values()
                for s, q, o in state
            )
        case _:
            return True


def _fits(atom: Atom, predicate: str, object_: str) -> bool:
    if isinstance(atom, ClassAtom):
        return predicate == TYPE and object_ == f"<{atom.iri}>"
    return predicate == f"<{atom.iri}>"


def _free(query: StarqlQuery) -> set[str]:
    """The generator calls free variables s and n, and quantified ones otherwise."""
    text = str(query)
    return {name for name in ("s", "n") if re.search(rf"\?{name}\b", text)}


def _nullable(query: StarqlQuery) -> set[str]:
    """Variables called o… stand in one pattern only: something that is only known to be."""
    return set(re.findall(r"\?(o\d*)\b", str(query)))


def _fact(atom: Atom, binding: Binding) -> Triple:
    def ground(term: Any) -> str:
        return binding[term.name] if isinstance(term, Variable) else str(term)

    if isinstance(atom, ClassAtom):
        return (ground(atom.term), TYPE, f"<{atom.iri}>")
    return (ground(atom.subject), f"<{atom.iri}>", ground(atom.object))


def holds(formula: Formula, seen: Window, once: set[str], states: Binding, values: Binding) -> bool:
    def true(part: Formula) -> bool:
        return holds(part, seen, once, states, values)

    match formula:
        case Comparison(left, op, right):
            return OPS[op](_value(left, seen, states, values), _value(right, seen, states, values))
        case StatePattern(state, pattern):
            return _matches(pattern.atoms, seen.states[states[state]], once, values)
        case And(parts):
            return all(map(true, parts))
        case Or(parts):
            return any(map(true, parts))
        case Not(part):
            return not true(part)
        case IfThen(guard, then):
            return not true(guard) or true(then)
        case Quantified():
            return _quantified(formula, seen, once, states, values)
    raise NotImplementedError(formula)


def _matches(
    atoms: tuple[Atom, ...], triples: frozenset[Triple], once: set[str], values: Binding
) -> bool:
    names = {t.name for a in atoms for t in a.terms if isinstance(t, Variable)} & once
    terms = sorted({term for s, _, o in triples for term in (s, o)}) if names else []
    return any(
        all(_fact(a, {**values, **dict(zip(names, chosen, strict=True))}) in triples for a in atoms)
        for chosen in product(terms, repeat=len(names))
    )


def _quantified(
    formula: Quantified, seen: Window, once: set[str], states: Binding, values: Binding
) -> bool:
    names = [v.name for v in formula.values if v.name not in once]
    numbers = [term for term in seen.named if term.startswith('"')]
    tried = (
        holds(
            formula.body,
            seen,
            once,
            {**states, **dict(zip(formula.states, times, strict=True))},
            {**values, **dict(zip(names, chosen, strict=True))},
        )
        for times in product(seen.states, repeat=len(formula.states))
        for chosen in product(numbers, repeat=len(names))
    )
    return any(tried) if formula.quantifier is Quantifier.EXISTS else all(tried)


def _value(expression: Any, seen: Window, states: Binding, values: Binding) -> Any:
    match expression:
        case State(name):
            return states[name]
        case Duration(microseconds):
            return Fraction(microseconds, 10**6)
        case Operand(Variable(name)):
            return number(values[name])
        case Operand(term):
            return number(str(term))
        case FunctionCall(Function.ABS, (argument,)):
            return abs(_value(argument, seen, states, values))
        case Arithmetic(State(name), ArithmeticOp.ADD, Operand(term)):
            # The k-th state after this one; beyond the last there is none, which equals nothing.
            order = [*seen.states, *[None] * 9]
            return order[order.index(states[name]) + int(number(str(term)))]
        case Arithmetic(left, op, right):
            sides = (_value(side, seen, states, values) for side in (left, right))
            return ARITHMETIC[op](*sides)
    raise NotImplementedError(expression)


def number(term: str) -> Fraction:
    found = re.match(r'"(-?\d+)"', term)
    assert found is not None, term
    return Fraction(found[1])
