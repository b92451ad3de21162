"""What must hold of a well-formed document before anything else looks at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obda_bm.diagnostics import Diagnostic, Span, StarqlError
from obda_bm.ir.starql import Construct, OutputStream, Select, StarqlDocument, StarqlQuery
from obda_bm.syntax.check_grouping import check_grouping
from obda_bm.syntax.check_names import check_pulse_name, check_scopes, check_sequencing
from obda_bm.syntax.check_sorts import check_sorts
from obda_bm.syntax.check_times import check_pulses, check_windows
from obda_bm.syntax.macros import check_macros, expand_query
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.safety import bound_by, ranged_by_guards, unsafe_in
from obda_bm.syntax.unsafe import explain_unsafe
from obda_bm.syntax.variables import (
    Occurrence,
    bound_in_group,
    free_occurrences,
    in_aggregates,
    in_atoms,
    in_expression,
)


def check_document(document: StarqlDocument) -> tuple[Diagnostic, ...]:
    """Every mistake in names, times, sorts, grouping and safety, in the order of the text."""
    found = [*_check_declared(document), *check_macros(document.aggregates)]
    if not found:
        for stream in document.streams:
            found += _check_query(stream.query, document)
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda d: d.span.start if d.span else 0))


def _check_declared(document: StarqlDocument) -> Iterator[Diagnostic]:
    yield from _repeated("pulse", ((p.name, p.span) for p in document.pulses))
    yield from _repeated("aggregate", ((a.name, a.span) for a in document.aggregates))
    yield from _repeated("stream", ((s.name, s.span) for s in document.streams))
    yield from check_pulses(document.pulses)
    yield from _check_chains(document.streams)


def _repeated(what: str, names: Iterable[tuple[str, Span | None]]) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for name, span in names:
        if name.casefold() in seen:
            message = f"{what} '{name}' is created twice" if name else f"there is a second {what}"
            yield Mistake.REPEATED.at(span, message, "Give each a name of its own.")
        seen.add(name.casefold())


def _check_chains(streams: tuple[OutputStream, ...]) -> Iterator[Diagnostic]:
    """A stream must not feed itself, directly or through others."""
    feeds = {s.name.casefold(): [f.name.casefold() for f in s.query.streams] for s in streams}
    for stream in streams:
        waiting, seen = list(feeds[stream.name.casefold()]), set[str]()
        while waiting:
            name = waiting.pop()
            waiting += feeds.get(name, []) if name not in seen else []
            seen.add(name)
        if stream.name.casefold() in seen and stream.name:
            message = f"the stream '{stream.name}' feeds itself"
            yield Mistake.CYCLIC_STREAMS.at(stream.span, message, "Read from another stream.")


def _check_query(query: StarqlQuery, document: StarqlDocument) -> Iterator[Diagnostic]:
    if not query.streams:
        span = query.output.span
        yield Mistake.MISSING_CLAUSE.at(span, "the query reads no stream", "Add FROM STREAM name.")
    yield from check_windows(query)
    yield from check_pulse_name(query, document.pulses)
    yield from check_sequencing(query)
    try:
        expanded = expand_query(query, document.aggregates)
    except StarqlError as error:
        yield from error.diagnostics
        return
    found = [*check_scopes(expanded), *check_sorts(expanded), *check_grouping(expanded)]
    # Safety speaks of scopes, so it is asked only when these are right.
    yield from found or _check_safety(expanded)


def _check_safety(query: StarqlQuery) -> Iterator[Diagnostic]:
    static = bound_in_group(query.where) if query.where else frozenset()
    for condition in query.where.filters if query.where else ():
        yield from unsafe_in(condition, static)
    having = query.having
    if having is not None:
        yield from unsafe_in(having, static)
    known = static | (bound_by(having) | ranged_by_guards(having) if having else frozenset())
    for occurrence in answered(query):
        if occurrence.variable not in known:
            yield explain_unsafe(occurrence, having, known)


def answered(query: StarqlQuery) -> Iterator[Occurrence]:
    """The variables that the answer needs: of the output, of GROUP BY and HAVING AGGREGATE."""
    match query.output:
        case Construct(atoms):
            yield from in_atoms(atoms)
        case Select(items):
            for item in items:
                yield from in_expression(item.expression)
                yield from in_aggregates(item.expression)
    if query.group_by:
        yield from (Occurrence(v, query.group_by.span) for v in query.group_by.variables)
    if query.having_aggregate:
        names = {item.name for item in getattr(query.output, "items", ()) if item.alias}
        free = free_occurrences(query.having_aggregate)
        yield from (o for o in free if o.variable.name not in names)
