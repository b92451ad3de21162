"""Pulses, sequences and state variables are known where they are used."""

from __future__ import annotations

from collections.abc import Iterator

from obda_bm.diagnostics import Diagnostic, Span, did_you_mean
from obda_bm.ir.formulas import Comparison, Formula, FunctionCall, Quantified, State, StatePattern
from obda_bm.ir.rdf import Variable
from obda_bm.ir.starql import Pulse, PulseName, Select, StarqlQuery, same_name
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.variables import expressions_of, leaves, parts_of

METHODS = ("StdSeq", "StandardSequencing")


def check_pulse_name(query: StarqlQuery, pulses: tuple[Pulse, ...]) -> Iterator[Diagnostic]:
    if isinstance(query.pulse, PulseName):
        name = query.pulse.name
        if not any(same_name(name, pulse.name) for pulse in pulses):
            hint = did_you_mean(name, (p.name for p in pulses if p.name))
            create = f"Create it: CREATE PULSE {name} WITH START = ..., FREQUENCY = ..."
            yield Mistake.UNKNOWN_PULSE.at(
                query.pulse.span, f"unknown pulse '{name}'", hint or create
            )


def check_sequencing(query: StarqlQuery) -> Iterator[Diagnostic]:
    if query.sequence is None:
        return
    method = query.sequence.method
    if not any(same_name(method, known) for known in METHODS):
        hint = did_you_mean(method, METHODS) or "StdSeq gives one state for each timestamp."
        message = f"unknown way of sequencing '{method}'"
        yield Mistake.UNKNOWN_SEQUENCING.at(query.sequence.span, message, hint)


def check_scopes(query: StarqlQuery) -> Iterator[Diagnostic]:
    """Sequences and states of HAVING, and states where there can be none."""
    sequence = query.sequence.name if query.sequence else None
    for formula in query.conditions:
        yield from _check(formula, sequence, frozenset(), frozenset())
    for item in query.output.items if isinstance(query.output, Select) else ():
        for leaf in leaves(item.expression):
            if isinstance(leaf, State):
                yield _unknown_state(leaf.name, leaf.span, frozenset())


def _check(
    formula: Formula, sequence: str | None, states: frozenset[str], values: frozenset[Variable]
) -> Iterator[Diagnostic]:
    match formula:
        case Comparison() | FunctionCall():
            for expression in expressions_of(formula):
                for leaf in leaves(expression):
                    if isinstance(leaf, State) and leaf.name not in states:
                        yield _unknown_state(leaf.name, leaf.span, states)
        case StatePattern(state) if state not in states:
            yield _unknown_state(state, formula.span, states)
        case Quantified():
            yield from _check_quantified(formula, sequence, states, values)
            states, values = states | set(formula.states), values | set(formula.values)
        case _:
            pass
    for part in parts_of(formula):
        yield from _check(part, sequence, states, values)


def _check_quantified(
    formula: Quantified,
    sequence: str | None,
    states: frozenset[str],
    values: frozenset[Variable],
) -> Iterator[Diagnostic]:
    if sequence is None:
        hint = f"Add SEQUENCE BY StdSeq AS {formula.sequence}."
        message = f"unknown sequence '{formula.sequence}'"
        yield Mistake.UNKNOWN_SEQUENCE.at(formula.span, message, hint)
    elif not same_name(sequence, formula.sequence):
        hint = f"The sequence of this query is {sequence}."
        message = f"unknown sequence '{formula.sequence}'"
        yield Mistake.UNKNOWN_SEQUENCE.at(_named(formula), message, hint)
    again = [s for s in formula.states if s in states] + [
        str(v) for v in formula.values if v in values
    ]
    for name in again:
        message, hint = f"{name} is quantified already", "Give the inner one another name."
        yield Mistake.REPEATED.at(formula.span, message, hint)


def _named(formula: Quantified) -> Span | None:
    """Where the name of the sequence stands."""
    if formula.span is None:
        return None
    at = formula.span.text.find(formula.sequence)
    if at < 0:
        return formula.span
    start = formula.span.start + at
    return Span(formula.span.source, start, start + len(formula.sequence))


def _unknown_state(name: str, span: Span | None, states: frozenset[str]) -> Diagnostic:
    hint = did_you_mean(name, sorted(states)) or (
        f"Quantify it, as in EXISTS {name} IN seq ( ... ); values are written with a question mark."
    )
    return Mistake.UNKNOWN_STATE.at(span, f"unknown state variable '{name}'", hint)
