"""FROM and JOIN -> the occurrences of relations, with derived tables merged in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from sqlglot import exp

from obda_bm.diagnostics import Diagnostic, SqlError, did_you_mean
from obda_bm.ir.spj import Occurrence
from obda_bm.ir.terms import Op
from obda_bm.sql.comparisons import Conjunction, compare
from obda_bm.sql.conditions import read_condition, too_many_branches
from obda_bm.sql.context import Context, View
from obda_bm.sql.fragment import (
    MAX_BRANCHES,
    MAX_OCCURRENCES,
    MAX_SIZE,
    not_a_table,
    outside,
    require_only,
)
from obda_bm.sql.joined import Joined, beside, rename_apart
from obda_bm.sql.names import Scope, Table, query_table, relation_table, resolve_name
from obda_bm.sql.sums import single

QueryReader = Callable[[exp.Expr, Context], View]

Alternatives = tuple[Joined, ...]
"""A FROM clause with unions in it means the union over its alternatives."""

_JOIN_HINTS = {
    "NATURAL": "Name the columns: JOIN … USING (…).",
    "SEMI": "Write a JOIN, and SELECT DISTINCT.",
}


@dataclass(frozen=True, slots=True)
class FromClause:
    """One FROM clause while it is read; `reserved` are the aliases that the user gave in it."""

    context: Context
    read_query: QueryReader
    reserved: Set[str]


def read_from(select: exp.Select, context: Context, read_query: QueryReader) -> Alternatives:
    """The alternatives of the FROM clause of `select`."""
    clause = select.args.get("from_")
    joins = select.args.get("joins") or []
    if clause is None:
        return (Joined(),)
    own = [alias for node in (clause, *joins) for alias in _relation_aliases(node.this, context)]
    reading = FromClause(context, read_query, frozenset(own))
    return _extend(_read_table(clause.this, reading), joins, reading)


def _relation_aliases(node: exp.Expr, context: Context) -> Iterator[str]:
    """The aliases of relations that stand in this FROM itself, not in a derived table."""
    match node:
        case exp.Table():
            if node.name.lower() not in context.views:
                yield node.alias_or_name.lower()
        case exp.Subquery(this=exp.Table() | exp.Subquery()):
            yield from _relation_aliases(node.this, context)
    for join in node.args.get("joins") or ():
        yield from _relation_aliases(join.this, context)


def _extend(
    alternatives: Alternatives, joins: Sequence[exp.Join], clause: FromClause
) -> Alternatives:
    for join in joins:
        _require_inner(join, clause.context)
        right = _read_table(join.this, clause)
        _require_few(len(alternatives) * len(right), join, clause)
        alternatives = tuple(
            joined for a in alternatives for b in right for joined in _join(a, b, join, clause)
        )
        _require_few(len(alternatives), join, clause)
    return alternatives


def _require_few(count: int, node: exp.Expr, clause: FromClause) -> None:
    if count > MAX_BRANCHES:
        raise too_many_branches(clause.context.text.span(node))


def _read_table(node: exp.Expr, clause: FromClause) -> Alternatives:
    return _extend(_read_alone(node, clause), node.args.get("joins") or [], clause)


def _read_alone(node: exp.Expr, clause: FromClause) -> Alternatives:
    text = clause.context.text
    match node:
        case exp.Table(this=exp.Identifier()):
            require_only(node, {"this", "db", "catalog", "alias", "joins"}, text)
            return _read_named(node, clause)
        case exp.Subquery(this=exp.Table() | exp.Subquery()) if not node.alias:
            require_only(node, {"this", "joins"}, text)
            return _read_table(node.this, clause)
        case exp.Subquery(this=exp.Query()):
            require_only(node, {"this", "alias", "joins"}, text)
            view = clause.read_query(node.this, clause.context)
            return _instances(view, node.alias, node, clause)
        case _:
            raise not_a_table(node, text)


def _read_named(node: exp.Table, clause: FromClause) -> Alternatives:
    context = clause.context
    name = ".".join(part.name for part in node.parts)
    view = context.views.get(name.lower())
    if view is not None:
        return _instances(view, node.alias or name, node, clause)
    relation = context.catalog.find(name)
    span = context.text.span(node)
    if relation is None:
        known = [r.name for r in context.catalog.relations] + list(context.views)
        hint = did_you_mean(name, known)
        raise SqlError(Diagnostic("OBM202", f"unknown table '{name}'", span, hint))
    alias = node.alias or relation.name[-len(node.name) :]
    table = renamed_columns(relation_table(alias, relation), node.args.get("alias"), context)
    return (Joined((Occurrence(alias, relation, span),), (), Scope((table,))),)


def _instances(view: View, alias: str, node: exp.Expr, clause: FromClause) -> Alternatives:
    names = node.args.get("alias")
    return tuple(
        rename_apart(
            Joined(
                branch.occurrences,
                branch.predicates,
                Scope((renamed_columns(query_table(alias, branch), names, clause.context),)),
            ),
            clause.reserved,
        )
        for branch in view
    )


def renamed_columns(table: Table, alias: exp.Expr | None, context: Context) -> Table:
    """`table` with the column names of an alias such as `v(a, b)`."""
    names = [column.name for column in (alias.args.get("columns") or ())] if alias else []
    if len(names) > len(table.columns):
        message = f"{len(names)} names for {len(table.columns)} columns"
        raise SqlError(Diagnostic("OBM208", message, context.text.span(alias)))
    names += [item.name for item in table.columns[len(names) :]]
    renamed = (replace(i, name=name) for i, name in zip(table.columns, names, strict=True))
    return replace(table, columns=tuple(renamed))


def _join(left: Joined, right: Joined, join: exp.Join, clause: FromClause) -> Alternatives:
    """`left` with `right`, once for each disjunct of the join condition."""
    context = clause.context
    _require_distinct_aliases(left, right, join, context)
    right = rename_apart(right, clause.reserved | left.aliases, only=left.aliases)
    right, equal = _apply_using(left, right, join, context)
    joined = beside(left, right).where(equal)
    if joined.size > MAX_SIZE or len(joined.occurrences) > MAX_OCCURRENCES:
        raise outside(
            "OBM315",
            f"the query joins more than {MAX_OCCURRENCES} tables",
            context.text.span(join),
            "Use fewer views of views.",
        )
    on = read_condition(join.args.get("on"), context.conditions(joined.scope))
    return tuple(joined.where(conjunction) for conjunction in on)


def _require_distinct_aliases(
    left: Joined, right: Joined, join: exp.Join, context: Context
) -> None:
    for table in right.scope.tables:
        if table.alias and left.scope.table(table.alias) is not None:
            raise SqlError(
                Diagnostic(
                    "OBM206",
                    f"two tables are called '{table.alias}'",
                    context.text.span(join.this),
                    "Give each its own alias, as in FROM s AS s1, s AS s2.",
                )
            )


def _apply_using(
    left: Joined, right: Joined, join: exp.Join, context: Context
) -> tuple[Joined, Conjunction]:
    """`right` without the columns of USING, and that these equal those of `left`."""
    equal: Conjunction = ()
    for identifier in join.args.get("using") or ():
        span = context.text.span(identifier)
        _, a = resolve_name(identifier.name, left.scope, span)
        table, b = resolve_name(identifier.name, right.scope, span)
        sides = (single(identifier, item.at(span)) for item in (a, b))
        equal += compare(next(sides), Op.EQ, next(sides), span, context.text)
        right = right.merging(table, identifier.name)
    return right, equal


def _require_inner(join: exp.Join, context: Context) -> None:
    words = [join.method, join.side, join.kind]
    wrong = next((word for word in words if word not in {"", "INNER", "CROSS"}), None)
    if wrong is not None:
        name = " ".join(word for word in words if word) + " JOIN"
        raise outside(
            "OBM306",
            f"{name.replace('JOIN JOIN', 'JOIN')} is not an inner join",
            context.text.span(join),
            _JOIN_HINTS.get(wrong, "Write an inner JOIN with a condition."),
        )
    require_only(join, {"this", "on", "using", "kind"}, context.text)
