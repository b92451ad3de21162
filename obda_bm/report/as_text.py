"""Verdicts and witnesses as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from obda_bm.diagnostics import Span, excerpt
from obda_bm.ir.explanation import BranchExplanation
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.verdict import (
    Bound,
    Bounded,
    PaperAnswer,
    Papers,
    Reason,
    Repair,
    Unbounded,
    Undecided,
    Verdict,
)
from obda_bm.ir.witness import Evidence, Tuple, Witness

Render = Callable[[SpjUnion], str]


def verdict_as_text(verdict: Verdict, render: Render, max_units: int) -> str:
    return "\n".join(_verdict(verdict, render, max_units))


def _verdict(verdict: Verdict, render: Render, max_units: int) -> Iterator[str]:
    match verdict:
        case Bounded():
            yield f"{_title(verdict.name)} ({verdict.semantics.value}): {verdict.bound}"
            yield from _warning(verdict.bound, max_units)
            yield from states_as_text(verdict.bound)
            yield from _reasons(r for r in verdict.reasons if not r.message.startswith("holds"))
            yield from _papers(verdict.papers)
        case Unbounded():
            yield f"{_title(verdict.name)} ({verdict.semantics.value})"
            yield from _reasons(iter(verdict.reasons))
            yield f"  witness: {evidence_as_text(verdict.evidence)}"
            yield from _papers(verdict.papers)
            yield from _repairs(verdict.repairs, render)
        case Undecided():
            yield f"{_title(verdict.name)} ({verdict.semantics.value})"
            yield from _reasons(iter(verdict.reasons))
            yield from _papers(verdict.papers)
            yield from _repairs(verdict.repairs, render)


def explanation_as_text(query: SpjUnion, branches: tuple[BranchExplanation, ...]) -> str:
    """Every stage of the decision, one branch after another."""
    return "\n".join(_explanation(query, branches))


def _explanation(query: SpjUnion, branches: tuple[BranchExplanation, ...]) -> Iterator[str]:
    yield f"query ({query.semantics.value})"
    yield from (f"  {line}" for line in str(query).splitlines())
    for i, branch in enumerate(branches, 1):
        yield f"branch {i} of {len(branches)}: {branch.query}"
        if not branch.satisfiable:
            yield "  unsatisfiable: its answer is always empty"
            continue
        yield f"  infinite streams: {', '.join(branch.streams) or 'none'}"
        yield f"  order in time: {'; '.join(map(str, branch.order)) or 'none'}"
        yield "  columns:"
        yield from (f"    {c.column} {c.type}: {c.domain}" for c in branch.columns)
        yield f"  joins: {', '.join(branch.joins) or 'none'}"
        for c in branch.conditions:
            yield f"  {'holds' if c.holds else 'FAILS'} {c.condition} ({c.source}): {c.statement}"
            yield from (f"        {v}" for v in c.violations)


def _title(name: str) -> str:
    return name.replace("_", " ")


def _warning(bound: Bound, max_units: int) -> Iterator[str]:
    if bound.units is not None and bound.units > max_units:
        column = bound.largest_column
        culprit = f": {column.column} has {column.values} values ({column.text})" if column else ""
        yield f"  WARNING: the bound exceeds {max_units} units{culprit}"


def states_as_text(bound: Bound) -> Iterator[str]:
    for state in bound.states:
        yield f"  keeps {state}"
        for column in state.key:
            count = "" if column.values is None else f" ({column.values})"
            yield f"    {column}{count}"


def _reasons(reasons: Iterator[Reason]) -> Iterator[str]:
    """Each condition at each place once: two sides of one join fail for the same reason."""
    shown: set[tuple[str, Span | None]] = set()
    for reason in reasons:
        if (reason.condition, reason.span) in shown and reason.span is not None:
            continue
        shown.add((reason.condition, reason.span))
        yield f"  {reason.condition} ({reason.source}): {reason.message}"
        if reason.span is not None:
            yield from (f"  {line}" for line in excerpt(reason.span))


def _papers(papers: Papers) -> Iterator[str]:
    yield f"  [A] Arasu et al. 2002: {_answer(papers.arasu2002)}"
    yield f"  [S] Schiff & Özçep 2020: {_answer(papers.schiff2020)}"


def _answer(answer: PaperAnswer) -> str:
    if answer.bounded is None:
        return f"does not apply ({answer.message})"
    said = "bounded" if answer.bounded else "not bounded"
    return f"{said} ({answer.clause}: {answer.message})"


def _repairs(repairs: tuple[Repair, ...], render: Render) -> Iterator[str]:
    if repairs:
        yield "  repairs:"
    for i, repair in enumerate(repairs, 1):
        yield f"  {i}. {repair.edit} -> {_title(repair.verdict)}"
        if i == 1:  # the others in JSON
            yield from (f"       {line}" for line in render(repair.query).splitlines())


def evidence_as_text(evidence: Evidence) -> str:
    how = (
        "each continuation answers for exactly its own candidate"
        if evidence.exact
        else "the answers of all continuations together tell them apart"
    )
    return f"executed with {evidence.n} candidates, {evidence.subsets} subsets of them: {how}"


def witness_as_sql(witness: Witness, evidence: Evidence) -> str:
    """The witness as SQL that any database runs: load a subset, then one continuation, and ask."""
    return "\n".join(_script(witness, evidence))


def _script(witness: Witness, evidence: Evidence) -> Iterator[str]:
    yield f"-- {evidence_as_text(evidence)}"
    yield "-- Insert what is common and any subset of the candidates, then one continuation:"
    yield "-- the new results tell whether its candidate was there."
    yield from _tables(witness)
    if witness.common:
        yield "-- common"
        yield from map(_insert, witness.common)
    for i, candidate in enumerate(witness.candidates, 1):
        yield f"-- candidate {i}"
        yield from map(_insert, candidate)
    for i, continuation in enumerate(witness.continuations, 1):
        yield f"-- continuation {i}"
        yield from map(_insert, continuation)


def _tables(witness: Witness) -> Iterator[str]:
    groups = (witness.common, *witness.candidates, *witness.continuations)
    relations = {t.relation.name: t.relation for group in groups for t in group}
    for name, relation in sorted(relations.items()):
        columns = ", ".join(f"{_name(c.name)} {c.type.storage}" for c in relation.columns)
        yield f"CREATE TABLE {_name(name)} ({columns});"


def _insert(item: Tuple) -> str:
    pairs = zip(item.relation.columns, item.values, strict=True)
    values = ", ".join("NULL" if v is None else c.type.literal(v) for c, v in pairs)
    return f"INSERT INTO {_name(item.relation.name)} VALUES ({values});"


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'
