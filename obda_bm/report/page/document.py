"""The page, put together."""

from __future__ import annotations

from importlib.resources import files

from obda_bm.diagnostics import SourceText
from obda_bm.ir.explanation import BranchExplanation
from obda_bm.ir.plan_outline import PlanOutline
from obda_bm.ir.verdict import Bounded, Verdict
from obda_bm.report.as_text import Render
from obda_bm.report.page.markup import Markup, element, joined
from obda_bm.report.page.sections import (
    banner,
    conditions_section,
    papers_section,
    plan_section,
    query_section,
    repairs_section,
    time_section,
    witness_section,
)


def explanation_as_html(
    source: SourceText,
    verdict: Verdict,
    branches: tuple[BranchExplanation, ...],
    plan: PlanOutline | None,
    render: Render,
) -> str:
    """One page that needs nothing but itself."""
    repairs = () if isinstance(verdict, Bounded) else verdict.repairs
    body = element(
        "main",
        element("h1", source.name),
        banner(verdict),
        query_section(source, verdict.reasons),
        *repairs_section(repairs, render),
        *([] if plan is None else [plan_section(plan)]),
        *witness_section(verdict),
        *time_section(branches),
        papers_section(verdict.papers),
        conditions_section(branches),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{source.name}: {verdict.name.replace('_', ' ')}"),
        _style(),
    )
    page = element("html", head, element("body", body, class_="obda-bm page"), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def notebook_cell(verdict: Verdict, plan: PlanOutline | None) -> str:
    """The verdict and the plan, for a notebook."""
    parts = [banner(verdict), *([] if plan is None else [plan_section(plan)])]
    return joined([_style(), element("div", *parts, class_="obda-bm")])


def _style() -> Markup:
    css = (files("obda_bm.report.page") / "page.css").read_text("utf-8")
    return element("style", Markup(css))
