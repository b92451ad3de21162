"""Expansion of the calls of what CREATE AGGREGATE defined."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from enum import Enum

from obda_bm.diagnostics import Diagnostic, StarqlError, did_you_mean
from obda_bm.ir.formulas import (
    PARAMETER,
    Argument,
    Formula,
    Function,
    MacroCall,
    Quantified,
    State,
    StatePattern,
)
from obda_bm.ir.rdf import Iri, Variable
from obda_bm.ir.starql import AggregateMacro, OutputStream, StarqlDocument, StarqlQuery, same_name
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.substitute import Substitution, substitute
from obda_bm.syntax.variables import free_occurrences, subformulas, with_parts

Macros = tuple[AggregateMacro, ...]
MOST_CALLS = 50


def expand_document(document: StarqlDocument) -> StarqlDocument:
    """`document` with every call replaced by what it stands for, and no aggregates left.

    Raises:
        StarqlError: a call names no aggregate, or does not fit its parameters.
    """
    expanded = (
        replace(d, query=expand_query(d.query, document.aggregates))
        if isinstance(d, OutputStream)
        else d
        for d in document.declarations
        if not isinstance(d, AggregateMacro)
    )
    return replace(document, declarations=tuple(expanded))


def expand_query(query: StarqlQuery, macros: Macros) -> StarqlQuery:
    """`query` with the calls in HAVING replaced."""
    if query.having is None:
        return query
    sequence = query.sequence.name if query.sequence else "seq"
    return replace(query, having=expand(query.having, macros, sequence))


def expand(
    formula: Formula, macros: Macros, sequence: str, scope: frozenset[str] = frozenset()
) -> Formula:
    """`formula` with every call replaced; `seq` in an aggregate is the caller's sequence.

    `scope` are the names quantified around `formula`; what is put in quantifies other ones.
    """
    match formula:
        case MacroCall():
            return expand(_instance(formula, macros, sequence, scope), macros, sequence, scope)
        case Quantified(states=states, values=values):
            inner = scope.union(states, (value.name for value in values))
        case _:
            inner = scope
    return with_parts(formula, lambda part: expand(part, macros, sequence, inner))


def _instance(call: MacroCall, macros: Macros, sequence: str, scope: frozenset[str]) -> Formula:
    """The body of the aggregate that `call` names, for its arguments."""
    macro = find_macro(call, macros)
    if len(macro.parameters) != len(call.arguments):
        message = f"{macro.name} takes {len(macro.parameters)} arguments, not {len(call.arguments)}"
        hint = f"Call it as {macro.name}({', '.join(macro.parameters)})."
        raise Mistake.WRONG_ARITY.error(call.span, message, hint)
    arguments = dict(zip(macro.parameters, call.arguments, strict=True))
    _check_places(call, macro, arguments)
    used = {a.name for a in call.arguments if isinstance(a, Variable | State)}
    body = substitute(macro.body, _apart(macro, scope | used))
    states = {p: a.name for p, a in arguments.items() if isinstance(a, State)}
    terms = {Variable(p): a for p, a in arguments.items()}
    return substitute(body, Substitution(terms, states, {"seq": sequence}))


def find_macro(call: MacroCall, macros: Macros) -> AggregateMacro:
    for macro in macros:
        if same_name(macro.name, call.name):
            return macro
    known = [macro.name for macro in macros] + [function.value for function in Function]
    hint = did_you_mean(call.name, known) or "Define it with CREATE AGGREGATE."
    raise Mistake.UNKNOWN_FUNCTION.error(call.span, f"unknown function '{call.name}'", hint)


def _apart(macro: AggregateMacro, taken: frozenset[str]) -> Substitution:
    """New names for what the body quantifies where the names are taken."""
    quantified = [f for f in subformulas(macro.body) if isinstance(f, Quantified)]
    values = {v.name for f in quantified for v in f.values}
    states = {s for f in quantified for s in f.states}
    fresh = {name: fresh_name(name, taken | values | states) for name in taken & (values | states)}
    return Substitution(
        {Variable(name): Variable(fresh[name]) for name in taken & values},
        {name: fresh[name] for name in taken & states},
    )


def fresh_name(name: str, taken: Set[str]) -> str:
    """`name` with the first number that makes it new.

    >>> fresh_name("x", {"x", "x1"})
    'x2'
    """
    number = 1
    while f"{name}{number}" in taken:
        number += 1
    return f"{name}{number}"


class Place(Enum):
    """What a parameter stands for, and what its argument must be there."""

    STATE = "a state variable"
    NAME = "an IRI"
    TERM = "a variable or a constant"

    def takes(self, argument: Argument) -> bool:
        if self is Place.TERM:
            return not isinstance(argument, State)
        return isinstance(argument, State if self is Place.STATE else Iri)


def _check_places(call: MacroCall, macro: AggregateMacro, given: dict[str, Argument]) -> None:
    for parameter, argument in given.items():
        for place in _places(macro.body, parameter):
            if not place.takes(argument):
                message = f"{parameter} of {macro.name} must be {place.value}"
                where = macro.span.line if macro.span else "?"
                hint = f"See what it stands for in line {where}."
                raise Mistake.BAD_ARGUMENT.error(call.span, message, hint)


def _places(body: Formula, parameter: str) -> Iterator[Place]:
    """What `parameter` stands for in `body`, in its order."""
    for part in subformulas(body):
        if isinstance(part, StatePattern):
            yield from [Place.STATE] if part.state == parameter else []
            for atom in part.pattern.atoms:
                yield from [Place.NAME] if atom.iri == parameter else []
                yield from [Place.TERM] if Variable(parameter) in atom.terms else []


def check_macros(macros: Macros) -> Iterator[Diagnostic]:
    """Aggregates that call themselves, call what is not there, or leave variables free."""
    for macro in macros:
        # What calls itself is also too big; the first is the better thing to say.
        yield from list(_check_cycle(macro, macros)) or _check_size(macro, macros)
        for occurrence in free_occurrences(macro.body):
            if not occurrence.variable.name.startswith(PARAMETER):
                hint = "Make it a parameter, or list it after IN seq."
                message = f"{occurrence.variable} is free in the aggregate {macro.name}"
                yield Mistake.UNSAFE.at(occurrence.span or macro.span, message, hint)


def _check_cycle(macro: AggregateMacro, macros: Macros) -> Iterator[Diagnostic]:
    waiting, seen = calls_in(macro.body), set[str]()
    while waiting:
        call = waiting.pop()
        try:
            called = find_macro(call, macros)
        except StarqlError as error:
            yield from error.diagnostics
            continue
        if called.name == macro.name:
            message = f"the aggregate {macro.name} calls itself"
            hint = "Write the condition out; aggregates cannot recur."
            yield Mistake.CYCLIC_AGGREGATE.at(call.span, message, hint)
            return
        if called.name not in seen:
            seen.add(called.name)
            waiting += calls_in(called.body)


def _check_size(macro: AggregateMacro, macros: Macros) -> Iterator[Diagnostic]:
    """Aggregates that call others twice grow fast; they are refused before they are expanded."""
    waiting, count = [macro], 0
    while waiting and count <= MOST_CALLS:
        calls = calls_in(waiting.pop().body)
        count += len(calls)
        waiting += [m for call in calls for m in macros if same_name(m.name, call.name)]
    if count > MOST_CALLS:
        message = f"the aggregate {macro.name} expands to more than {MOST_CALLS} calls"
        yield Mistake.CYCLIC_AGGREGATE.at(macro.span, message, "Call fewer others in it.")


def calls_in(formula: Formula) -> list[MacroCall]:
    return [part for part in subformulas(formula) if isinstance(part, MacroCall)]
