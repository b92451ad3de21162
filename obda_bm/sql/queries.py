"""SELECT, UNION and WITH -> the branches of a union."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from obda_bm.diagnostics import Diagnostic, Span, SqlError
from obda_bm.ir.spj import Output, Semantics, SpjQuery
from obda_bm.sql.conditions import read_condition, too_many_branches
from obda_bm.sql.context import Context, Marks, View
from obda_bm.sql.fragment import MAX_BRANCHES, not_a_table, outside, require_only, unsupported
from obda_bm.sql.from_clause import read_from
from obda_bm.sql.names import Item, Scope, find_table, item_of, resolve_column
from obda_bm.sql.spans import SqlText
from obda_bm.sql.sums import read_sum, term_of

_SELECT = {"expressions", "from_", "joins", "where", "distinct", "with_", "hint"}
_UNION = {"this", "expression", "distinct", "with_"}


def read_query(node: exp.Expr, context: Context) -> View:
    """The branches of `node`, each a select-project-join query."""
    context = _with_ctes(node, context)
    match node:
        case exp.Subquery():
            require_only(node, {"this", "with_"}, context.text)
            return read_query(node.this, context)
        case exp.Select():
            require_only(node, _SELECT, context.text)
            _check_distinct(node, context)
            return _read_select(node, context)
        case exp.Union():
            return _read_union(node, context)
        case exp.SetOperation():
            raise outside(
                "OBM309",
                f"{node.key.upper()} is not a union",
                context.text.keyword_after(node.left),
                "Only UNION combines queries; an INTERSECT can be written as a join.",
            )
        case exp.Values():
            raise not_a_table(node, context.text)
        case _:
            raise unsupported(node, context.text)


def with_named_query(
    name: str, columns: Sequence[str], query: exp.Expr, span: Span | None, context: Context
) -> Context:
    """`context` with `query` known under `name`, its columns renamed to `columns`."""
    view = read_query(query, context)
    width = len(view[0].projection)
    if len(columns) > width:
        message = f"{len(columns)} names for {width} columns"
        raise SqlError(Diagnostic("OBM208", message, span))
    names = [*columns, *(output.name for output in view[0].projection[len(columns) :])]
    return context.with_view(name, tuple(_named(branch, names) for branch in view))


def _with_ctes(node: exp.Expr, context: Context) -> Context:
    clause = node.args.get("with_")
    if clause is None:
        return context
    if clause.args.get("recursive"):
        raise outside(
            "OBM310",
            "WITH RECURSIVE is not select-project-join",
            context.text.span(clause.expressions[0].args["alias"]),
            "Remove RECURSIVE where no query uses itself.",
        )
    require_only(clause, {"expressions"}, context.text)
    for cte in clause.expressions:
        require_only(cte, {"this", "alias", "materialized"}, context.text)
        alias = cte.args["alias"]
        columns = [column.name for column in alias.args.get("columns") or ()]
        span = context.text.span(alias)
        context = with_named_query(cte.alias, columns, cte.this, span, context)
    return context


def _check_distinct(node: exp.Select | exp.Union, context: Context) -> None:
    """Refuse to drop a DISTINCT that changes how often a row counts."""
    mark = node.args.get("distinct")
    if isinstance(mark, exp.Distinct) and mark.args.get("on"):
        raise outside(
            "OBM303",
            "DISTINCT ON is not select-project-join",
            context.text.span(mark),
            "Write DISTINCT, which keeps every different row.",
        )
    if mark and context.semantics is Semantics.BAG and context.marks is Marks.HONOURED:
        text = context.text
        span = text.keyword_after(node.left) if isinstance(node, exp.Union) else text.span(mark)
        raise outside(
            "OBM316",
            "duplicates are eliminated inside a query that keeps them",
            span,
            "Write SELECT DISTINCT, or UNION, outermost too; or nowhere.",
        )


def _read_union(node: exp.Union, context: Context) -> View:
    branches = [b for part in _operands(node, context) for b in read_query(part, context)]
    first = branches[0]
    for branch in branches[1:]:
        _require_alike(first, branch, node, context.text)
    names = [output.name for output in first.projection]
    return tuple(_named(branch, names) for branch in branches)


def _operands(node: exp.Union, context: Context) -> list[exp.Expr]:
    """The parts of a chain of unions, in order; iterative, as chains are long."""
    operands: list[exp.Expr] = []
    left: exp.Expr = node
    while isinstance(left, exp.Union) and (left is node or not left.args.get("with_")):
        require_only(left, _UNION, context.text)
        _check_distinct(left, context)
        operands.append(left.expression)
        left = left.this
    return [left, *reversed(operands)]


def _named(branch: SpjQuery, names: Sequence[str]) -> SpjQuery:
    outputs = zip(branch.projection, names, strict=True)
    return replace(branch, projection=tuple(replace(o, name=name) for o, name in outputs))


def _require_alike(first: SpjQuery, other: SpjQuery, node: exp.Expr, text: SqlText) -> None:
    wanted, found = len(first.projection), len(other.projection)
    if wanted != found:
        span = other.projection[-1].span if other.projection else text.span(node)
        message = f"columns of the first SELECT: {wanted}, of this one: {found}"
        raise SqlError(Diagnostic("OBM208", message, span, "Select as many columns in each."))
    for a, b in zip(first.projection, other.projection, strict=True):
        left, right = item_of(a.term, first).type.family, item_of(b.term, other).type.family
        if left is not right:
            message = f"cannot unite {left.value} with {right.value}"
            raise SqlError(Diagnostic("OBM208", message, b.span, "Select values of one kind."))


def _read_select(node: exp.Select, context: Context) -> View:
    clause = node.args.get("where")
    condition = clause.this if clause is not None else None
    branches = tuple(
        SpjQuery(
            joined.occurrences,
            _read_projection(node, joined.scope, context),
            joined.predicates + conjunction,
        )
        for joined in read_from(node, context, read_query)
        for conjunction in read_condition(condition, context.conditions(joined.scope))
    )
    if len(branches) > MAX_BRANCHES:
        raise too_many_branches(context.text.span(clause or node))
    return branches


def _read_projection(node: exp.Select, scope: Scope, context: Context) -> tuple[Output, ...]:
    outputs: list[Output] = []
    for expression in node.expressions:
        span = context.text.span(expression)
        for item in _read_output(expression, scope, context):
            outputs.append(Output(item.name or f"col{len(outputs) + 1}", item.term, span))
    if not outputs:
        raise SqlError(Diagnostic("OBM201", "the SELECT list is empty", context.text.span(node)))
    return tuple(outputs)


def _read_output(node: exp.Expr, scope: Scope, context: Context) -> Iterator[Item]:
    """The columns that one expression of the SELECT list stands for."""
    span = context.text.span(node)
    match node:
        case exp.Alias():
            yield replace(_read_value(node.this, scope, context), name=node.alias)
        case exp.Star():
            require_only(node, (), context.text)
            yield from (item.at(span) for table in scope.tables for item in table.visible())
        case exp.Column(this=exp.Star()):
            require_only(node.this, (), context.text)
            yield from (item.at(span) for item in find_table(node, scope, context.text).columns)
        case exp.Column():
            yield resolve_column(node, scope, context.text)
        case _:
            yield replace(_read_value(node, scope, context), name="")


def _read_value(node: exp.Expr, scope: Scope, context: Context) -> Item:
    if isinstance(node.unnest(), exp.Null):
        raise outside(
            "OBM321",
            "NULL is no value that a query can project",
            context.text.span(node),
            "Project a constant that stands for it.",
        )
    return term_of(read_sum(node, scope, context.text), context.text)
