"""The stages, composed. What each of them does is in the folder of its name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from obda_bm.analysis import assess, describe, find_witness, suggest_repairs
from obda_bm.diagnostics import Diagnostic, ObdaError, SettingError, SourceText
from obda_bm.ir.catalog import Catalog, Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.tbox import TBox
from obda_bm.ir.terms import Predicate
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.ir.verdict import Bounded, Unbounded, Undecided, Verdict
from obda_bm.ir.witness import Evidence, Witness
from obda_bm.planning import build_plan
from obda_bm.report.as_text import explanation_as_text, verdict_as_text
from obda_bm.setting import Setting, read_setting
from obda_bm.sql import parse_check, parse_sql, render_sql

if TYPE_CHECKING:  # what a SQL query does not need is imported by what does
    from obda_bm.ontology import Ontology, Profile
    from obda_bm.rewriting import Form, Rewriting

MAX_UNITS = 10_000_000
"""A bound above this is still a bound, but said loudly."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A query with every form it takes on its way."""

    source: SourceText
    setting: Setting
    query: SpjUnion
    verdict: Verdict

    def explain(self) -> str:
        """Every stage as text."""
        parts = explanation_as_text(self.query, describe(self.query))
        return f"{parts}\n\n{self}"

    def witness(self, n: int) -> tuple[Witness, Evidence] | None:
        """Streams of `n` candidates that force memory to grow, executed; None if there are none."""
        return None if isinstance(self.verdict, Bounded) else find_witness(self.query, n)

    @property
    def plan(self) -> SynopsisPlan | None:
        """How the query runs within its bound; None where it is not bounded."""
        return build_plan(self.query, self.verdict) if isinstance(self.verdict, Bounded) else None

    def __str__(self) -> str:
        return verdict_as_text(self.verdict, render_sql, MAX_UNITS)


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
    verdict = assess(query)
    match verdict:
        case Unbounded() | Undecided():
            verdict = replace(verdict, repairs=suggest_repairs(query, setting.catalog))
        case Bounded():
            pass
    return Compiled(source, setting, query, verdict)


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
