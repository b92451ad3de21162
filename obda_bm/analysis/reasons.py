"""Violations, contradictions and disagreements with the papers, in the user's words."""

from __future__ import annotations

from dataclasses import replace

from obda_bm.analysis.timeline import B1, B2, S0, S1, S2, S3, SOURCE
from obda_bm.analysis.violation import Violation
from obda_bm.diagnostics import Span, cover
from obda_bm.ir.catalog import Extent
from obda_bm.ir.spj import Occurrence, Semantics, SpjQuery
from obda_bm.ir.terms import ColumnRef, Op, Predicate, columns_of
from obda_bm.ir.verdict import PaperAnswer, Papers, Reason
from obda_bm.order.joins import Join
from obda_bm.order.prepare import is_satisfiable
from obda_bm.order.streams import Timeline, names


def reason_for(timeline: Timeline, violation: Violation) -> Reason:
    """Why `violation` keeps the query from running in bounded memory."""
    return Reason(
        violation.condition.name,
        violation.condition.source,
        _message(timeline, violation),
        violation.columns,
        _span(timeline.closure.query, violation),
    )


def reasons_for_bounded(semantics: Semantics) -> tuple[Reason, ...]:
    conditions = (B1, B2) if semantics is Semantics.BAG else (S0, S1, S2, S3)
    return tuple(Reason(c.name, SOURCE, f"holds: {c.statement}") for c in conditions)


def unsatisfiable(query: SpjQuery) -> Reason:
    core = _contradiction(query)
    listed = ", ".join(map(str, core))
    free = replace(query, occurrences=tuple(map(_unconstrained, query.occurrences)))
    if not core:
        why = "the constraints of the catalog contradict each other"
    elif is_satisfiable(replace(free, predicates=core)):
        why = f"{listed} contradicts the constraints of the catalog"
    else:
        why = f"{listed} cannot hold" + (" together" if len(core) > 1 else "")
    columns = tuple(dict.fromkeys(c for p in core for c in columns_of(p)))
    message = f"the answer is always empty: {why}"
    return Reason("satisfiability", "[A] section 3", message, columns, cover(p.span for p in core))


def _contradiction(query: SpjQuery) -> tuple[Predicate, ...]:
    """A smallest set of the query's predicates that cannot hold together."""
    core = list(query.predicates)
    for predicate in query.predicates:
        fewer = [p for p in core if p is not predicate]
        if not is_satisfiable(replace(query, predicates=tuple(fewer))):
            core = fewer
    return tuple(core)


def _unconstrained(occurrence: Occurrence) -> Occurrence:
    """The occurrence without what the catalog says about its tuples."""
    relation = occurrence.relation
    extent = Extent.INFINITE if relation.extent is Extent.FINITE else relation.extent
    columns = tuple(replace(c, type=replace(c.type, values=None)) for c in relation.columns)
    free = replace(relation, checks=(), keys=(), end=None, extent=extent, columns=columns)
    return replace(occurrence, relation=free)


def disagreements(papers: Papers, *, bounded: bool) -> tuple[Reason, ...]:
    """Where a paper, read literally, says otherwise: which clause, and why it is not followed."""
    answers = (papers.arasu2002, papers.schiff2020)
    return tuple(
        Reason(answer.clause, "literal reading", _disagreement(answer))
        for answer in answers
        if answer.bounded is not None and answer.bounded != bounded
    )


def _disagreement(answer: PaperAnswer) -> str:
    said = "bounded" if answer.bounded else "not bounded"
    known = (why for clause, why in _WHY_NOT_FOLLOWED.items() if answer.clause.endswith(clause))
    default = "the witness" if answer.bounded else "the states that suffice"
    why = next(known, f"{default} below shows otherwise")
    return f"{answer.clause} says {said} ({answer.message}), but {why}"


_WHY_NOT_FOLLOWED = {
    "Theorem 1, C1": "a stream with two later ones needs a counter for each closed set, "
    "not its history",
    "Theorem 1, C2": "a bounded column can be carried in the keys of later states",
    "Theorem 1, C3": "a bounded column can be carried up to where it is projected",
    "Theorem 1, C4": "a column need not be bounded where its stream cannot come before the other",
    "Theorem 1, C5": "a stream that cannot come before the other is not stored for it",
    "Theorem 2": "one extreme value per stream forgets which tuple came before which: "
    "the witness below needs both",
    "Theorem 2, C3": "a stream is stored only for streams that can come later",
}
"""Why each clause of [S] is not sound or not necessary; docs/criterion.md, section 6."""


def _message(timeline: Timeline, violation: Violation) -> str:
    column = violation.columns[0]
    stream = timeline.stream_of(column)
    assert stream is not None
    later = names(y for y in timeline.streams if timeline.can_precede(stream, y))
    written = [_written(timeline, join) for join in violation.joins]
    match violation.condition.name, violation.joins:
        case "B1", _:
            return (
                f"{column} is projected and not bounded, and {later} can arrive after {stream}: "
                f"every value of {column} has to be kept until then"
            )
        case "S0", _:
            return (
                f"{column} is projected with duplicates removed and is not bounded: "
                f"every value that was emitted has to be remembered"
            )
        case "B2" | "S1", (join,) if not join.is_inequality:
            return (
                f"{written[0]} joins columns that are not bounded, and {_owner(timeline, join)} "
                f"can arrive after {stream}: every value of {column} has to be kept"
            )
        case _, (join,):
            return (
                f"counting the matches of {written[0]} needs every value of {column}, "
                f"for {_owner(timeline, join)} can arrive after {stream}"
            )
        case "S2", _:
            return (
                f"{stream} has to be remembered for {written[0]} and for {written[1]}: "
                f"no single tuple is best for both"
            )
        case _:
            return (
                f"{written[0]} and {written[1]} test streams that are tied in time: "
                f"no single pair of tuples is best for both"
            )


def _owner(timeline: Timeline, join: Join) -> str:
    return str(timeline.stream_of(join.right))


def _written(timeline: Timeline, join: Join) -> str:
    """The join in the user's words, if they wrote it; else as P+ implies it."""
    predicate = _stated(timeline.closure.query, join)
    if predicate is not None and predicate.span is not None:
        return " ".join(predicate.span.text.split())
    return str(join if join.op in (Op.LT, Op.LE, Op.EQ, Op.NE) else join.mirrored)


def _stated(query: SpjQuery, join: Join) -> Predicate | None:
    wanted = {join.left, join.right}
    return next((p for p in query.predicates if set(columns_of(p)) == wanted), None)


def _span(query: SpjQuery, violation: Violation) -> Span | None:
    """The predicate that fails, or else the projected column."""
    for join in violation.joins:
        predicate = _stated(query, join)
        if predicate is not None and predicate.span is not None:
            return predicate.span
    for output in query.projection:
        if output.term == violation.columns[0]:
            return output.span
    return _mention(query, violation.columns[0])


def _mention(query: SpjQuery, column: ColumnRef) -> Span | None:
    return next((p.span for p in query.predicates if column in columns_of(p)), None)
