"""Ontology, mappings and catalog, composed: queries over the vocabulary -> over the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from obda_bm.diagnostics import (
    Diagnostic,
    MappingError,
    ObdaError,
    OutsideFragment,
    StarqlError,
    UnfoldingError,
    did_you_mean,
)
from obda_bm.ir.catalog import Catalog, Relation
from obda_bm.ir.hierarchy import Hierarchy
from obda_bm.ir.mapping import BaseTable, MappingSet, SqlView, TriplesMap
from obda_bm.ir.spj import Occurrence, Output, Semantics, SpjQuery
from obda_bm.ir.starql import StarqlQuery
from obda_bm.ir.tbox import TBox
from obda_bm.ir.terms import ColumnRef
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.ir.unfolded import Unfolded
from obda_bm.r2rml import load_mappings
from obda_bm.rewriting import Form, rewrite_ucq
from obda_bm.setting import Setting
from obda_bm.sql import find_nondeterminism, parse_view
from obda_bm.unfolding import Finding, Ranges, Subject, TMappings, assertions_of, unfold, validate
from obda_bm.unfolding.left_out import LeftOut, left_out, require_none


@dataclass(frozen=True, slots=True)
class Mediator:
    """An ontology, and mappings read against a catalog, ready for queries.

    `problems` are mistakes in triples maps; `missing` are maps that are right, but whose views are
    no select-project-join queries.
    """

    tbox: TBox
    mappings: TMappings
    problems: tuple[Diagnostic, ...] = field(default=(), repr=False)
    missing: tuple[LeftOut, ...] = field(default=(), repr=False)

    def over(self, streams: Iterable[str]) -> Mediator:
        """Without the mappings that read other streams."""
        return replace(self, mappings=self.mappings.over(frozenset(streams)))

    def rewrite(self, query: UnionOfCQs) -> UnionOfCQs:
        """What needs individuals that nobody named; the hierarchies are in the T-mappings."""
        if self.mappings.semantics is Semantics.BAG:
            # Rewriting is right for sets only: it drops atoms and queries that others imply.
            return query
        return rewrite_ucq(query, self.tbox, Form.COMPILED).ucq

    @property
    def base(self) -> str:
        """What relative IRIs of the mappings stand below."""
        return self.mappings.base

    def unfold(self, query: UnionOfCQs, ranges: Ranges | None = None) -> Unfolded:
        """The certain answers of `query` as a query over the catalog.

        As a bag, an answer counts as often as rows assert it, directly or by the hierarchies.
        """
        return self._unfolded(self.rewrite(query), ranges or {})

    def unfold_rewritten(self, query: UnionOfCQs, streams: tuple[Relation, ...]) -> Unfolded:
        """`query`, over `streams`; a state that only static data speak of is one of theirs."""
        states = {atom.state for q in query.disjuncts for atom in q.body if atom.state is not None}
        return self._unfolded(query, dict.fromkeys(states, streams))

    def _unfolded(self, query: UnionOfCQs, ranges: Ranges) -> Unfolded:
        require_none(query, self.missing, self.mappings.hierarchy)
        return unfold(query, self.mappings, ranges)


def streams_of(query: StarqlQuery, catalog: Catalog) -> tuple[Relation, ...]:
    """The streams that `query` reads.

    Raises:
        StarqlError: where the catalog has no such stream.
    """
    known = [r.name for r in catalog.relations if r.time is not None]
    found: list[Relation] = []
    for stream in query.streams:
        relation = catalog.find(stream.name)
        if relation is None or relation.time is None:
            hint = did_you_mean(stream.name, known) or f"There are {', '.join(known) or 'none'}."
            message = f"the setting has no stream {stream.name!r}"
            raise StarqlError(Diagnostic("OBM451", message, stream.span, hint))
        found.append(relation)
    return tuple(found)


def load_mediator(setting: Setting, semantics: Semantics = Semantics.SET) -> Mediator:
    """The ontology and the mappings that `setting` names.

    Raises:
        ObdaError: where they cannot be read, or a triples map does not fit the catalog.
    """
    tbox = None
    if setting.ontologies:
        from obda_bm.ontology import read_ontology

        tbox = read_ontology(setting.ontologies).tbox
    mediator = mediate(setting_mappings(setting), setting.catalog, tbox, semantics)
    if mediator.problems:
        raise MappingError(*mediator.problems)
    return mediator


def setting_mappings(setting: Setting) -> MappingSet:
    """The mappings that `setting` names.

    Raises:
        MappingError: where there are none, or they cannot be read.
    """
    if not setting.mappings:
        hint = 'Name a mapping in the setting: [mapping] file = "…".'
        raise MappingError(Diagnostic("OBM715", "the setting names no mapping", hint=hint))
    return load_mappings(setting.mappings)


def mediate(
    mappings: MappingSet,
    catalog: Catalog,
    tbox: TBox | None = None,
    semantics: Semantics = Semantics.SET,
) -> Mediator:
    """Everything that unfolding needs, computed once for all queries."""
    problems: list[Diagnostic] = []
    tables: dict[str, tuple[SpjQuery, ...]] = {}
    outside: dict[str, tuple[Diagnostic, ...]] = {}
    for each in mappings.triples_maps:
        try:
            tables[each.id] = logical_table(each, catalog, semantics)
        except OutsideFragment as error:
            outside[each.id] = error.diagnostics
        except ObdaError as error:
            problems += error.diagnostics
    assertions = tuple(assertions_of(mappings, tables, problems))
    tbox = tbox or TBox(())
    found = TMappings(assertions, Hierarchy(tbox), semantics, mappings.base)
    return Mediator(tbox, found, tuple(problems), left_out(mappings, outside))


def check_mappings(setting: Setting, tbox: TBox) -> list[Finding]:
    """Everything that is wrong or suspicious about the mappings of `setting`.

    Files that cannot be read are reported alone: what else is said about half a mapping misleads.
    """
    try:
        mappings = setting_mappings(setting)
    except MappingError as error:
        return [Finding("", problem) for problem in error.diagnostics]
    return validate_mappings(mappings, setting.catalog, tbox)


def validate_mappings(mappings: MappingSet, catalog: Catalog, tbox: TBox) -> list[Finding]:
    """Everything that is wrong or suspicious about mappings that could be read."""
    found: list[Finding] = []
    tables: dict[str, tuple[SpjQuery, ...]] = {}
    for each in mappings.triples_maps:
        try:
            tables[each.id] = logical_table(each, catalog)
        except ObdaError as error:
            told = _nondeterminism(each) or error.diagnostics
            found += (Finding(each.id, problem) for problem in told)
    problems: list[Diagnostic] = []
    assertions = tuple(assertions_of(mappings, tables, problems))
    found += (Finding(_owner(problem, mappings), problem) for problem in problems)
    saturated = TMappings(assertions, Hierarchy(tbox), Semantics.SET, mappings.base)
    found += validate(Subject(mappings, tables, saturated, tbox))
    return found


def _nondeterminism(each: TriplesMap) -> tuple[Diagnostic, ...]:
    """That the view is not deterministic explains best why it is no select-project-join query."""
    if not isinstance(each.table, SqlView):
        return ()
    problem = find_nondeterminism(each.table.sql, each.table.span)
    return () if problem is None else (problem,)


def _owner(problem: Diagnostic, mappings: MappingSet) -> str:
    """The triples map that stands last before the problem in its file."""
    at = problem.span
    before = [
        m
        for m in mappings.triples_maps
        if at and m.span and m.span.source == at.source and m.span.start <= at.start
    ]
    return max(before, key=lambda m: m.span.start if m.span else 0).id if before else ""


def logical_table(
    each: TriplesMap, catalog: Catalog, semantics: Semantics = Semantics.SET
) -> tuple[SpjQuery, ...]:
    """The rows of a triples map as select-project-join queries over the catalog.

    Raises:
        ObdaError: where it names what the catalog lacks, or is no such query.
    """
    match each.table:
        case SqlView(sql, span):
            return parse_view(sql, span, catalog, semantics)
        case BaseTable() as table:
            return (_whole_table(table, catalog),)


def _whole_table(table: BaseTable, catalog: Catalog) -> SpjQuery:
    name = ".".join(part.name for part in table.name)
    relation = catalog.find(name) or catalog.find(table.name[-1].name)
    if relation is None:
        known = [r.name for r in catalog.relations]
        hint = did_you_mean(name, known) or f"The catalog has {', '.join(known[:12])}."
        raise UnfoldingError(Diagnostic("OBM720", f"unknown table {name!r}", table.span, hint))
    alias = relation.name
    outputs = (Output(c.name, ColumnRef(alias, c.name)) for c in relation.columns)
    return SpjQuery((Occurrence(alias, relation, table.span),), tuple(outputs), ())
