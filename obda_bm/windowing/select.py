"""Conditions of STARQL -> selections over the tables of their patterns.

A condition is brought into disjunctive form. In each disjunct, EXISTS and the patterns are joined,
and FORALL and NOT are selections that must have no row: "for all" is "there is no counterexample".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from obda_bm.ir.formulas import (
    And,
    Comparison,
    Formula,
    FunctionCall,
    GroupPattern,
    IfThen,
    Not,
    Or,
    Quantified,
    Quantifier,
    StatePattern,
)
from obda_bm.ir.rdf import Variable
from obda_bm.ir.ucq import Atom
from obda_bm.ir.window_plan import AnyState, Condition, Match, Missing, Range, Selection, Source
from obda_bm.syntax import negation_normal_form
from obda_bm.syntax.normalise import Branch, branches
from obda_bm.syntax.safety import Holds, bound_by
from obda_bm.syntax.variables import bound_in_group, free_occurrences, in_atoms
from obda_bm.windowing.tables import Tables

Variables = frozenset[Variable]
Groups = Mapping[str | None, tuple[Atom, ...]]
"""The atoms of each state; those of WHERE have none."""
Guards = Mapping[Variable, tuple[StatePattern, ...]]
"""The patterns in the guards of FORALL from which free variables get their range."""


def select(
    formula: Formula | None,
    where: GroupPattern | None,
    wanted: Variables,
    guards: Guards,
    tables: Tables,
) -> tuple[Selection, ...]:
    """The bindings of `wanted` for which WHERE and `formula`, in negation normal form, hold."""
    static = where.atoms if where else ()
    found = branches(formula) if formula is not None else (Branch(()),)
    bare = (_selection(branch, static, Variables(), wanted, tables) for branch in found)
    return tuple(_with_ranges(selection, wanted, guards, tables) for selection in bare)


def _selection(
    branch: Branch,
    static: tuple[Atom, ...],
    outside: Variables,
    wanted: Variables,
    tables: Tables,
) -> Selection:
    groups, rest = _grouped(branch, static)
    counts = Counter(v for atoms in groups.values() for v in _values(atoms))
    shared = {v for v, count in counts.items() if count > 1}
    compared = {o.variable for literal in rest for o in free_occurrences(literal)}
    columns = wanted | outside | shared | compared
    matches = [tables.match(s, atoms, columns) for s, atoms in groups.items() if atoms]
    about = {match.state for match in matches}
    empty = {s for s, atoms in groups.items() if s is not None and not atoms}
    loose = sorted((branch.states | empty) - about)
    known = outside | {v for match in matches for v in match.variables}
    conditions = tuple(_condition(literal, known | compared, tables) for literal in rest)
    return Selection((*matches, *map(AnyState, loose)), conditions)


def _grouped(branch: Branch, static: tuple[Atom, ...]) -> tuple[Groups, tuple[Formula, ...]]:
    """The atoms that must hold, by state, and the other literals.

    What holds in one state is one query: it may be about something that only the ontology
    promises, which two queries could not agree upon.
    """
    groups: dict[str | None, tuple[Atom, ...]] = {None: static} if static else {}
    rest: list[Formula] = []
    for literal in branch.literals:
        if isinstance(literal, StatePattern):
            groups[literal.state] = groups.get(literal.state, ()) + literal.pattern.atoms
        else:
            rest.append(literal)
    return groups, tuple(rest)


def _values(atoms: tuple[Atom, ...]) -> Variables:
    return frozenset(occurrence.variable for occurrence in in_atoms(atoms))


def _condition(literal: Formula, known: Variables, tables: Tables) -> Condition:
    match literal:
        case Comparison() | FunctionCall() | Not(FunctionCall()):
            return literal
        case Not(StatePattern() as pattern):
            return _missing(negation_normal_form(pattern), known, tables)
        case Quantified(Quantifier.FORALL, body=body):
            counterexample = replace(
                literal,
                quantifier=Quantifier.EXISTS,
                body=negation_normal_form(body, Holds.NO),
            )
            return _missing(counterexample, known, tables)
        case _:
            raise AssertionError(f"not a literal: {literal}")


def _missing(formula: Formula, known: Variables, tables: Tables) -> Missing:
    found = branches(formula)
    return Missing(tuple(_selection(b, (), known, Variables(), tables) for b in found))


def _with_ranges(
    selection: Selection, wanted: Variables, guards: Guards, tables: Tables
) -> Selection:
    """The selection with a source for each free variable that no pattern in it binds."""
    bound = {v for s in selection.sources if isinstance(s, Match) for v in s.variables}
    needed = (wanted | _used(selection)) - bound
    ranges = tuple(
        Range(v, tuple(tables.match(p.state, p.pattern.atoms, Variables({v})) for p in guards[v]))
        for v in sorted(needed)
        if v in guards
    )
    return replace(selection, sources=(*selection.sources, *ranges))


def _used(selection: Selection) -> Variables:
    """The free variables of the conditions; those quantified inside have names of their own."""
    return frozenset(v for c in selection.conditions for v in _mentioned(c))


def _mentioned(condition: Condition) -> Iterator[Variable]:
    if not isinstance(condition, Missing):
        yield from (occurrence.variable for occurrence in free_occurrences(condition))
        return
    for selection in condition.selections:
        sources: tuple[Source, ...] = selection.sources
        yield from (v for s in sources if isinstance(s, Match) for v in s.variables)
        yield from _used(selection)


def guards_of(formula: Formula) -> Guards:
    """For each free variable that the guard of a FORALL ranges over, the patterns that do."""
    found: dict[Variable, tuple[StatePattern, ...]] = {}
    for guard, values in _guards(formula, Variables()):
        patterns = tuple(_holding(guard))
        for variable in sorted(bound_by(guard) - values):
            about = (p for p in patterns if variable in bound_in_group(p.pattern))
            found[variable] = (*found.get(variable, ()), *about)
    return found


def _guards(formula: Formula, quantified: Variables) -> Iterator[tuple[Formula, Variables]]:
    """The guards that count, with what is quantified around them."""
    match formula:
        case And(parts):
            for part in parts:
                yield from _guards(part, quantified)
        case Quantified(Quantifier.EXISTS, values=values, body=body):
            yield from _guards(body, quantified | set(values))
        case Quantified(Quantifier.FORALL, values=values, body=IfThen(guard, _)):
            yield guard, quantified | set(values)
        case _:
            pass


def _holding(formula: Formula) -> Iterator[StatePattern]:
    """The patterns that hold, or may hold, where `formula` does."""
    match formula:
        case StatePattern():
            yield formula
        case And(parts) | Or(parts):
            for part in parts:
                yield from _holding(part)
        case Quantified(Quantifier.EXISTS, body=body):
            yield from _holding(body)
        case _:
            pass
