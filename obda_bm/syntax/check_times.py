"""Windows, slides, slack and pulses that make sense."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obda_bm.diagnostics import Diagnostic
from obda_bm.ir.formulas import Duration
from obda_bm.ir.starql import Pulse, SourceStream, StarqlQuery, Window
from obda_bm.syntax.mistakes import Mistake


def check_windows(query: StarqlQuery) -> Iterator[Diagnostic]:
    for stream in query.streams:
        if stream.window is not None:
            yield from _check_window(stream.window)
        yield from _check_slack(stream)
    if isinstance(query.pulse, Pulse):
        yield from check_pulses([query.pulse])


def _check_window(window: Window) -> Iterator[Diagnostic]:
    begin, end = window.begin.microseconds, window.end.microseconds
    if begin < 0 or end < 0:
        message, hint = "the window reaches into the future", "Use positive durations after NOW -."
        yield Mistake.BAD_WINDOW.at(window.span, message, hint)
    elif begin < end:
        message = "the window begins after its end"
        yield Mistake.BAD_WINDOW.at(window.span, message, "Write the earlier time first.")
    if window.slide is not None:
        yield from _positive(window.slide, "the slide")


def _check_slack(stream: SourceStream) -> Iterator[Diagnostic]:
    if stream.slack is not None and stream.slack.microseconds < 0:
        message, hint = (
            "the slack is negative",
            "Slack is how late data may come; it is not negative.",
        )
        yield Mistake.BAD_WINDOW.at(stream.slack.span, message, hint)


def _positive(duration: Duration, what: str) -> Iterator[Diagnostic]:
    if duration.microseconds <= 0:
        hint = "Time must move on; write, for instance, 1m."
        yield Mistake.BAD_WINDOW.at(duration.span, f"{what} is not positive", hint)


def check_pulses(pulses: Iterable[Pulse]) -> Iterator[Diagnostic]:
    for pulse in pulses:
        if pulse.frequency is not None:
            yield from _positive(pulse.frequency, "the frequency")
        if pulse.start is None or pulse.end is None:
            continue
        if (pulse.start.tzinfo is None) != (pulse.end.tzinfo is None):
            message = "only one of START and END has a time zone"
            hint = "Give both a time zone, as in 12:00:00Z, or none."
            yield Mistake.BAD_PULSE.at(pulse.span, message, hint)
        elif pulse.end < pulse.start:
            message = "the pulse ends before it starts"
            yield Mistake.BAD_PULSE.at(pulse.span, message, "Exchange START and END.")
