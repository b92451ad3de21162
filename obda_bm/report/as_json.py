"""The JSON contracts of DESIGN.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from obda_bm.diagnostics import Diagnostic, Span
from obda_bm.ir.catalog import Column
from obda_bm.ir.explanation import BranchExplanation
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.sqltypes import Family, Value
from obda_bm.ir.verdict import Bound, Bounded, Papers, Reason, Repair, Unbounded, Undecided, Verdict
from obda_bm.ir.witness import Evidence, Tuple, Witness

Json = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None
Render = Callable[[SpjUnion], str]


def verdict_as_json(verdict: Verdict, render: Render, max_units: int) -> dict[str, Json]:
    """The JSON of `check`."""
    match verdict:
        case Bounded():
            return {
                **_head(verdict.semantics, verdict.name, verdict.papers),
                "bound": bound_as_json(verdict.bound, max_units),
                "reasons": reasons_as_json(verdict.reasons),
                "repairs": [],
            }
        case Unbounded() | Undecided():
            return {
                **_head(verdict.semantics, verdict.name, verdict.papers),
                "bound": None,
                "reasons": reasons_as_json(verdict.reasons),
                "repairs": repairs_as_json(verdict.repairs, render),
            }


def outside_as_json(diagnostics: Iterable[Diagnostic], semantics: Semantics) -> dict[str, Json]:
    """The JSON of `check` for a query outside the fragment: nothing is decided about it."""
    return {
        "semantics": semantics.value,
        "verdict": "undecided",
        "papers": {"arasu2002": None, "schiff2020": None},
        "bound": None,
        "reasons": [
            {
                "condition": "fragment",
                "source": d.code,
                "message": d.message if d.hint is None else f"{d.message}. {d.hint}",
                "columns": [],
                "span": span_as_json(d.span),
            }
            for d in diagnostics
        ],
        "repairs": [],
    }


def _head(semantics: Semantics, name: str, papers: Papers) -> dict[str, Json]:
    return {
        "semantics": semantics.value,
        "verdict": name,
        "papers": {
            "arasu2002": papers.arasu2002.bounded,
            "schiff2020": papers.schiff2020.bounded,
        },
    }


def bound_as_json(bound: Bound, max_units: int) -> Json:
    return {
        "units": bound.units,
        "formula": bound.formula,
        "exceeds_max_units": bound.units is not None and bound.units > max_units,
        "states": [
            {
                "streams": list(state.streams) or [state.name],
                "key": [
                    {"column": str(k.column), "values": k.values, "in": k.text} for k in state.key
                ],
                "value": state.value,
                "units": state.units,
                "formula": state.formula,
            }
            for state in bound.states
        ],
    }


def reasons_as_json(reasons: Iterable[Reason]) -> list[Json]:
    return [
        {
            "condition": reason.condition,
            "source": reason.source,
            "message": reason.message,
            "columns": [str(column) for column in reason.columns],
            "span": span_as_json(reason.span),
        }
        for reason in reasons
    ]


def repairs_as_json(repairs: Iterable[Repair], render: Render) -> list[Json]:
    return [{"edit": r.edit, "query": render(r.query), "verdict": r.verdict} for r in repairs]


def span_as_json(span: Span | None) -> Json:
    if span is None:
        return None
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end_line,
        "end_column": end_column,
        "text": span.text,
    }


def diagnostics_as_json(diagnostics: Iterable[Diagnostic]) -> dict[str, Json]:
    return {
        "errors": [
            {
                "code": d.code,
                "severity": d.severity.value,
                "message": d.message,
                "hint": d.hint,
                "span": span_as_json(d.span),
            }
            for d in diagnostics
        ]
    }


def explanation_as_json(query: SpjUnion, branches: Iterable[BranchExplanation]) -> Json:
    return {
        "query": str(query),
        "branches": [
            {
                "query": branch.query,
                "satisfiable": branch.satisfiable,
                "streams": list(branch.streams),
                "order": list(map(str, branch.order)),
                "columns": [
                    {"column": c.column, "type": c.type, "domain": c.domain, "bounded": c.bounded}
                    for c in branch.columns
                ],
                "joins": list(branch.joins),
                "conditions": [
                    {
                        "condition": c.condition,
                        "source": c.source,
                        "statement": c.statement,
                        "holds": c.holds,
                        "violations": list(c.violations),
                    }
                    for c in branch.conditions
                ],
            }
            for branch in branches
        ],
    }


def witness_as_json(witness: Witness, evidence: Evidence) -> dict[str, Json]:
    """The JSON of `witness`: tuples as objects, in the order in which they arrive."""
    return {
        "n": witness.n,
        "evidence": {"subsets": evidence.subsets, "exact": evidence.exact},
        "common": [_tuple(t) for t in witness.common],
        "candidates": [[_tuple(t) for t in c] for c in witness.candidates],
        "continuations": [[_tuple(t) for t in c] for c in witness.continuations],
    }


def _tuple(item: Tuple) -> Json:
    pairs = zip(item.relation.columns, item.values, strict=True)
    return {"relation": item.relation.name, "row": {c.name: plain(c, v) for c, v in pairs}}


def plain(column: Column, value: Value | None) -> Json:
    """A value as JSON has it; instants as ISO 8601 text, exact decimals as text."""
    match column.type.family:
        case Family.BOOLEAN:
            return None if value is None else bool(value)
        case Family.INSTANT if value is not None:
            return column.type.literal(value).split("'")[1]
        case _:
            return column.type.literal(value) if isinstance(value, Fraction) else value
