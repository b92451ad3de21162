"""Triples maps and their parsed tables -> mapping assertions: a query, and the triple it makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from obda_bm.diagnostics import Diagnostic, Span, UnfoldingError, did_you_mean
from obda_bm.ir.lexical import iri_safe, write_number, writing_of
from obda_bm.ir.mapping import (
    ColumnValue,
    Identifier,
    JoinCondition,
    MappingSet,
    ParentSubject,
    Template,
    TermKind,
    TermMap,
    TriplePattern,
    TriplesMap,
)
from obda_bm.ir.rdf import RDF, STRING, Iri, Literal
from obda_bm.ir.spj import Output, SpjQuery
from obda_bm.ir.sqltypes import Family, SqlType
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Op, Term
from obda_bm.ir.unfolded import ColumnTerm, FixedTerm, Slot, TemplateTerm, TermBuilder, slots_of
from obda_bm.unfolding.aliases import rename_apart
from obda_bm.unfolding.mistakes import Mistake

Tables = Mapping[str, tuple[SpjQuery, ...]]
"""By triples map, the branches of its logical table; none where it is no union of SPJ queries."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """Each row of `source` makes the triple; the builders read the source's occurrences."""

    source: SpjQuery
    subject: TermBuilder
    predicate: TermBuilder
    object: TermBuilder
    triples_map: str
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def terms(self) -> tuple[TermBuilder, TermBuilder, TermBuilder]:
        return (self.subject, self.predicate, self.object)

    @property
    def time(self) -> ColumnRef | None:
        """The time column of the stream that the source reads, or None."""
        return next((o.time for o in self.source.occurrences if o.time is not None), None)


def assertions_of(
    mappings: MappingSet, tables: Tables, problems: list[Diagnostic]
) -> Iterator[Assertion]:
    """What every triples map asserts; names that its table does not have are problems."""
    by_id = {m.id: m for m in mappings.triples_maps}
    for each in mappings.triples_maps:
        for query in tables.get(each.id, ()):
            for pattern in each.triples:
                try:
                    yield from _assertions(each, pattern, query, by_id, tables, mappings.base)
                except UnfoldingError as error:
                    problems += (d for d in error.diagnostics if d not in problems)


def _assertions(
    each: TriplesMap,
    pattern: TriplePattern,
    query: SpjQuery,
    by_id: Mapping[str, TriplesMap],
    tables: Tables,
    base: str,
) -> Iterator[Assertion]:
    predicate = build_term(pattern.predicate, query, base)
    match pattern.object:
        case TermMap() as term:
            subject, object_ = build_term(each.subject, query, base), build_term(term, query, base)
            yield Assertion(query, subject, predicate, object_, each.id, term.span)
        case ParentSubject(parent, joins) as ref:
            for joined, others in _joined(query, by_id[parent], joins, tables):
                subject = build_term(each.subject, joined, base)
                object_ = build_term(by_id[parent].subject, others, base)
                yield Assertion(joined, subject, predicate, object_, each.id, ref.span)


def _joined(
    child: SpjQuery, parent: TriplesMap, joins: tuple[JoinCondition, ...], tables: Tables
) -> Iterator[tuple[SpjQuery, SpjQuery]]:
    """The joint query, projecting the child's columns, and the same projecting the parent's.

    Without a condition both tables are the same, and both subjects are of one row
    ([R2RML] section 8).
    """
    if not joins:
        yield child, child
        return
    for other in tables.get(parent.id, ()):
        renamed = rename_apart(other, {o.alias for o in child.occurrences})
        equal = tuple(_equality(join, child, renamed) for join in joins)
        predicates = child.predicates + renamed.predicates + equal
        occurrences = child.occurrences + renamed.occurrences
        yield (
            SpjQuery(occurrences, child.projection, predicates),
            SpjQuery(occurrences, renamed.projection, predicates),
        )


def _equality(join: JoinCondition, child: SpjQuery, parent: SpjQuery) -> Comparison:
    left = _output(join.child, child, join.span)
    right = _output(join.parent, parent, join.span)
    types = _type_of(left.term, child), _type_of(right.term, parent)
    if types[0].family is not types[1].family:
        message = f"{join.child} is {types[0]}, {join.parent} is {types[1]}"
        hint = "Join columns of one type."
        raise Mistake.MIXED_TYPES.error(join.span, message, hint)
    return Comparison(left.term, Op.EQ, right.term, span=join.span)


def build_term(term: TermMap, query: SpjQuery, base: str) -> TermBuilder:
    """How the rows of `query` become the term."""
    match term.value:
        case Iri() | Literal():
            return FixedTerm(term.value)
        case ColumnValue(column):
            return _column_term(term, _part(column, query, term.span))
        case Template(parts):
            built = tuple(
                part if isinstance(part, str) else _part(part, query, term.span) for part in parts
            )
            return _template_term(term, built, base)


def _column_term(term: TermMap, part: Slot | Constant) -> TermBuilder:
    datatype = term.datatype or ("" if term.language else writing_of(part.type).datatype)
    match term.kind, part:
        case TermKind.BLANK_NODE, Slot():
            return TemplateTerm(term.kind, (part,))
        case TermKind.IRI, Slot():
            return ColumnTerm(term.kind, part)
        case TermKind.LITERAL, Slot():
            return ColumnTerm(term.kind, part, datatype, term.language)
        case TermKind.LITERAL, Constant():
            language = RDF + "langString" if term.language else datatype
            return FixedTerm(Literal(_text(part), language, term.language))
        case _, Constant():
            return FixedTerm(Iri(_text(part)))
    raise AssertionError(f"no such kind of term: {term.kind}")


def _template_term(
    term: TermMap, parts: tuple[str | Slot | Constant, ...], base: str
) -> TermBuilder:
    literal = term.kind is TermKind.LITERAL
    texts = tuple(
        (_text(part) if literal else iri_safe(_text(part))) if isinstance(part, Constant) else part
        for part in parts
    )
    merged = _merged(_based(texts, base) if term.kind is TermKind.IRI else texts)
    datatype = (term.datatype or STRING) if literal and not term.language else ""
    if any(isinstance(part, Slot) for part in merged):
        return TemplateTerm(term.kind, merged, datatype, term.language)
    text = "".join(part for part in merged if isinstance(part, str))
    if not literal:
        return FixedTerm(Iri(text))
    return FixedTerm(Literal(text, datatype or RDF + "langString", term.language))


def _based(parts: tuple[str | Slot, ...], base: str) -> tuple[str | Slot, ...]:
    """A relative template with the base before it, as [R2RML] section 11.2 makes IRIs."""
    start = parts[0] if parts and isinstance(parts[0], str) else ""
    scheme = start.partition(":")[0]
    absolute = ":" in start and scheme[:1].isalpha() and scheme.replace("-", "").isalnum()
    return parts if absolute else (base, *parts)


def _merged(parts: tuple[str | Slot, ...]) -> tuple[str | Slot, ...]:
    merged: list[str | Slot] = []
    for part in parts:
        if merged and isinstance(part, str) and isinstance(merged[-1], str):
            merged[-1] += part
        elif part != "":
            merged.append(part)
    return tuple(merged)


def _text(constant: Constant) -> str:
    """The natural lexical form of a constant that a view projects."""
    value = constant.value
    match constant.type.family:
        case Family.TEXT:
            return str(value)
        case Family.BOOLEAN:
            return "true" if value else "false"
        case Family.NUMBER:
            assert not isinstance(value, str)
            return write_number(Fraction(value), writing_of(constant.type))
        case Family.INSTANT:
            quoted = constant.type.literal(value).partition(" ")[2].strip("'")
            return quoted.replace(" ", "T")


def _part(column: Identifier, query: SpjQuery, span: Span | None) -> Slot | Constant:
    output = _output(column, query, span)
    match output.term:
        case ColumnRef():
            return Slot(replace(output.term, span=span), query.column(output.term).type)
        case Constant():
            return output.term


def _type_of(term: Term, query: SpjQuery) -> SqlType:
    return query.column(term).type if isinstance(term, ColumnRef) else term.type


def _output(column: Identifier, query: SpjQuery, span: Span | None) -> Output:
    """The column of a logical table; in any case, if none is spelled exactly so."""
    outputs = query.projection
    found = [o for o in outputs if o.name == column.name]
    found = found or [o for o in outputs if o.name.lower() == column.name.lower()]
    if len(found) == 1:
        return found[0]
    if found:
        message = f"the table has two columns {column.name!r}"
        raise Mistake.AMBIGUOUS_COLUMN.error(span, message, "Give them different aliases.")
    names = [output.name for output in outputs]
    hint = did_you_mean(column.name, names) or f"The columns are {', '.join(names[:12])}."
    raise Mistake.UNKNOWN_COLUMN.error(span, f"unknown column {column.name!r}", hint)


def required(assertion: Assertion) -> tuple[ColumnRef, ...]:
    """The columns without a value of which there is no triple."""
    return tuple(dict.fromkeys(slot.column for t in assertion.terms for slot in slots_of(t)))
