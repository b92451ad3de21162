"""STARQL documents as the user wrote them: prefixes, pulses, aggregates and streams.

Positions never affect equality. `str(document)` is a text that parses to an equal document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from obda_bm.diagnostics import Span
from obda_bm.ir.formulas import Duplicates, Duration, Expression, Formula, GroupPattern, Operand
from obda_bm.ir.rdf import Iri, Variable
from obda_bm.ir.ucq import Atom


@dataclass(frozen=True, slots=True)
class Prefix:
    name: str
    namespace: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pulse:
    """Results are reported every `frequency` from `start` to `end`; inline ones are nameless."""

    name: str
    start: datetime | None = None
    end: datetime | None = None
    frequency: Duration | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PulseName:
    """`USING PULSE name`."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Window:
    """`[NOW - begin, NOW - end] -> slide`; without a slide it moves with every marker."""

    begin: Duration
    end: Duration
    slide: Duration | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SourceStream:
    """A stream of the setting, or one that CREATE STREAM made; no window is the whole history.

    `slack` is how late an assertion may come and still count.
    """

    name: str
    window: Window | None = None
    slack: Duration | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Resource:
    """Static data or an ontology, by IRI or by a name of the setting."""

    reference: Iri | str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SequenceBy:
    """`SEQUENCE BY method AS name`; StdSeq gives one state per timestamp."""

    method: str
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SelectItem:
    """A column of the answer: a variable, or an expression with a name."""

    expression: Expression
    alias: Variable | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.alias is None and not isinstance(self.expression, Operand):
            raise ValueError("an expression in SELECT needs a name")

    @property
    def name(self) -> str:
        named = self.alias or getattr(self.expression, "term", None)
        assert isinstance(named, Variable)
        return named.name


@dataclass(frozen=True, slots=True)
class Select:
    items: tuple[SelectItem, ...]
    duplicates: Duplicates = Duplicates.KEEP
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Construct:
    """`CONSTRUCT GRAPH NOW { atoms }`: assertions that hold at the time of output."""

    atoms: tuple[Atom, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


Output = Select | Construct


@dataclass(frozen=True, slots=True)
class GroupBy:
    variables: tuple[Variable, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StarqlQuery:
    """One query; what is not written is empty or None."""

    output: Output
    streams: tuple[SourceStream, ...]
    static_data: tuple[Resource, ...] = ()
    ontologies: tuple[Resource, ...] = ()
    pulse: PulseName | Pulse | None = None
    where: GroupPattern | None = None
    sequence: SequenceBy | None = None
    having: Formula | None = None
    group_by: GroupBy | None = None
    having_aggregate: Formula | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def row_conditions(self) -> tuple[Formula, ...]:
        """What must hold before anything is grouped: the FILTERs of WHERE, and HAVING."""
        static = self.where.filters if self.where else ()
        return static if self.having is None else (*static, self.having)

    @property
    def conditions(self) -> tuple[Formula, ...]:
        """All conditions, in the order of their clauses."""
        grouped = () if self.having_aggregate is None else (self.having_aggregate,)
        return self.row_conditions + grouped

    def __str__(self) -> str:
        from obda_bm.ir.starql_text import NO_NAMES, query_clauses

        return "\n".join(clause.text for clause in query_clauses(self, NO_NAMES))


@dataclass(frozen=True, slots=True)
class OutputStream:
    """`CREATE STREAM name AS query`; a document's single query may be nameless."""

    name: str
    query: StarqlQuery
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AggregateMacro:
    """`CREATE AGGREGATE name ($p, ...) AS body`."""

    name: str
    parameters: tuple[str, ...]
    body: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


Declaration = Pulse | AggregateMacro | OutputStream


@dataclass(frozen=True, slots=True)
class StarqlDocument:
    """What a text declares, in its order."""

    prefixes: tuple[Prefix, ...]
    declarations: tuple[Declaration, ...]
    base: str = ""

    @property
    def pulses(self) -> tuple[Pulse, ...]:
        return tuple(d for d in self.declarations if isinstance(d, Pulse))

    @property
    def aggregates(self) -> tuple[AggregateMacro, ...]:
        return tuple(d for d in self.declarations if isinstance(d, AggregateMacro))

    @property
    def streams(self) -> tuple[OutputStream, ...]:
        return tuple(d for d in self.declarations if isinstance(d, OutputStream))

    def __str__(self) -> str:
        from obda_bm.ir.starql_text import document_text

        return document_text(self)


def same_name(left: str, right: str) -> bool:
    """Whether both name one pulse, sequence or aggregate; the publications vary the spelling.

    >>> same_name("SEQ1", "seq1"), same_name("MONOTONIC.HAVING", "monotonic:having")
    (True, True)
    """
    return left.casefold().replace(".", ":") == right.casefold().replace(".", ":")
