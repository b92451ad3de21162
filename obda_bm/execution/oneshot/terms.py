"""Rows -> RDF terms, as a term map or a term builder says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from obda_bm.execution.oneshot.values import (
    Resource,
    SqlValue,
    blank_node,
    encoded,
    iri,
    literal,
    natural_literal,
)
from obda_bm.ir.mapping import ColumnValue, Identifier, Template, TermKind, TermMap
from obda_bm.ir.rdf import Iri, Literal
from obda_bm.ir.unfolded import ColumnTerm, FixedTerm, Slot, TemplateTerm, TermBuilder

Row = tuple[SqlValue, ...]
Make = Callable[[Row], Resource | None]
"""The term of a row; None where a value that it needs is NULL."""


def from_term_map(term: TermMap, at: Mapping[Identifier, int], base: str) -> Make:
    """How a row becomes the term; `at` says where in the row a column stands."""
    match term.value:
        case Iri() | Literal() as constant:
            return lambda _row: constant
        case ColumnValue(column):
            return _from_column(term.kind, at[column], term.datatype or "", term.language, base)
        case Template(parts):
            places = tuple(at[p] if isinstance(p, Identifier) else p for p in parts)
            return _from_template(term.kind, places, term.datatype or "", term.language, base)


def from_builder(builder: TermBuilder, at: Mapping[str, int], base: str) -> Make:
    """How a row of an unfolded query becomes the term."""
    match builder:
        case FixedTerm(constant):
            return lambda _row: constant
        case ColumnTerm(kind, slot, datatype, language):
            return _from_column(kind, at[slot.column.column], datatype, language, base)
        case TemplateTerm(kind, parts, datatype, language):
            places = tuple(at[p.column.column] if isinstance(p, Slot) else p for p in parts)
            return _from_template(kind, places, datatype, language, base)


def _from_column(kind: TermKind, at: int, datatype: str, language: str, base: str) -> Make:
    def make(row: Row) -> Resource | None:
        value = row[at]
        if value is None:
            return None
        match kind:
            case TermKind.IRI:
                return iri(natural_literal(value).lexical, base)
            case TermKind.BLANK_NODE:
                return blank_node(encoded(value))
            case TermKind.LITERAL:
                return literal(value, datatype, language)

    return make


def _from_template(
    kind: TermKind, parts: tuple[str | int, ...], datatype: str, language: str, base: str
) -> Make:
    columns = [part for part in parts if isinstance(part, int)]

    def make(row: Row) -> Resource | None:
        if any(row[at] is None for at in columns):
            return None
        if kind is TermKind.LITERAL:
            text = "".join(_texts(parts, row))
            return literal(text, datatype, language)
        text = "".join(p if isinstance(p, str) else encoded(row[p]) for p in parts)
        return iri(text, base) if kind is TermKind.IRI else blank_node(text)

    return make


def _texts(parts: tuple[str | int, ...], row: Row) -> list[str]:
    return [p if isinstance(p, str) else natural_literal(row[p]).lexical for p in parts]
