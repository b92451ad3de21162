"""SQL text -> a union of select-project-join queries."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from obda_bm.diagnostics import Diagnostic, OutsideFragment, SourceText, Span, SqlError
from obda_bm.ir.catalog import Catalog
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.sqltypes import Family
from obda_bm.sql.context import Context, Marks, View
from obda_bm.sql.fragment import outside
from obda_bm.sql.queries import read_query, with_named_query
from obda_bm.sql.spans import SqlText
from obda_bm.sql.statements import Statement, not_a_query, read_statements
from obda_bm.sql.syntax import find_dialect, tokenize


def parse_sql(
    source: SourceText,
    catalog: Catalog,
    dialect: str | None = None,
    semantics: Semantics | None = None,
) -> SpjUnion:
    """The query that `source` states over the relations of `catalog`.

    The query is the last statement; CREATE VIEW statements may come before it. Without DISTINCT it
    is a bag, with DISTINCT, or an outermost UNION, a set; `semantics` overrides both.

    Raises:
        SqlError: where the text is malformed or does not fit the catalog.
        OutsideFragment: where it is SQL, but not a union of select-project-join queries.
    """
    try:
        return _read_script(source, catalog, dialect, semantics)
    except RecursionError:
        whole = Span(source, 0, len(source.text))
        raise SqlError(Diagnostic("OBM212", "the query is nested too deeply", whole)) from None


def _read_script(
    source: SourceText, catalog: Catalog, dialect: str | None, semantics: Semantics | None
) -> SpjUnion:
    found = find_dialect(dialect)
    text = tokenize(SqlText(source.text, source), found)
    views, query = _split_script(read_statements(text, found), text)
    context = Context(
        text,
        catalog,
        _own_semantics(query) if semantics is None else semantics,
        Marks.HONOURED if semantics is None else Marks.DISREGARDED,
    )
    for view in views:
        context = _with_view(view, context)
    branches = read_query(query, context)
    _require_one_time_family(branches)
    _require_no_time_output(branches)
    return SpjUnion(branches, context.semantics)


def _split_script(
    statements: Sequence[Statement], text: SqlText
) -> tuple[Sequence[Statement], exp.Expr]:
    """The views, and the one query after them."""
    queries = [statement for statement in statements if statement.view is None]
    for statement in queries:
        if not isinstance(statement.query, exp.Query):
            raise OutsideFragment(not_a_query(text.span(statement.query)))
    if not queries:
        span = text.at(0, len(text.sql))
        raise SqlError(Diagnostic("OBM211", "there is no query", span, "Write a SELECT."))
    if len(queries) > 1 or statements[-1] is not queries[0]:
        raise outside(
            "OBM302",
            "the query is not the only SELECT and the last statement",
            text.span(queries[-1].query),
            "Keep one SELECT, after the views that it uses.",
        )
    return statements[:-1], queries[0].query


def _own_semantics(query: exp.Expr) -> Semantics:
    """What the text itself says about duplicates: its outermost DISTINCT or UNION decides."""
    while isinstance(query, exp.Subquery):
        query = query.this
    return Semantics.SET if query.args.get("distinct") else Semantics.BAG


def _with_view(statement: Statement, context: Context) -> Context:
    view = statement.view
    assert view is not None, "the last statement is the only query"
    if context.catalog.find(view.name) is not None or view.name.lower() in context.views:
        raise SqlError(Diagnostic("OBM206", f"'{view.name}' exists already", view.span))
    return with_named_query(view.name, view.columns, statement.query, view.span, context)


def _require_one_time_family(branches: View) -> None:
    families: dict[Family, str] = {}
    for occurrence in (o for branch in branches for o in branch.occurrences):
        relation = occurrence.relation
        if relation.time is None:
            continue
        families.setdefault(relation.column(relation.time).type.family, relation.name)
        if len(families) > 1:
            raise SqlError(
                Diagnostic(
                    "OBM210",
                    f"streams {' and '.join(families.values())} count time differently",
                    occurrence.span,
                    "Declare all their time columns as INTEGER, or all as TIMESTAMP or DATE.",
                )
            )


def _require_no_time_output(branches: View) -> None:
    for branch in branches:
        for output in branch.projection:
            if branch.is_time(output.term):
                raise outside(
                    "OBM318",
                    f"time column '{output.term}' in the projection",
                    output.span,
                    "Leave it out: every result carries the time of its marker anyway.",
                )
