"""The monotone fragment: EXISTS, AND, OR, comparisons and GRAPH, as a union of conjunctive queries.

What it answers once, it answers for ever, whatever comes later; such queries can run over the whole
history. The rest (FORALL, NOT, aggregates, arithmetic, functions) needs a window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from obda_bm.diagnostics import Span
from obda_bm.ir.formulas import (
    Comparison,
    Formula,
    FunctionCall,
    MacroCall,
    Not,
    Operand,
    Quantified,
    Quantifier,
    State,
    StatePattern,
    conjunction,
)
from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.starql import Construct, Select, StarqlQuery
from obda_bm.ir.ucq import Atom, ConjunctiveQuery, TermComparison, UnionOfCQs
from obda_bm.syntax.check_grouping import aggregates_in, is_grouped
from obda_bm.syntax.compare_states import as_term_comparison
from obda_bm.syntax.normalise import Branch, branches, negation_normal_form, rename_apart
from obda_bm.syntax.variables import (
    bound_in_group,
    expressions_of,
    free_occurrences,
    in_atoms,
    leaves,
    subformulas,
)


class Obstacle(Enum):
    """Why a query needs a window."""

    FORALL = "FORALL and NOT EXISTS speak of all states, and later ones may break them"
    NEGATION = "a pattern must not hold, which no conjunctive query can say"
    AGGREGATE = "an aggregate changes with every result"
    ARITHMETIC = "arithmetic and functions are not comparisons of values"
    NEXT_STATE = "what the next state is, a later one may change"
    LOOSE_STATE = "a state is asked for that no pattern is about"
    SLIDE = "results are asked for at the ticks of a pulse, not at every marker"
    SEVERAL_WINDOWS = "the streams have different windows"


@dataclass(frozen=True, slots=True)
class NeedsWindow:
    """The query is outside the monotone fragment; the first reason, and its place."""

    obstacle: Obstacle
    span: Span | None


def is_monotone(formula: Formula) -> bool:
    """Whether `formula`, without aggregates, is in the fragment."""
    return next(_obstacles(negation_normal_form(formula)), None) is None


def monotone_union(query: StarqlQuery) -> UnionOfCQs | NeedsWindow:
    """`query`, expanded and safe, as a union of conjunctive queries, or why it has none.

    Atoms of WHERE carry no state. Columns are those of SELECT, or the variables of CONSTRUCT.

    Raises:
        StarqlError: the union is too large to write down.
    """
    problem = next(_output_obstacles(query), None)
    if problem is not None:
        return problem
    normal = tuple(map(negation_normal_form, query.row_conditions))
    problem = next((found for formula in normal for found in _obstacles(formula)), None)
    if problem is not None:
        return problem
    apart = rename_apart(conjunction(normal), _names(query)) if normal else None
    found = branches(apart) if apart else (Branch(()),)
    loose = next((w for branch in found for w in _loose_states(branch, query)), None)
    names, head = _columns(query)
    atoms = query.where.atoms if query.where else ()
    return loose or UnionOfCQs(names, tuple(_conjunctive(head, atoms, b) for b in found))


def _names(query: StarqlQuery) -> frozenset[str]:
    """The names of the free value variables."""
    free = {o.variable.name for f in query.row_conditions for o in free_occurrences(f)}
    static = {v.name for v in bound_in_group(query.where)} if query.where else set()
    return frozenset(free | static)


def _output_obstacles(query: StarqlQuery) -> Iterator[NeedsWindow]:
    if isinstance(query.output, Select):
        for item in query.output.items:
            if aggregates_in(item.expression):
                yield NeedsWindow(Obstacle.AGGREGATE, item.span)
            elif not isinstance(item.expression, Operand):
                yield NeedsWindow(Obstacle.ARITHMETIC, item.span)
    if is_grouped(query):
        grouped = query.having_aggregate or query.group_by or query.output
        yield NeedsWindow(Obstacle.AGGREGATE, grouped.span)


def _obstacles(formula: Formula) -> Iterator[NeedsWindow]:
    """What keeps `formula`, in negation normal form, out of the fragment."""
    for part in subformulas(formula):
        match part:
            case Quantified(Quantifier.FORALL):
                yield NeedsWindow(Obstacle.FORALL, part.span)
            case Not():
                yield NeedsWindow(Obstacle.NEGATION, part.span)
            case FunctionCall():
                yield NeedsWindow(Obstacle.ARITHMETIC, part.span)
            case Comparison():
                yield from _in_comparison(part)
            case MacroCall():
                raise AssertionError(f"{part.name} is not expanded")
            case _:
                pass


def _in_comparison(comparison: Comparison) -> Iterator[NeedsWindow]:
    result = as_term_comparison(comparison)
    if not isinstance(result, TermComparison):
        shifted = Obstacle.NEXT_STATE if result.by_states else Obstacle.ARITHMETIC
        yield NeedsWindow(shifted, comparison.span)


def _columns(query: StarqlQuery) -> tuple[tuple[str, ...], tuple[RdfTerm, ...]]:
    match query.output:
        case Select(items):
            terms = [i.expression.term for i in items if isinstance(i.expression, Operand)]
            return tuple(item.name for item in items), tuple(terms)
        case Construct(atoms):
            variables = dict.fromkeys(occurrence.variable for occurrence in in_atoms(atoms))
            return tuple(v.name for v in variables), tuple(variables)


def _conjunctive(
    head: tuple[RdfTerm, ...], static: tuple[Atom, ...], branch: Branch
) -> ConjunctiveQuery:
    atoms, comparisons = list(static), []
    for literal in branch.literals:
        match literal:
            case StatePattern(state, pattern):
                atoms += [replace(atom, state=Variable(state)) for atom in pattern.atoms]
            case Comparison():
                comparison = as_term_comparison(literal)
                assert isinstance(comparison, TermComparison)
                comparisons.append(comparison)
            case _:
                raise AssertionError(f"not monotone: {literal}")
    return ConjunctiveQuery(head, tuple(dict.fromkeys(atoms)), tuple(dict.fromkeys(comparisons)))


def _loose_states(branch: Branch, query: StarqlQuery) -> Iterator[NeedsWindow]:
    """States that are compared, or whose being there is asked, without any pattern about them."""
    patterns = [p for p in branch.literals if isinstance(p, StatePattern) and p.pattern.atoms]
    about = {pattern.state for pattern in patterns}
    for literal in branch.literals:
        if isinstance(literal, Comparison):
            compared = {leaf for e in expressions_of(literal) for leaf in leaves(e)}
            if any(isinstance(leaf, State) and leaf.name not in about for leaf in compared):
                yield NeedsWindow(Obstacle.LOOSE_STATE, literal.span)
    # Where one state has a pattern, the sequence is not empty, and any other state is there, too.
    if branch.states and not about:
        yield NeedsWindow(Obstacle.LOOSE_STATE, query.having.span if query.having else None)
