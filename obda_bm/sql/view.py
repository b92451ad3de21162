"""The SQL of a mapping's source -> the branches of its view."""

from __future__ import annotations

from sqlglot import exp

from obda_bm.diagnostics import Diagnostic, OutsideFragment, SourceText, Span, SqlError
from obda_bm.ir.catalog import Catalog
from obda_bm.ir.spj import Semantics, SpjQuery
from obda_bm.sql.check import placed
from obda_bm.sql.context import Context, Marks
from obda_bm.sql.queries import read_query
from obda_bm.sql.statements import not_a_query, read_statements
from obda_bm.sql.syntax import find_dialect, tokenize


def parse_view(
    text: str, span: Span | None, catalog: Catalog, semantics: Semantics
) -> tuple[SpjQuery, ...]:
    """The select-project-join queries whose union `text` states; they may project time columns.

    Raises:
        SqlError: where the text is malformed or does not fit the catalog.
        OutsideFragment: where it is SQL, but not a union of select-project-join queries.
    """
    try:
        return _read(text, span, catalog, semantics)
    except RecursionError:
        place = span or Span(SourceText("view", text), 0, len(text))
        raise SqlError(Diagnostic("OBM212", "the query is nested too deeply", place)) from None


def _read(
    text: str, span: Span | None, catalog: Catalog, semantics: Semantics
) -> tuple[SpjQuery, ...]:
    dialect = find_dialect(None)
    parsed = tokenize(placed(text, span), dialect)
    statements = read_statements(parsed, dialect)
    if len(statements) != 1 or statements[0].view is not None:
        raise SqlError(Diagnostic("OBM211", "a source is one query", span, "Write one SELECT."))
    query = statements[0].query
    if not isinstance(query, exp.Query):
        raise OutsideFragment(not_a_query(parsed.span(query)))
    marks = Marks.DISREGARDED if semantics is Semantics.SET else Marks.HONOURED
    return read_query(query, Context(parsed, catalog, semantics, marks))
