"""The parts of a page, each from one value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from obda_bm.diagnostics import SourceText
from obda_bm.ir.explanation import BranchExplanation, ConditionExplanation
from obda_bm.ir.plan_outline import BranchOutline, PlanOutline, StateOutline
from obda_bm.ir.plan_text import MEMORY, key_as_text, readers_as_text, step_as_text
from obda_bm.ir.verdict import (
    Bounded,
    PaperAnswer,
    Papers,
    Reason,
    Repair,
    Unbounded,
    Verdict,
    units_as_text,
)
from obda_bm.report.as_text import Render, evidence_as_text
from obda_bm.report.page.graphs import state_graph, time_graph
from obda_bm.report.page.growth import growth, witness_table
from obda_bm.report.page.listing import listing
from obda_bm.report.page.markup import Markup, element, joined, lines, table
from obda_bm.report.page.svg import draw

SIGNS = {"bounded": "✓", "bounded_by_window": "✓", "unbounded": "✗", "undecided": "?"}


def banner(verdict: Verdict) -> Markup:
    """The verdict at a glance; its sign and words say what its colour says."""
    title = f"{verdict.name.replace('_', ' ').capitalize()} ({verdict.semantics.value})"
    return element(
        "div",
        element("span", SIGNS[verdict.name], class_="sign", aria_hidden="true"),
        element("div", element("strong", title), element("div", _summary(verdict))),
        class_=f"banner {verdict.name}",
        role="status",
    )


def _summary(verdict: Verdict) -> str:
    match verdict:
        case Bounded():
            return str(verdict.bound)
        case Unbounded():
            return f"a witness was {evidence_as_text(verdict.evidence)}"
        case _:
            return "a sufficient condition fails, but nothing was proved"


def query_section(source: SourceText, reasons: Sequence[Reason]) -> Markup:
    said = [r for r in reasons if not r.message.startswith("holds")]
    items = (
        element("li", element("b", r.condition), f" ({r.source}): {r.message}", id_=f"reason-{i}")
        for i, r in enumerate(said, 1)
    )
    why = element("ol", *items, class_="reasons") if said else Markup("")
    return section("query", "Query", listing(source, said), why)


def papers_section(papers: Papers) -> Markup:
    rows = [
        ("[A] Arasu et al. 2002", *_answer(papers.arasu2002)),
        ("[S] Schiff & Özçep 2020", *_answer(papers.schiff2020)),
    ]
    head = ("theorem, read literally", "says", "because")
    return section("papers", "What the papers say", table(head, rows))


def _answer(answer: PaperAnswer) -> tuple[str, str]:
    if answer.bounded is None:
        return "does not apply", answer.message
    said = "bounded" if answer.bounded else "not bounded"
    return said, f"{answer.clause}: {answer.message}"


def repairs_section(repairs: Sequence[Repair], render: Render) -> Iterator[Markup]:
    """Each repair with the whole query, the first one open."""
    if repairs:
        intro = element("p", "Each of these edits was decided before it is offered.")
        shown = (_repair(repair, render, i) for i, repair in enumerate(repairs))
        yield section("repairs", "Repairs", intro, *shown)


def _repair(repair: Repair, render: Render, index: int) -> Markup:
    verdict = element("span", f" → {repair.verdict.replace('_', ' ')}", class_="verdict")
    opened = {} if index else {"open": "open"}
    query = element("pre", element("code", render(repair.query)), tabindex="0")
    summary = element("summary", repair.edit, verdict)
    return element("details", summary, query, attributes=opened)


def witness_section(verdict: Verdict) -> Iterator[Markup]:
    if isinstance(verdict, Unbounded):
        intro = element(
            "p",
            "Any subset of the candidates may have been received; the continuations tell which. So "
            "2ᴺ subsets need 2ᴺ states, whatever the engine.",
        )
        executed = f"Filled dots were executed: N up to {verdict.evidence.n}."
        picture = element(
            "figure",
            growth(verdict.evidence, "growth"),
            element("figcaption", executed),
            tabindex="0",
        )
        yield section("witness", "Witness", intro, picture, witness_table(verdict.witness))


def time_section(branches: Sequence[BranchExplanation]) -> Iterator[Markup]:
    """The dependency graph of timestamps; branches with the same one share its picture."""
    alike: dict[object, list[int]] = {}
    for number, branch in enumerate(branches, 1):
        if branch.satisfiable and branch.arrivals:
            alike.setdefault((branch.arrivals, branch.order), []).append(number)
    if alike:
        figures = (_time_figure(branches, numbers) for numbers in alike.values())
        yield section("time", "Order in time", *figures)


def _time_figure(branches: Sequence[BranchExplanation], numbers: list[int]) -> Markup:
    branch = branches[numbers[0] - 1]
    said = "; ".join(map(str, branch.order)) or "nothing is said about the order of timestamps"
    shown = ", ".join(map(str, numbers))
    label = f"Branch{'es' if len(numbers) > 1 else ''} {shown}: " if len(branches) > 1 else ""
    picture = draw(time_graph(branch), f"time-{numbers[0]}")
    return element("figure", picture, element("figcaption", f"{label}{said}"), tabindex="0")


def plan_section(plan: PlanOutline) -> Markup:
    """Pictures and tables of all branches, and what they come to."""
    several = len(plan.branches) > 1
    parts = [
        joined(([element("h3", f"Branch {i} of the plan")] if several else []) + _branch(branch, i))
        for i, branch in enumerate(plan.branches, 1)
    ]
    emitted = f"Emitted: {MEMORY[plan.memory]}."
    if plan.emitted:
        emitted += f" Bound: {units_as_text(plan.emitted)}."
    total = element("p", "In all ", element("strong", str(plan.bound)), ".", class_="total")
    if not plan.branches:
        emitted = "Nothing runs: no tuple can ever lead to a result."
    return section("plan", "Plan", *parts, element("p", emitted), total)


def _branch(branch: BranchOutline, number: int) -> list[Markup]:
    picture = draw(state_graph(branch), f"states-{number}")
    caption = "From the left: what arrives, what is kept of it, what is emitted."
    found = [element("figure", picture, element("figcaption", caption), tabindex="0")]
    if branch.states:
        head = ("state", "key", "value", "filled when", "read by", "bound")
        found.append(table(head, (_state(branch, state) for state in branch.states)))
    emits = (element("li", f"{step_as_text(step)}") for step in branch.emitting)
    found.append(element("p", f"Emits {', '.join(branch.projection)} when"))
    found.append(element("ul", *emits))
    return found


def _state(branch: BranchOutline, state: StateOutline) -> Iterable[str]:
    yield f"{state.number}: {'+'.join(state.inputs)}"
    yield lines(map(key_as_text, state.key))
    yield lines((*state.values, *state.forgets))
    yield lines(map(step_as_text, branch.filling(state)))
    yield lines(readers_as_text(branch.reading(state)))
    yield units_as_text(state.size)


def conditions_section(branches: Sequence[BranchExplanation]) -> Markup:
    parts = [joined(_conditions(b, i, len(branches))) for i, b in enumerate(branches, 1)]
    nothing = element("p", "No branch is left to be decided.")
    return section("conditions", "Conditions checked", *(parts or [nothing]))


def _conditions(branch: BranchExplanation, number: int, of: int) -> Iterator[Markup]:
    if of > 1:
        yield element("h3", f"Branch {number}")
    yield element("p", element("code", branch.query))
    if not branch.satisfiable:
        yield element("p", "Unsatisfiable: its answer is always empty.")
        return
    yield table(
        ("condition", "holds", "statement", "source"), (_condition(c) for c in branch.conditions)
    )
    rows = ((c.column, c.type, c.domain) for c in branch.columns)
    if branch.columns:
        yield table(("column", "type", "values"), rows)
    yield element("p", f"Joins between streams: {', '.join(branch.joins) or 'none'}.")


def _condition(condition: ConditionExplanation) -> Iterable[str]:
    yield condition.condition
    yield _holds(condition)
    yield joined(
        [condition.statement, *(element("div", v, class_="bad") for v in condition.violations)]
    )
    yield condition.source


def _holds(condition: ConditionExplanation) -> Markup:
    return element(
        "span",
        "✓ holds" if condition.holds else "✗ fails",
        class_="ok" if condition.holds else "bad",
    )


def section(name: str, title: str, *parts: str) -> Markup:
    return element(
        "section", element("h2", title, id_=name), *parts, attributes={"aria-labelledby": name}
    )
