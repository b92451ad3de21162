"""Mappings from rows to RDF triples, as R2RML and Ontop's native syntax write them ([R2RML])."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from obda_bm.diagnostics import Span
from obda_bm.ir.rdf import Iri, Literal


class TermKind(Enum):
    """What rr:termType says."""

    IRI = "IRI"
    BLANK_NODE = "blank node"
    LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class Identifier:
    """A SQL name as the mapping writes it; a delimited one stands in quotes and keeps its case."""

    name: str
    delimited: bool = False

    def __str__(self) -> str:
        return f'"{self.name}"' if self.delimited else self.name


@dataclass(frozen=True, slots=True)
class Template:
    """Texts and columns in turn: `http://example.com/sensor/{id}`."""

    parts: tuple[str | Identifier, ...]

    @property
    def columns(self) -> tuple[Identifier, ...]:
        return tuple(part for part in self.parts if isinstance(part, Identifier))

    def __str__(self) -> str:
        return "".join(p if isinstance(p, str) else f"{{{p}}}" for p in self.parts)


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """The value of a column itself, not percent-encoded."""

    column: Identifier

    def __str__(self) -> str:
        return f"{{{self.column}}}"


TermValue = Iri | Literal | ColumnValue | Template


@dataclass(frozen=True, slots=True)
class TermMap:
    """How one term of a triple is made from a row.

    `datatype` None means the natural one of the column ([R2RML] section 10.2), or xsd:string for a
    template.
    """

    value: TermValue
    kind: TermKind
    datatype: str | None = None
    language: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def columns(self) -> tuple[Identifier, ...]:
        match self.value:
            case ColumnValue(column):
                return (column,)
            case Template():
                return self.value.columns
            case Iri() | Literal():
                return ()

    def __str__(self) -> str:
        match self.value:
            case Template() | ColumnValue() if self.kind is TermKind.IRI:
                return f"<{self.value}>"
            case Template() | ColumnValue():
                suffix = f"@{self.language}" if self.language else ""
                suffix = suffix or (f"^^<{self.datatype}>" if self.datatype else "")
                return ("_:" if self.kind is TermKind.BLANK_NODE else "") + f"{self.value}{suffix}"
            case Iri() | Literal():
                return str(self.value)


@dataclass(frozen=True, slots=True)
class JoinCondition:
    child: Identifier
    parent: Identifier
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ParentSubject:
    """An object that is the subject of another triples map (rr:parentTriplesMap)."""

    parent: str
    joins: tuple[JoinCondition, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """One triple per row, in each of `graphs`; in the default graph where there are none.

    A class (rr:class) is a pattern with the predicate rdf:type.
    """

    predicate: TermMap
    object: TermMap | ParentSubject
    graphs: tuple[TermMap, ...] = ()


@dataclass(frozen=True, slots=True)
class BaseTable:
    """A table or stream; several identifiers where a schema qualifies it."""

    name: tuple[Identifier, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return ".".join(map(str, self.name))


@dataclass(frozen=True, slots=True)
class SqlView:
    """The query of rr:sqlQuery, or of a source in Ontop's syntax.

    `span` is what stands between the quotes, or the whole literal where it has escapes.
    """

    sql: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.sql


LogicalTable = BaseTable | SqlView


@dataclass(frozen=True, slots=True)
class TriplesMap:
    id: str
    table: LogicalTable
    subject: TermMap
    triples: tuple[TriplePattern, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def term_maps(self) -> Iterator[TermMap]:
        """Every term map over the rows of this table, in the order of the text, without repeats."""
        yield self.subject
        seen: set[int] = set()
        for triple in self.triples:
            for term in (triple.predicate, triple.object, *triple.graphs):
                if isinstance(term, TermMap) and id(term) not in seen:
                    seen.add(id(term))
                    yield term


@dataclass(frozen=True, slots=True)
class MappingSet:
    """Triples maps of one or several files; `base` resolves relative IRIs that columns hold."""

    triples_maps: tuple[TriplesMap, ...]
    base: str = "http://example.com/base/"

    def find(self, id_: str) -> TriplesMap | None:
        return next((m for m in self.triples_maps if m.id == id_), None)
