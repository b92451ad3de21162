"""A STARQL query with a window on every stream -> how it is evaluated at each tick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from obda_bm.diagnostics import Diagnostic
from obda_bm.ir.catalog import Catalog, Extent, Relation
from obda_bm.ir.formulas import And, Formula, Operand, Or, Quantified, Quantifier, conjunction
from obda_bm.ir.rdf import Variable
from obda_bm.ir.starql import Construct, Select, StarqlDocument, StarqlQuery
from obda_bm.ir.ucq import ConjunctiveQuery, UnionOfCQs
from obda_bm.ir.unfolded import Unfolded, UnfoldedBranch
from obda_bm.ir.window_plan import Answer, Grouping, Pattern, WindowedStream, WindowPlan
from obda_bm.syntax import expand_query
from obda_bm.syntax.check import answered
from obda_bm.syntax.check_grouping import is_grouped
from obda_bm.syntax.normalise import negation_normal_form, rename_apart
from obda_bm.syntax.variables import bound_in_group, free_occurrences, in_atoms
from obda_bm.windowing.clock import clock_of, unused_slack, windowed_streams
from obda_bm.windowing.named import expand_names
from obda_bm.windowing.select import guards_of, select
from obda_bm.windowing.tables import Tables


class Mediates(Protocol):
    """An ontology with mappings: it turns conjunctive queries into queries over the catalog."""

    def unfold(
        self, query: UnionOfCQs, ranges: Mapping[Variable, tuple[Relation, ...]] | None = None
    ) -> Unfolded: ...

    @property
    def base(self) -> str:
        """What relative IRIs stand below."""


def plan_window(
    document: StarqlDocument, query: StarqlQuery, mediator: Mediates, catalog: Catalog
) -> WindowPlan:
    """How `query`, one of `document`, is evaluated window by window.

    Raises:
        ObdaError: where a stream has no window, or a pattern cannot be unfolded.
    """
    streams = windowed_streams(query, catalog)
    clock = clock_of(query, document)
    query = expand_query(query, document.aggregates)
    formula = _formula(query)
    grouping = _grouping(query, formula)
    wanted = _free(query) if grouping else frozenset(o.variable for o in answered(query))
    tables = Tables()
    guards = guards_of(formula) if formula else {}
    normal = negation_normal_form(formula) if formula else None
    selections = select(normal, query.where, wanted, guards, tables)
    warnings = list(unused_slack(query))
    patterns = tuple(
        Pattern(name, asked, _branches(asked, streams, mediator, warnings))
        for name, asked in tables.found.values()
    )
    return WindowPlan(
        streams=streams,
        statics=_statics(patterns),
        clock=clock,
        patterns=patterns,
        selections=selections,
        variables=tuple(sorted(wanted)),
        answers=_answers(query),
        grouping=grouping,
        construct=query.output if isinstance(query.output, Construct) else None,
        base=mediator.base,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _formula(query: StarqlQuery) -> Formula | None:
    """WHERE's filters and HAVING, with names of their own for what is quantified."""
    if not query.row_conditions:
        return None
    taken = frozenset(variable.name for variable in _free(query))
    return rename_apart(conjunction(query.row_conditions), taken)


def _free(query: StarqlQuery) -> frozenset[Variable]:
    free = {o.variable for f in query.row_conditions for o in free_occurrences(f)}
    return frozenset(free | (bound_in_group(query.where) if query.where else frozenset()))


def _grouping(query: StarqlQuery, formula: Formula | None) -> Grouping | None:
    if not is_grouped(query):
        return None
    variables = query.group_by.variables if query.group_by else ()
    states = tuple(dict.fromkeys(_outer_states(formula))) if formula else ()
    return Grouping(variables, states, _having(query))


def _outer_states(formula: Formula) -> Iterator[str]:
    """The states of the outermost EXISTS: an aggregate counts a match in each of them."""
    match formula:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _outer_states(part)
        case Quantified(Quantifier.EXISTS, states=states):
            yield from states
        case _:
            pass


def _having(query: StarqlQuery) -> Formula | None:
    """HAVING AGGREGATE, with the names that SELECT gives replaced by what they stand for."""
    having = query.having_aggregate
    return None if having is None else _without_names(negation_normal_form(having), query)


def _without_names(formula: Formula, query: StarqlQuery) -> Formula:
    items = query.output.items if isinstance(query.output, Select) else ()
    return expand_names(formula, {Variable(i.name): i.expression for i in items if i.alias})


def _answers(query: StarqlQuery) -> tuple[Answer, ...]:
    match query.output:
        case Select(items):
            return tuple(Answer(item.name, item.expression) for item in items)
        case Construct(atoms):
            variables = dict.fromkeys(occurrence.variable for occurrence in in_atoms(atoms))
            return tuple(Answer(v.name, Operand(v)) for v in variables)


def _branches(
    asked: ConjunctiveQuery,
    streams: tuple[WindowedStream, ...],
    mediator: Mediates,
    warnings: list[Diagnostic],
) -> tuple[UnfoldedBranch, ...]:
    """The rows of a pattern; a state may have its timestamp from any of `streams`."""
    names = tuple(str(term).lstrip("?") for term in asked.head)
    states = {atom.state for atom in asked.body if atom.state is not None}
    read = {stream.relation.name for stream in streams}
    ranges = dict.fromkeys(states, tuple(stream.relation for stream in streams))
    unfolded = mediator.unfold(UnionOfCQs(names, (asked,)), ranges)
    warnings += unfolded.warnings
    found = dict.fromkeys(b for b in unfolded.branches if _reads_only(b, read))
    return tuple(found)


def _reads_only(branch: UnfoldedBranch, streams: set[str]) -> bool:
    """Whether all streams of the branch are those that FROM STREAM names."""
    relations = (occurrence.relation for occurrence in branch.query.occurrences)
    return all(r.extent is Extent.STATIC or r.name in streams for r in relations)


def _statics(patterns: tuple[Pattern, ...]) -> tuple[Relation, ...]:
    relations = (
        occurrence.relation
        for pattern in patterns
        for branch in pattern.branches
        for occurrence in branch.query.occurrences
    )
    return tuple(dict.fromkeys(r for r in relations if r.extent is Extent.STATIC))
