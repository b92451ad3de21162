"""Durations and timestamps, as literals and in short forms."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from fractions import Fraction

# Abbreviations are ambiguous in general (IST, CST); these are the ones that publications use.
ZONES = {
    **dict.fromkeys(("Z", "UTC", "GMT", "WET"), 0),
    **dict.fromkeys(("BST", "WEST", "CET", "MEZ"), 1),
    **dict.fromkeys(("CEST", "MESZ", "EET"), 2),
    **dict.fromkeys(("EEST", "MSK"), 3),
    "JST": 9,
    "EDT": -4,
    "EST": -5,
    "CDT": -5,
    "CST": -6,
    "MDT": -6,
    "MST": -7,
    "PDT": -7,
    "PST": -8,
}

_MICROSECONDS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1_000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000_000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000),
    **dict.fromkeys(("w", "week", "weeks"), 604_800_000_000),
}
UNITS = tuple(_MICROSECONDS)

_ISO = re.compile(
    r"(?P<sign>-?)P(?=[T\d])(?:(?P<d>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?\Z",
    re.IGNORECASE,
)
_SHORT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")
_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)\s*([A-Za-z]+|[+-]\d\d:?\d\d)?\Z"
)
LONGEST = 1000 * 366 * 86_400_000_000


class UnknownZone(ValueError):
    """The time zone has a name that is not in `ZONES`."""


def parse_duration(text: str) -> int:
    """The microseconds of an ISO duration or a short form.

    >>> parse_duration("PT10M"), parse_duration("1h30min"), parse_duration("-PT0.5S")
    (600000000, 5400000000, -500000)

    Raises:
        ValueError: it is neither, is not whole microseconds, or is longer than a thousand years.
    """
    iso = _ISO.match(text)
    if iso is None:
        return _whole(_short(text))
    parts = [(Fraction(iso[u]), _MICROSECONDS[u]) for u in ("d", "h", "m", "s") if iso[u]]
    if not parts:
        raise ValueError("it has no length")
    size = _whole(sum((n * unit for n, unit in parts), Fraction(0)))
    return -size if iso["sign"] else size


def _short(text: str) -> Fraction:
    parts = _SHORT.findall(text)
    if not parts or _SHORT.sub("", text).strip():
        if re.match(r"-?P.*[YM](?!.*T)|-?P\d+[YM]", text, re.IGNORECASE):
            raise ValueError("months and years differ in length")
        raise ValueError("it is not a duration")
    unknown = [unit for _, unit in parts if unit.lower() not in _MICROSECONDS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not a unit of time")
    return sum((Fraction(n) * _MICROSECONDS[unit.lower()] for n, unit in parts), Fraction(0))


def _whole(microseconds: Fraction) -> int:
    if microseconds.denominator != 1:
        raise ValueError("it is finer than a microsecond")
    if microseconds > LONGEST:
        raise ValueError("it is longer than a thousand years")
    return int(microseconds)


def parse_timestamp(text: str) -> datetime:
    """The time that `text` names, with its zone if it has one.

    >>> parse_timestamp("2012-07-04T06:21:58CEST").isoformat()
    '2012-07-04T06:21:58+02:00'

    Raises:
        UnknownZone: the zone is an abbreviation that is not in `ZONES`.
        ValueError: it is no timestamp.
    """
    parts = _TIMESTAMP.match(text.strip())
    if parts is None:
        raise ValueError("it is not of the form 2026-01-31T12:00:00Z")
    day, time, zone = parts.groups()
    return datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=_zone(zone))


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    if text[0] in "+-":
        hours, minutes = int(text[1:3]), int(text[-2:])
        shift = timedelta(hours=hours, minutes=minutes)
        return timezone(shift if text[0] == "+" else -shift)
    if text.upper() not in ZONES:
        raise UnknownZone(text)
    return timezone(timedelta(hours=ZONES[text.upper()]))
