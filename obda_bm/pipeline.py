"""The stages, composed. What each of them does is in the folder of its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from obda_bm.analysis import assess, suggest_repairs
from obda_bm.compiled import MAX_UNITS, Compiled, CompiledWindow, Semantic
from obda_bm.diagnostics import (
    Diagnostic,
    ObdaError,
    OutsideFragment,
    SettingError,
    SourceText,
    UnfoldingError,
)
from obda_bm.ir.catalog import Catalog, Relation
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.tbox import TBox
from obda_bm.ir.terms import Predicate
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.ir.verdict import Bounded, Unbounded, Undecided, Verdict
from obda_bm.setting import Setting, read_setting
from obda_bm.sql import parse_check, parse_sql

if TYPE_CHECKING:  # what a SQL query does not need is imported by what does
    from obda_bm.ontology import Ontology, Profile
    from obda_bm.rewriting import Form, Rewriting
    from obda_bm.syntax import NeedsWindow

__all__ = ["MAX_UNITS", "Compiled", "CompiledWindow", "compile_query", "compile_sql"]
__all__ += ["load_ontology", "load_setting", "rewrite"]


def load_setting(path: str | Path) -> Setting:
    """The setting in the TOML file at `path`, its CHECK constraints read."""
    setting = read_setting(Path(path))
    problems: list[Diagnostic] = []
    relations = [_with_checks(setting, r, problems) for r in setting.catalog.relations]
    if problems:
        raise SettingError(*problems)
    return replace(setting, catalog=Catalog(tuple(relations)))


def compile_sql(
    sql: str | SourceText, setting: Setting, semantics: Semantics | None = None
) -> Compiled:
    """Decide a SQL query over the streams and relations of `setting`."""
    source = sql if isinstance(sql, SourceText) else SourceText("<sql>", sql)
    query = parse_sql(source, setting.catalog, semantics=semantics)
    return Compiled(source, setting, query, _decided(query, setting.catalog))


def compile_query(
    text: str | SourceText, setting: Setting, semantics: Semantics | None = None
) -> Compiled | CompiledWindow:
    """Decide a STARQL query over the ontology and the mappings of `setting`.

    Raises:
        OutsideFragment: where it would need a window and has none.
    """
    from obda_bm.mediation import load_mediator, streams_of
    from obda_bm.syntax import expand_document, monotone_union, parse_starql, within_windows
    from obda_bm.unfolding import row_terms
    from obda_bm.windowing import plan_window

    source = text if isinstance(text, SourceText) else SourceText("<starql>", text)
    document = expand_document(parse_starql(source))
    starql = document.streams[-1].query
    streams = streams_of(starql, setting.catalog)
    mediator = load_mediator(setting, semantics or Semantics.SET).over(s.name for s in streams)
    union = monotone_union(starql)
    union = within_windows(union, starql) if isinstance(union, UnionOfCQs) else union
    if not isinstance(union, UnionOfCQs):
        if any(stream.window is None for stream in starql.streams):
            raise OutsideFragment(_needs_window(union))
        plan = plan_window(document, starql, mediator, setting.catalog)
        return CompiledWindow(source, setting, starql, plan)
    rewritten = mediator.rewrite(union)
    unfolded = mediator.unfold_rewritten(rewritten, streams)
    query = unfolded.query
    if query is None:
        raise UnfoldingError(*unfolded.warnings)
    terms, base = row_terms(unfolded), mediator.mappings.base
    forms = Semantic(starql, union, rewritten, unfolded, terms, base)
    return Compiled(source, setting, query, _decided(query, setting.catalog), forms)


def _decided(query: SpjUnion, catalog: Catalog) -> Verdict:
    """The verdict, with repairs where it is not the one that was hoped for."""
    match assess(query):
        case Bounded() as verdict:
            return verdict
        case Unbounded() | Undecided() as verdict:
            return replace(verdict, repairs=suggest_repairs(query, catalog))


def _needs_window(why: NeedsWindow) -> Diagnostic:
    hint = "Give every stream a window, such as [NOW - 10m, NOW] -> 1m: it keeps the memory small."
    return Diagnostic("OBM450", why.obstacle.value, why.span, hint)


def load_ontology(*paths: str | Path, profile: Profile | None = None) -> Ontology:
    """The ontology in the files at `paths`, merged, with a report of what is not used."""
    from obda_bm.ontology import Profile, read_ontology

    return read_ontology(map(Path, paths), profile or Profile.REPORT)


def rewrite(
    query: str | SourceText | UnionOfCQs, tbox: TBox | Ontology, form: Form | None = None
) -> Rewriting:
    """The minimal union of conjunctive queries with the certain answers of `query`.

    A text is a SPARQL basic graph pattern, or datalog-like: `q(?x) :- Pump(?x), feeds(?x, ?y)`.
    """
    from obda_bm.rewriting import Form, rewrite_ucq
    from obda_bm.syntax.conjunctive import parse_conjunctive

    axioms = tbox if isinstance(tbox, TBox) else tbox.tbox
    if not isinstance(query, UnionOfCQs):
        source = query if isinstance(query, SourceText) else SourceText("<query>", query)
        query = parse_conjunctive(source, axioms.vocabulary)
    return rewrite_ucq(query, axioms, form or Form.FLAT)


def _with_checks(setting: Setting, relation: Relation, problems: list[Diagnostic]) -> Relation:
    checks: list[Predicate] = []
    for check in setting.checks:
        if check.relation == relation.name:
            try:
                checks += parse_check(check.text, relation, check.span)
            except ObdaError as error:
                problems += error.diagnostics
    return replace(relation, checks=tuple(checks))
