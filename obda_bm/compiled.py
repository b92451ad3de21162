"""A compiled query: every form it takes on its way, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from obda_bm.analysis import describe, find_witness
from obda_bm.diagnostics import SourceText
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.plan_outline import PlanOutline, outline
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.starql import StarqlQuery
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.ir.unfolded import RowTerm, Unfolded
from obda_bm.ir.verdict import Bounded, PaperAnswer, Papers, Verdict
from obda_bm.ir.window_plan import WindowPlan
from obda_bm.ir.witness import Evidence, Witness
from obda_bm.planning import build_plan
from obda_bm.report.as_text import explanation_as_text, verdict_as_text
from obda_bm.setting import Setting
from obda_bm.sql import render_sql

MAX_UNITS = 10_000_000
"""A bound above this is still a bound, but said loudly."""


@dataclass(frozen=True, slots=True)
class Semantic:
    """The forms of a query over an ontology: as written, as a union, rewritten, over the data.

    `terms` tell how rows become answers; `base` resolves relative IRIs that the data hold.
    """

    starql: StarqlQuery
    union: UnionOfCQs
    rewritten: UnionOfCQs
    unfolded: Unfolded
    terms: tuple[RowTerm, ...]
    base: str

    def __str__(self) -> str:
        stages = {
            "STARQL": str(self.starql),
            "conjunctive queries": str(self.union),
            "rewritten": str(self.rewritten),
            "unfolded": str(self.unfolded),
        }
        return "\n".join(_stage(name, text) for name, text in stages.items())


@dataclass(frozen=True, slots=True)
class CompiledWindow:
    """A STARQL query that is evaluated window by window; its memory is that of one window."""

    source: SourceText
    setting: Setting
    starql: StarqlQuery
    plan: WindowPlan

    @property
    def verdict(self) -> Bounded:
        silent = PaperAnswer.silent("it has select-project-join queries only")
        streams = tuple(stream.relation.name for stream in self.plan.streams)
        return Bounded(Semantics.SET, Papers(silent, silent), (), self.plan.bound, streams)

    def explain(self) -> str:
        """Every stage as text."""
        return f"{_stage('STARQL', str(self.starql))}\n{_stage('plan', str(self.plan))}\n\n{self}"

    def __str__(self) -> str:
        return verdict_as_text(self.verdict, render_sql, MAX_UNITS)


def _stage(name: str, text: str) -> str:
    return "\n".join([name, *(f"  {line}" for line in text.splitlines())])


@dataclass(frozen=True, slots=True)
class Compiled:
    """A query with every form it takes on its way."""

    source: SourceText
    setting: Setting
    query: SpjUnion
    verdict: Verdict
    semantic: Semantic | None = None

    def explain(self) -> str:
        """Every stage as text."""
        before = "" if self.semantic is None else f"{self.semantic}\n"
        parts = explanation_as_text(self.query, describe(self.query))
        return f"{before}{parts}\n\n{self}"

    def page(self) -> str:
        """Every stage as one self-contained HTML page."""
        from obda_bm.report.page import explanation_as_html

        stages = describe(self.query)
        return explanation_as_html(self.source, self.verdict, stages, self._outline(), render_sql)

    def _repr_html_(self) -> str:
        from obda_bm.report.page import notebook_cell

        return notebook_cell(self.verdict, self._outline())

    def _outline(self) -> PlanOutline | None:
        plan = self.plan
        return None if plan is None else outline(plan)

    def witness(self, n: int) -> tuple[Witness, Evidence] | None:
        """Streams of `n` candidates that force memory to grow, executed; None if there are none."""
        return None if isinstance(self.verdict, Bounded) else find_witness(self.query, n)

    @property
    def plan(self) -> SynopsisPlan | None:
        """How the query runs within its bound; None where it is not bounded."""
        if not isinstance(self.verdict, Bounded):
            return None
        plan = build_plan(self.query, self.verdict)
        if self.semantic is None:
            return plan
        return replace(plan, terms=self.semantic.terms, base=self.semantic.base)

    def __str__(self) -> str:
        return verdict_as_text(self.verdict, render_sql, MAX_UNITS)
