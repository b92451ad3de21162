"""How a STARQL query is evaluated window by window.

At each tick of the clock, the patterns of the query become tables: one row per match, with its
state and its terms. The answers are a selection over these tables. FORALL and NOT are matches that
must be missing, so that a selection is a join of patterns and states with conditions on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum

from obda_bm.diagnostics import Diagnostic
from obda_bm.ir.catalog import Relation
from obda_bm.ir.formula_text import expression_text, formula_text
from obda_bm.ir.formulas import Comparison, Expression, Formula, FunctionCall, Not
from obda_bm.ir.rdf import Variable
from obda_bm.ir.sqltypes import TIMESTAMP
from obda_bm.ir.starql import Construct
from obda_bm.ir.ucq import ConjunctiveQuery
from obda_bm.ir.unfolded import UnfoldedBranch
from obda_bm.ir.verdict import Bound, State

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Facet(Enum):
    """What is asked about a term, apart from which one it is."""

    ORDER = "order"
    NUMBER = "number"
    TEXT = "text"
    DATATYPE = "datatype"
    LANGUAGE = "language"
    INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class WindowedStream:
    """At tick T, the tuples with T - begin <= time <= T - end, in microseconds."""

    relation: Relation
    begin: int
    end: int

    def __str__(self) -> str:
        return f"{self.relation.name} [{_before_now(self.begin)}, {_before_now(self.end)}]"


@dataclass(frozen=True, slots=True)
class Clock:
    """The ticks `start + k·slide` until `end`, in microseconds since 1970.

    Without a start they begin with the data, rounded down to the slide; without a slide, every
    timestamp of the data is a tick.
    """

    start: int | None = None
    end: int | None = None
    slide: int | None = None

    def __str__(self) -> str:
        every = "at every timestamp" if self.slide is None else f"every {_length(self.slide)}"
        since = "" if self.start is None else f" from {moment(self.start)}"
        until = "" if self.end is None else f" until {moment(self.end)}"
        return every + since + until


def moment(microseconds: int) -> str:
    """A point in time as xsd:dateTime writes it, in UTC."""
    time = _EPOCH + timedelta(microseconds=microseconds)
    return time.replace(tzinfo=None).isoformat() + "Z"


def _length(microseconds: int) -> str:
    return TIMESTAMP.duration(microseconds)


def _before_now(microseconds: int) -> str:
    return f"NOW - {_length(microseconds)}" if microseconds else "NOW"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A table of matches: the certain answers of `query` in each state of the window.

    The first answer of a query with a state is the state's timestamp. A query without one is about
    the static data together with all assertions of the window.
    """

    name: str
    query: ConjunctiveQuery
    branches: tuple[UnfoldedBranch, ...]

    @property
    def is_timed(self) -> bool:
        return any(atom.state is not None for atom in self.query.body)

    def __str__(self) -> str:
        body = ", ".join(map(str, self.query.body))
        head = ", ".join(map(str, self.query.head))
        rows = "".join(f"\n    {branch}" for branch in self.branches)
        return f"{self.name}({head}) :- {body}{rows or ' (no mapping gives it)'}"


@dataclass(frozen=True, slots=True)
class Match:
    """A row of a pattern's table, whose columns are the state and the variables."""

    pattern: str
    state: str | None
    variables: tuple[Variable, ...]

    def __str__(self) -> str:
        at = "" if self.state is None else f"<{self.state}>"
        return f"{self.pattern}({', '.join(map(str, self.variables))}){at}"


@dataclass(frozen=True, slots=True)
class AnyState:
    """A state of the window, whatever holds in it."""

    state: str

    def __str__(self) -> str:
        return f"state {self.state}"


@dataclass(frozen=True, slots=True)
class Range:
    """A value that some of `matches`, each for itself, gives the variable in the window."""

    variable: Variable
    matches: tuple[Match, ...]

    def __str__(self) -> str:
        return f"{self.variable} in {' ∪ '.join(map(str, self.matches))}"


Source = Match | AnyState | Range


@dataclass(frozen=True, slots=True)
class Missing:
    """None of the selections has a row."""

    selections: tuple[Selection, ...]

    def __str__(self) -> str:
        return f"none of {' or '.join(f'[{s}]' for s in self.selections)}"


Condition = Comparison | FunctionCall | Not | Missing


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of all `sources` together, equal variables being equal, that meet `conditions`."""

    sources: tuple[Source, ...]
    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return ", ".join((*map(str, self.sources), *map(_condition_text, self.conditions)))


def _condition_text(condition: Condition) -> str:
    return str(condition) if isinstance(condition, Missing) else formula_text(condition)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Bindings are grouped by `variables`; `states` tell bindings apart that are equal otherwise.

    `having` must hold of a group.
    """

    variables: tuple[Variable, ...]
    states: tuple[str, ...]
    having: Formula | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A column of the answers."""

    name: str
    expression: Expression

    def __str__(self) -> str:
        text = expression_text(self.expression)
        return text if text == f"?{self.name}" else f"{text} AS ?{self.name}"


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """A query with a window on every stream.

    `variables` are those that tell one binding from another. `construct` is set for CONSTRUCT: the
    answers are then the bindings of its variables.
    """

    streams: tuple[WindowedStream, ...]
    statics: tuple[Relation, ...]
    clock: Clock
    patterns: tuple[Pattern, ...]
    selections: tuple[Selection, ...]
    variables: tuple[Variable, ...]
    answers: tuple[Answer, ...]
    grouping: Grouping | None = None
    construct: Construct | None = None
    base: str = ""
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(answer.name for answer in self.answers)

    @property
    def relations(self) -> tuple[Relation, ...]:
        return (*(stream.relation for stream in self.streams), *self.statics)

    @property
    def bound(self) -> Bound:
        """The tuples of one window of every stream."""
        return Bound(tuple(map(_state, self.streams)))

    def pattern(self, name: str) -> Pattern:
        return next(pattern for pattern in self.patterns if pattern.name == name)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def _state(stream: WindowedStream) -> State:
    name = stream.relation.name
    return State((name,), (), "its tuples", copies=f"rate({name})·{_length(stream.begin)}")


def _lines(plan: WindowPlan) -> Iterator[str]:
    yield f"Tick {plan.clock}"
    yield from (f"  Window {stream}" for stream in plan.streams)
    yield from (f"  Pattern {pattern}" for pattern in plan.patterns)
    yield f"  Answer {', '.join(map(str, plan.answers))}"
    if plan.grouping is not None:
        yield f"  Group by {', '.join(map(str, plan.grouping.variables)) or 'nothing'}"
        if plan.grouping.having is not None:
            yield f"  Having {formula_text(plan.grouping.having)}"
    yield from (f"  Where {selection}" for selection in plan.selections)
