"""Expressions and conditions of STARQL: what FILTER, HAVING and SELECT say.

A macro's parameter `$p` stands as the variable `$p`, and as the relative IRI `$p` where a class or
property is named; expansion replaces both, so no later stage sees them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from obda_bm.diagnostics import Span
from obda_bm.ir.rdf import XSD, Literal, RdfTerm, Variable
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import Atom

DURATION = XSD + "duration"
PARAMETER = "$"


class ArithmeticOp(Enum):
    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"


class Quantifier(Enum):
    EXISTS = "EXISTS"
    FORALL = "FORALL"


class AggregateFunction(Enum):
    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"


class Duplicates(Enum):
    KEEP = ""
    ELIMINATE = "DISTINCT"


class Function(Enum):
    """The functions of SPARQL that make sense here; the last ones are conditions."""

    ABS = "ABS"
    CEIL = "CEIL"
    FLOOR = "FLOOR"
    ROUND = "ROUND"
    STR = "STR"
    LANG = "LANG"
    DATATYPE = "DATATYPE"
    STRLEN = "STRLEN"
    UCASE = "UCASE"
    LCASE = "LCASE"
    YEAR = "YEAR"
    MONTH = "MONTH"
    DAY = "DAY"
    HOURS = "HOURS"
    MINUTES = "MINUTES"
    SECONDS = "SECONDS"
    CONTAINS = "CONTAINS"
    STRSTARTS = "STRSTARTS"
    STRENDS = "STRENDS"
    REGEX = "REGEX"

    @property
    def is_condition(self) -> bool:
        return self in CONDITIONS

    @property
    def arity(self) -> int:
        return 2 if self.is_condition else 1


CONDITIONS = {Function.CONTAINS, Function.STRSTARTS, Function.STRENDS, Function.REGEX}


@dataclass(frozen=True, slots=True)
class Operand:
    """A variable or constant where a value is meant."""

    term: RdfTerm
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.term, Literal) and self.term.datatype == DURATION:
            raise ValueError(f"a duration is a Duration, not an Operand: {self.term}")


@dataclass(frozen=True, slots=True)
class State:
    """A state variable; it ranges over the timestamps of a sequence."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time that is the same everywhere: no months, no years."""

    microseconds: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    left: Expression
    op: ArithmeticOp
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Minus:
    operand: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    function: Function
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.arguments) != self.function.arity:
            raise ValueError(f"{self.function.value} takes {self.function.arity} arguments")


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the group; `argument` None is `COUNT(*)`."""

    function: AggregateFunction
    argument: Expression | None
    duplicates: Duplicates = Duplicates.KEEP
    span: Span | None = field(default=None, compare=False, repr=False)


Expression = Operand | State | Duration | Arithmetic | Minus | FunctionCall | Aggregate


@dataclass(frozen=True, slots=True)
class Comparison:
    left: Expression
    op: Op
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupPattern:
    """Triple patterns and the FILTERs beside them, all of which must hold."""

    atoms: tuple[Atom, ...] = ()
    filters: tuple[Formula, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StatePattern:
    """`GRAPH state { pattern }`: the pattern holds in that state."""

    state: str
    pattern: GroupPattern
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction of at least two, none of which is a conjunction itself."""

    parts: tuple[Formula, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.parts) < 2 or any(isinstance(part, And) for part in self.parts):
            raise ValueError("a conjunction has two parts or more, and is flat")


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction of at least two, none of which is a disjunction itself."""

    parts: tuple[Formula, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.parts) < 2 or any(isinstance(part, Or) for part in self.parts):
            raise ValueError("a disjunction has two parts or more, and is flat")


@dataclass(frozen=True, slots=True)
class Not:
    part: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IfThen:
    guard: Formula
    consequence: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Quantified:
    """`quantifier states IN sequence values (body)`."""

    quantifier: Quantifier
    states: tuple[str, ...]
    sequence: str
    values: tuple[Variable, ...]
    body: Formula
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.states:
            raise ValueError("a quantifier binds a state variable at least")


Argument = RdfTerm | State


@dataclass(frozen=True, slots=True)
class MacroCall:
    """A call of what CREATE AGGREGATE defined."""

    name: str
    arguments: tuple[Argument, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


Formula = (
    Comparison | StatePattern | And | Or | Not | IfThen | Quantified | MacroCall | FunctionCall
)


def conjunction(parts: tuple[Formula, ...], span: Span | None = None) -> Formula:
    """`parts` joined by AND, flat; a single part is itself."""
    flat = tuple(p for part in parts for p in (part.parts if isinstance(part, And) else (part,)))
    return And(flat, span) if len(flat) > 1 else flat[0]


def disjunction(parts: tuple[Formula, ...], span: Span | None = None) -> Formula:
    """`parts` joined by OR, flat; a single part is itself."""
    flat = tuple(p for part in parts for p in (part.parts if isinstance(part, Or) else (part,)))
    return Or(flat, span) if len(flat) > 1 else flat[0]
