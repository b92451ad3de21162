"""Mappings over a database -> the RDF dataset they make, quad by quad."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from obda_bm.diagnostics import Diagnostic, Span, did_you_mean
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.execution.oneshot.database import Database
from obda_bm.execution.oneshot.terms import Make, Row, from_term_map
from obda_bm.execution.oneshot.values import Resource
from obda_bm.ir.mapping import (
    BaseTable,
    Identifier,
    LogicalTable,
    MappingSet,
    ParentSubject,
    SqlView,
    TermMap,
    TriplePattern,
    TriplesMap,
)
from obda_bm.ir.rdf import Iri

DEFAULT_GRAPH = Iri("http://www.w3.org/ns/r2rml#defaultGraph")


@dataclass(frozen=True, slots=True)
class Quad:
    subject: Resource
    predicate: Resource
    object: Resource
    graph: Resource | None = None

    def __str__(self) -> str:
        """The quad as N-Quads writes it."""
        graph = "" if self.graph is None else f" {self.graph}"
        return f"{self.subject} {self.predicate} {self.object}{graph} ."


def materialize(mappings: MappingSet, database: Database) -> Iterator[Quad]:
    """The quads of all triples maps; a row that repeats gives its quads again.

    Raises:
        ExecutionError: where a query fails, or a row makes no valid term.
    """
    for each in mappings.triples_maps:
        yield from _own_triples(each, mappings, database)
        for pattern in each.triples:
            match pattern.object:
                case ParentSubject() as ref if ref.joins:
                    yield from _joined_triples(each, pattern, ref, mappings, database)


def _own_triples(each: TriplesMap, mappings: MappingSet, database: Database) -> Iterator[Quad]:
    """The triples whose terms are all made from one row of the table."""
    result = database.query(table_sql(each.table), each.table.span)
    _require_different(result.names, each.table.span)
    patterns = [p for p in (_single_row(p, mappings) for p in each.triples) if p is not None]
    terms = [each.subject, *(t for p in patterns for t in _terms(p))]
    at = _positions(terms, result.names, database)
    writers = [_Writer.of(each.subject, pattern, at, mappings.base) for pattern in patterns]
    for row in result.rows:
        for writer in writers:
            yield from writer.quads(row)


def _single_row(pattern: TriplePattern, mappings: MappingSet) -> TriplePattern | None:
    """The pattern, its object read from the same row; None where another row makes it."""
    match pattern.object:
        case TermMap():
            return pattern
        case ParentSubject(parent, joins):
            known = mappings.find(parent)
            assert known is not None, "loading checks that parents exist"
            return (
                None if joins else TriplePattern(pattern.predicate, known.subject, pattern.graphs)
            )


def _terms(pattern: TriplePattern) -> Iterator[TermMap]:
    yield pattern.predicate
    if isinstance(pattern.object, TermMap):
        yield pattern.object
    yield from pattern.graphs


def _joined_triples(
    each: TriplesMap,
    pattern: TriplePattern,
    ref: ParentSubject,
    mappings: MappingSet,
    database: Database,
) -> Iterator[Quad]:
    parent = mappings.find(ref.parent)
    assert parent is not None, "loading checks that parents exist"
    own = [each.subject, pattern.predicate, *pattern.graphs]
    child_columns = _distinct(own, (j.child for j in ref.joins))
    parent_columns = _distinct([parent.subject], (j.parent for j in ref.joins))
    child, other = table_sql(each.table), table_sql(parent.table)
    child_names = _resolved(child_columns, child, each.table.span, ref.span, database)
    parent_names = _resolved(parent_columns, other, parent.table.span, ref.span, database)
    outputs = [f"child.{_quoted(child_names[c])} AS c{i}" for i, c in enumerate(child_columns)]
    outputs += [f"parent.{_quoted(parent_names[c])} AS p{i}" for i, c in enumerate(parent_columns)]
    conditions = " AND ".join(
        f"child.{_quoted(child_names[j.child])} = parent.{_quoted(parent_names[j.parent])}"
        for j in ref.joins
    )
    tables = f"({child}) AS child, ({other}) AS parent"
    sql = f"SELECT {', '.join(outputs)} FROM {tables} WHERE {conditions}"
    at = {c: i for i, c in enumerate(child_columns)}
    beside = {c: len(child_columns) + i for i, c in enumerate(parent_columns)}
    object_ = from_term_map(parent.subject, beside, mappings.base)
    writer = _Writer.joined(each.subject, pattern, object_, at, mappings.base)
    for row in database.query(sql, ref.span).rows:
        yield from writer.quads(row)


def _distinct(terms: Iterable[TermMap], further: Iterable[Identifier]) -> list[Identifier]:
    return list(dict.fromkeys([*(c for term in terms for c in term.columns), *further]))


def _resolved(
    columns: list[Identifier],
    sql: str,
    table: Span | None,
    span: Span | None,
    database: Database,
) -> dict[Identifier, str]:
    names = database.query(f"SELECT * FROM ({sql}) AS t WHERE 1 = 0", table).names
    return {c: names[_position(c, names, span, database)] for c in columns}


@dataclass(frozen=True, slots=True)
class _Writer:
    """The quads that one pattern makes from a row."""

    subject: Make
    predicate: Make
    object: Make
    graphs: tuple[Make, ...]
    span: Span | None

    @classmethod
    def of(
        cls, subject: TermMap, pattern: TriplePattern, at: Mapping[Identifier, int], base: str
    ) -> _Writer:
        assert isinstance(pattern.object, TermMap), "another row makes the object"
        object_ = from_term_map(pattern.object, at, base)
        return cls.joined(subject, pattern, object_, at, base)

    @classmethod
    def joined(
        cls,
        subject: TermMap,
        pattern: TriplePattern,
        object_: Make,
        at: Mapping[Identifier, int],
        base: str,
    ) -> _Writer:
        return cls(
            from_term_map(subject, at, base),
            from_term_map(pattern.predicate, at, base),
            object_,
            tuple(from_term_map(graph, at, base) for graph in pattern.graphs),
            pattern.object.span,
        )

    def quads(self, row: Row) -> Iterator[Quad]:
        try:
            subject, predicate, object_ = self.subject(row), self.predicate(row), self.object(row)
            graphs = [graph(row) for graph in self.graphs]
        except ExecutionError as error:
            raise _at(error, self.span) from None
        if subject is None or predicate is None or object_ is None:
            return
        if not graphs:
            yield Quad(subject, predicate, object_)
        for graph in graphs:
            if graph is not None:
                yield Quad(subject, predicate, object_, None if graph == DEFAULT_GRAPH else graph)


def _at(error: ExecutionError, span: Span | None) -> ExecutionError:
    return ExecutionError(*(Diagnostic(d.code, d.message, span, d.hint) for d in error.diagnostics))


def table_sql(table: LogicalTable) -> str:
    match table:
        case SqlView(sql):
            return sql.strip().rstrip(";").rstrip()
        case BaseTable(name):
            return f"SELECT * FROM {'.'.join(map(str, name))}"


def _positions(
    terms: list[TermMap], names: tuple[str, ...], database: Database
) -> dict[Identifier, int]:
    return {
        column: _position(column, names, term.span, database)
        for term in terms
        for column in term.columns
    }


def _position(
    column: Identifier, names: tuple[str, ...], span: Span | None, database: Database
) -> int:
    found = database.find(column, names)
    if found is not None:
        return found
    quoted = column.name in names
    hint = f'Write it with quotes, as "{column.name}".' if quoted else None
    hint = hint or did_you_mean(column.name, names) or f"The columns are {', '.join(names[:12])}."
    raise Mistake.WRONG_COLUMNS.error(f"there is no column {column}", hint, span)


def _require_different(names: tuple[str, ...], span: Span | None) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        hint = "Give the columns different aliases."
        raise Mistake.WRONG_COLUMNS.error(f"the query has two columns {twice!r}", hint, span)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
