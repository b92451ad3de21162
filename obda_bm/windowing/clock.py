"""The windows and the pulse of a query -> which tuples are seen, and when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from obda_bm.diagnostics import Diagnostic, WindowError, did_you_mean
from obda_bm.ir.catalog import Catalog, Extent, Relation
from obda_bm.ir.sqltypes import Family
from obda_bm.ir.starql import (
    Pulse,
    PulseName,
    SourceStream,
    StarqlDocument,
    StarqlQuery,
    same_name,
)
from obda_bm.ir.window_plan import Clock, WindowedStream
from obda_bm.syntax import NeedsWindow, monotone_union
from obda_bm.windowing.mistakes import Mistake

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def windowed_streams(query: StarqlQuery, catalog: Catalog) -> tuple[WindowedStream, ...]:
    """The streams of `query`, each with its window.

    Raises:
        WindowError: where one has no window, or is no stream of the catalog.
    """
    problems = [problem for stream in query.streams for problem in _problems(stream, catalog)]
    problems += [*_without_window(query), *_twice(query)]
    if problems:
        raise WindowError(*problems)
    return tuple(_windowed(stream, catalog) for stream in query.streams)


def _twice(query: StarqlQuery) -> Iterator[Diagnostic]:
    """A stream with two windows would be two streams, which patterns cannot tell apart."""
    slides = {stream.window.slide for stream in query.streams if stream.window is not None}
    seen: set[str] = set()
    for stream in query.streams:
        name = stream.name.casefold()
        if name in seen and len(slides) == 1:  # different slides are refused anyway
            hint = "Name it once, with the longest window, and compare states in HAVING."
            yield Mistake.TWICE.at(stream.span, f"the stream {stream.name!r} is there twice", hint)
        seen.add(name)


def unused_slack(query: StarqlQuery) -> Iterator[Diagnostic]:
    """A warning for each SLACK: a tuple is late once a newer timestamp was closed."""
    for stream in query.streams:
        if stream.slack is not None:
            hint = "Let the source wait for late data before it sends."
            yield Mistake.UNUSED_SLACK.warn(stream.slack.span, "SLACK has no effect here", hint)


def _windowed(stream: SourceStream, catalog: Catalog) -> WindowedStream:
    relation = catalog.find(stream.name)
    assert relation is not None, "checked before"
    assert stream.window is not None, "checked before"
    window = stream.window
    return WindowedStream(relation, window.begin.microseconds, window.end.microseconds)


def _without_window(query: StarqlQuery) -> Iterator[Diagnostic]:
    bare = [stream for stream in query.streams if stream.window is None]
    reading = monotone_union(query) if bare else None
    reason = "the query is evaluated at the ticks of a pulse"
    if isinstance(reading, NeedsWindow):
        reason = reading.obstacle.value
    for stream in bare:
        message = f"{stream.name} needs a window: {reason}"
        hint = f"Say how far back to look: FROM STREAM {stream.name} [NOW - 10m, NOW]."
        yield Mistake.NEEDS_WINDOW.at(stream.span, message, hint)


def _problems(stream: SourceStream, catalog: Catalog) -> Iterator[Diagnostic]:
    match catalog.find(stream.name):
        case None:
            known = [r.name for r in catalog.relations if r.extent is not Extent.STATIC]
            hint = did_you_mean(stream.name, known) or f"The streams are {', '.join(known)}."
            message = f"unknown stream '{stream.name}'"
            yield Mistake.UNKNOWN_STREAM.at(stream.span, message, hint)
        case Relation(extent=Extent.STATIC):
            hint = "Leave it out: static data needs no FROM STREAM."
            yield Mistake.NO_STREAM.at(stream.span, f"'{stream.name}' is no stream", hint)
        case Relation(time=str() as time) as relation:
            type_ = relation.column(time).type
            if type_.family is not Family.INSTANT:
                message = f"the timestamps of '{stream.name}' are {type_}, not points in time"
                hint = "Windows are in minutes and seconds: give the time column type TIMESTAMP."
                yield Mistake.COUNTED_TIME.at(stream.span, message, hint)


def clock_of(query: StarqlQuery, document: StarqlDocument) -> Clock:
    """The ticks of `query`: by the slide of its windows, else the frequency of its pulse.

    Raises:
        WindowError: where its windows slide differently.
    """
    pulse = _pulse(query.pulse, document)
    slide = _slide(query)
    if slide is None and pulse is not None and pulse.frequency is not None:
        slide = pulse.frequency.microseconds
    start = None if pulse is None else _microseconds(pulse.start)
    end = None if pulse is None else _microseconds(pulse.end)
    return Clock(start, end, slide)


def _pulse(pulse: Pulse | PulseName | None, document: StarqlDocument) -> Pulse | None:
    if isinstance(pulse, PulseName):
        return next(p for p in document.pulses if same_name(p.name, pulse.name))
    return pulse


def _slide(query: StarqlQuery) -> int | None:
    windows = [stream.window for stream in query.streams if stream.window is not None]
    slides = [window.slide for window in windows if window.slide is not None]
    if len({slide.microseconds for slide in slides}) > 1:
        hint = "Give all windows of the query one slide."
        message = "the windows slide differently"
        raise Mistake.DIFFERENT_SLIDES.error(slides[1].span, message, hint)
    return slides[0].microseconds if slides else None


def _microseconds(time: datetime | None) -> int | None:
    if time is None:
        return None
    zoned = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return (zoned - _EPOCH) // timedelta(microseconds=1)
