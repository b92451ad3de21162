"""SQL types and the domains that THEORY 3 gives them.

What matters about a type is whether its values are ordered, and whether finitely many of them
lie between two constants: only then does a range bound a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from fractions import Fraction

Value = int | Fraction | str
"""Numbers are exact; instants are microseconds since 1970; booleans are 0 and 1."""

DAY = 86_400_000_000
_DURATIONS = {"µs": 1, "ms": 10**3, "s": 10**6, "min": 6 * 10**7, "h": 36 * 10**8, "d": DAY}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_INSTANT = -((_EPOCH - datetime(1, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))


class Family(Enum):
    """Values compare within their family only."""

    NUMBER = "number"
    INSTANT = "instant"
    BOOLEAN = "boolean"
    TEXT = "text"


class Order(Enum):
    DISCRETE = "discrete"
    DENSE = "dense"
    UNORDERED = "unordered"


@dataclass(frozen=True, slots=True)
class SqlType:
    """A SQL type as the analysis sees it.

    `grain` is the distance between neighbouring values of a discrete type: 1 for INTEGER, 1/100 for
    DECIMAL(_, 2), a day for DATE. `values` lists a domain that the type itself makes finite.
    """

    name: str
    family: Family
    order: Order
    grain: Fraction = Fraction(0)
    values: tuple[Value, ...] | None = None

    def __post_init__(self) -> None:
        if (self.order is Order.DISCRETE) != (self.grain > 0):
            raise ValueError(f"a discrete type, and no other, has a grain: {self.name}")

    def __str__(self) -> str:
        return self.name

    @property
    def storage(self) -> str:
        """A type that every SQL engine stores the values in."""
        return "VARCHAR" if self.family is Family.TEXT else self.name

    def duration(self, ticks: int) -> str:
        """`ticks` of a time column of this type, in the largest unit that divides them.

        >>> TIMESTAMP.duration(90_000_000), INTEGER.duration(5)
        ('90 s', '5 ticks')
        """
        if self.family is not Family.INSTANT:
            return f"{ticks} tick{'' if ticks == 1 else 's'}"
        unit = max(
            (u for u in _DURATIONS if ticks % _DURATIONS[u] == 0), key=_DURATIONS.__getitem__
        )
        return f"{ticks // _DURATIONS[unit]} {unit}"

    def literal(self, value: Value) -> str:
        """`value` as a SQL literal of this type.

        >>> DATE.literal(DAY)
        "DATE '1970-01-02'"
        >>> TEXT.literal("it's")
        "'it''s'"
        """
        match self.family:
            case Family.TEXT:
                return "'" + str(value).replace("'", "''") + "'"
            case Family.BOOLEAN:
                return "TRUE" if value else "FALSE"
            case Family.INSTANT:
                assert isinstance(value, int)
                return self._instant(value)
            case Family.NUMBER:
                assert not isinstance(value, str)
                return _number(value)

    def _instant(self, value: int) -> str:
        moment = _EPOCH + timedelta(microseconds=value)
        if value % DAY == 0 and self.grain == DAY:
            return f"DATE '{moment.date().isoformat()}'"
        return f"TIMESTAMP '{moment.replace(tzinfo=None).isoformat(sep=' ')}'"


def _number(value: int | Fraction) -> str:
    fraction = Fraction(value)
    if fraction.denominator == 1:
        return str(fraction.numerator)
    digits = 1
    while (fraction * 10**digits).denominator != 1:
        digits += 1
        if digits > 400:  # not a decimal fraction: no SQL literal denotes it
            return f"{fraction.numerator}/{fraction.denominator}"
    scaled = abs((fraction * 10**digits).numerator)
    text = str(scaled).rjust(digits + 1, "0")
    return f"{'-' if fraction < 0 else ''}{text[:-digits]}.{text[-digits:]}"


def instant(text: str) -> int:
    """Microseconds since 1970 of an ISO 8601 date or timestamp; UTC where no zone is given.

    Raises:
        ValueError: where `text` is neither.
    """
    moment = datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)


INTEGER = SqlType("INTEGER", Family.NUMBER, Order.DISCRETE, Fraction(1))
DOUBLE = SqlType("DOUBLE", Family.NUMBER, Order.DENSE)
DATE = SqlType("DATE", Family.INSTANT, Order.DISCRETE, Fraction(DAY))
TIMESTAMP = SqlType("TIMESTAMP", Family.INSTANT, Order.DISCRETE, Fraction(1))
BOOLEAN = SqlType("BOOLEAN", Family.BOOLEAN, Order.DISCRETE, Fraction(1), (0, 1))
TEXT = SqlType("TEXT", Family.TEXT, Order.UNORDERED)


def decimal(precision: int, scale: int) -> SqlType:
    return SqlType(
        f"DECIMAL({precision},{scale})", Family.NUMBER, Order.DISCRETE, Fraction(1, 10**scale)
    )


def enumeration(values: tuple[str, ...]) -> SqlType:
    listed = ", ".join(TEXT.literal(value) for value in values)
    return SqlType(f"ENUM({listed})", Family.TEXT, Order.UNORDERED, values=values)
