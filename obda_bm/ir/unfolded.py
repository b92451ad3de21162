"""Queries over the catalog together with how their rows become RDF terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from obda_bm.diagnostics import Diagnostic, Span
from obda_bm.ir.lexical import NUMBERS, NUMERIC_DATATYPES, Writing, writing_of
from obda_bm.ir.mapping import TermKind
from obda_bm.ir.rdf import Iri, Literal
from obda_bm.ir.spj import SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import INTEGER, TEXT, SqlType
from obda_bm.ir.terms import ColumnRef


@dataclass(frozen=True, slots=True)
class Slot:
    """A column whose value goes into a term."""

    column: ColumnRef
    type: SqlType

    def __str__(self) -> str:
        return f"{{{self.column}}}"


@dataclass(frozen=True, slots=True)
class FixedTerm:
    term: Iri | Literal

    def __str__(self) -> str:
        return str(self.term)


@dataclass(frozen=True, slots=True)
class TemplateTerm:
    """Texts and columns in turn; the values are percent-encoded unless it is a literal."""

    kind: TermKind
    parts: tuple[str | Slot, ...]
    datatype: str = ""
    language: str = ""

    def __str__(self) -> str:
        text = "".join(map(str, self.parts))
        return _written(self.kind, text, self.datatype, self.language)


@dataclass(frozen=True, slots=True)
class ColumnTerm:
    """A column's value itself: a literal, or an IRI that the data holds."""

    kind: TermKind
    slot: Slot
    datatype: str = ""
    language: str = ""

    def __str__(self) -> str:
        return _written(self.kind, str(self.slot), self.datatype, self.language)


TermBuilder = FixedTerm | TemplateTerm | ColumnTerm


def _written(kind: TermKind, text: str, datatype: str, language: str) -> str:
    match kind:
        case TermKind.IRI:
            return f"<{text}>"
        case TermKind.BLANK_NODE:
            return f"_:{text}"
        case TermKind.LITERAL:
            suffix = f"@{language}" if language else f"^^<{datatype}>" if datatype else ""
            return f'"{text}"{suffix}'


def slots_of(builder: TermBuilder) -> Iterator[Slot]:
    """The slots of a term, from left to right."""
    match builder:
        case FixedTerm():
            return
        case ColumnTerm(_, slot):
            yield slot
        case TemplateTerm(_, parts):
            yield from (part for part in parts if isinstance(part, Slot))


def with_columns(builder: TermBuilder, columns: Iterator[ColumnRef]) -> TermBuilder:
    """`builder` with its slots, from left to right, reading other columns."""
    old = slots_of(builder)
    return _with_slots(builder, (replace(s, column=c) for s, c in zip(old, columns, strict=False)))


def _with_slots(builder: TermBuilder, slots: Iterator[Slot]) -> TermBuilder:
    match builder:
        case FixedTerm():
            return builder
        case ColumnTerm():
            return replace(builder, slot=next(slots))
        case TemplateTerm(_, parts):
            new = tuple(next(slots) if isinstance(part, Slot) else part for part in parts)
            return replace(builder, parts=new)


def shape_of(builder: TermBuilder) -> TermBuilder:
    """What a term is apart from where its values come from.

    Terms of one shape are equal exactly if their values are; types that write equal values alike
    are not told apart.
    """
    numeric = isinstance(builder, ColumnTerm) and builder.datatype in NUMERIC_DATATYPES
    alike = NUMBERS if numeric else frozenset({Writing.INTEGER, Writing.DECIMAL})
    slots = [
        Slot(ColumnRef("", str(i)), _representative(slot.type, alike))
        for i, slot in enumerate(slots_of(builder))
    ]
    return _with_slots(builder, iter(slots))


def _representative(type_: SqlType, alike: frozenset[Writing]) -> SqlType:
    writing = writing_of(type_)
    if writing in alike:
        return INTEGER
    return TEXT if writing is Writing.TEXT else type_


@dataclass(frozen=True, slots=True)
class Origin:
    """The mapping that gave an atom its rows."""

    atom: str
    triples_map: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        place = f" ({self.span.source.name}:{self.span.line})" if self.span else ""
        return f"{self.atom} from {self.triples_map}{place}"


@dataclass(frozen=True, slots=True)
class UnfoldedBranch:
    """`query` projects what `terms` need; their slots name its output columns."""

    query: SpjQuery
    terms: tuple[TermBuilder, ...]
    origins: tuple[Origin, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.terms))}) ← {self.query}"


@dataclass(frozen=True, slots=True)
class Unfolded:
    """A union of queries, and beside each branch how its rows become answers.

    `query` is None where no mapping can give an answer. All branches of `query` project the same
    columns; those of `branches`, which are in the same order, project what they need. Warnings tell
    which parts can never have answers.
    """

    names: tuple[str, ...]
    query: SpjUnion | None
    branches: tuple[UnfoldedBranch, ...]
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return "\n".join(map(str, self.branches)) or "no answers"


@dataclass(frozen=True, slots=True)
class RowTerm:
    """An answer column of the union: `told_by` holds the name of the builder that a row needs.

    The slots of `builders` name columns of the union.
    """

    name: str
    told_by: str | None
    builders: tuple[tuple[str, TermBuilder], ...]
