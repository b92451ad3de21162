"""Conditions of WHERE and ON -> disjunctions of conjunctions of predicates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from obda_bm.diagnostics import Diagnostic, OutsideFragment, Span, SqlError
from obda_bm.ir.spj import Semantics
from obda_bm.ir.sqltypes import BOOLEAN, Family
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Membership, NotNull, Op
from obda_bm.sql.comparisons import Conjunction, compare, compare_items, never
from obda_bm.sql.fragment import MAX_BRANCHES, outside, require_only, unsupported
from obda_bm.sql.names import Item, Scope
from obda_bm.sql.spans import SqlText
from obda_bm.sql.sums import Sum, read_sum, term_of

Disjunction = tuple[Conjunction, ...]

_TRUE: Disjunction = ((),)

_OPERATORS: dict[type[exp.Expr], Op] = {
    exp.EQ: Op.EQ,
    exp.NEQ: Op.NE,
    exp.LT: Op.LT,
    exp.LTE: Op.LE,
    exp.GT: Op.GT,
    exp.GTE: Op.GE,
}


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a condition is read against."""

    scope: Scope
    text: SqlText
    semantics: Semantics


def read_condition(node: exp.Expr | None, where: Conditions) -> Disjunction:
    """`node` in disjunctive normal form.

    Under bag semantics there is one disjunct at most: a row that satisfies two would count twice.
    """
    match node:
        case None:
            return _TRUE
        case exp.Paren():
            return read_condition(node.this, where)
        case exp.And():
            return conjoin((read_condition(part, where) for part in node.flatten()), node, where)
        case exp.Or():
            return _read_or(node, where)
        case exp.In():
            return _read_in(node, where)
        case _:
            return (_read_conjunction(node, where),)


def conjoin(parts: Iterable[Disjunction], node: exp.Expr | None, where: Conditions) -> Disjunction:
    """All of `parts`, multiplied out."""
    product = _TRUE
    for part in parts:
        if len(product) * len(part) > MAX_BRANCHES:
            raise too_many_branches(where.text.span(node))
        product = tuple(left + right for left in product for right in part)
    return product


def too_many_branches(span: Span | None) -> OutsideFragment:
    return outside(
        "OBM315",
        f"the query expands to more than {MAX_BRANCHES} select-project-join queries",
        span,
        "Use fewer ORs and unions inside joins, or IN for alternatives of one column.",
    )


def _read_conjunction(node: exp.Expr, where: Conditions) -> Conjunction:
    span = where.text.span(node)
    match node:
        case exp.Boolean():
            return () if node.this else never(span)
        case exp.Null():
            return never(span)
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            op = _OPERATORS[type(node)]
            return _read_comparison(node.this, op, node.expression, span, where)
        case exp.Between():
            require_only(node, {"this", "low", "high"}, where.text)
            return (
                *_read_comparison(node.this, Op.GE, node.args["low"], span, where),
                *_read_comparison(node.this, Op.LE, node.args["high"], span, where),
            )
        case exp.Not(this=exp.Is(expression=exp.Null()) as inner) if not _is_negated(inner):
            return _read_not_null(inner.this, span, where)
        case exp.Is(expression=exp.Null()) if _is_negated(node):
            return _read_not_null(node.this, span, where)
        case exp.Is(expression=exp.Boolean()) if not _is_negated(node):
            return _read_comparison(node.this, Op.EQ, node.expression, span, where)
        case exp.Column():
            return _read_flag(node, span, where)
        case exp.Literal():
            raise SqlError(_not_a_condition(span))
        case _:
            raise unsupported(node, where.text)


def _is_negated(node: exp.Is) -> bool:
    """Some dialects put the NOT of IS NOT NULL inside, not around."""
    return bool(node.args.get("negate"))


def _not_a_condition(span: Span | None) -> Diagnostic:
    return Diagnostic(
        "OBM209", "not a condition", span, "Compare it with something, or use a BOOLEAN column."
    )


def _read_comparison(
    left: exp.Expr, op: Op, right: exp.Expr, span: Span | None, where: Conditions
) -> Conjunction:
    sides = [_read_operand(side, where) for side in (left, right)]
    match sides:
        case [Sum() as a, Sum() as b]:
            return compare(a, op, b, span, where.text)
        case _:  # a comparison with NULL is never true
            return never(span)


def _read_operand(node: exp.Expr, where: Conditions) -> Sum | None:
    return None if isinstance(node.unnest(), exp.Null) else read_sum(node, where.scope, where.text)


def _read_not_null(node: exp.Expr, span: Span | None, where: Conditions) -> Conjunction:
    operand = _read_operand(node, where)
    if operand is None:
        return never(span)
    match term_of(operand, where.text).term:
        case ColumnRef() as column:
            return (NotNull(column, span),)
        case Constant():
            return ()


def _read_flag(node: exp.Column, span: Span | None, where: Conditions) -> Conjunction:
    item = term_of(read_sum(node, where.scope, where.text), where.text)
    if item.type.family is not Family.BOOLEAN:
        raise SqlError(_not_a_condition(span))
    true = Item(Constant(1, BOOLEAN, span), BOOLEAN)
    return compare_items(item, Op.EQ, true, span)


def _read_in(node: exp.In, where: Conditions) -> Disjunction:
    if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
        raise outside(
            "OBM308",
            "IN with a subquery is not select-project-join",
            where.text.span(node),
            "Join with the subquery in FROM; under DISTINCT the answers are the same.",
        )
    require_only(node, {"this", "expressions"}, where.text)
    span = where.text.span(node)
    equalities = tuple(
        (_read_comparison(node.this, Op.EQ, value, span, where),) for value in node.expressions
    )
    return _disjoin(equalities, node, where)


def _read_or(node: exp.Or, where: Conditions) -> Disjunction:
    return _disjoin([read_condition(part, where) for part in node.flatten()], node, where)


def _disjoin(parts: Sequence[Disjunction], node: exp.Expr, where: Conditions) -> Disjunction:
    """Any of `parts`: a membership if all are about one column, else a union if that is right."""
    span = where.text.span(node)
    disjuncts = [conjunction for part in parts for conjunction in part]
    if () in disjuncts:
        return _TRUE
    possible = list(dict.fromkeys(c for c in disjuncts if not _is_false(c)))
    if len(possible) <= 1 and not isinstance(node, exp.In):
        return (possible[0] if possible else never(span),)
    membership = _membership(possible, span)
    if membership is not None:
        return ((membership,),)
    if not possible:
        return (never(span),)
    return _as_branches(possible, span, where)


def _as_branches(
    possible: Sequence[Conjunction], span: Span | None, where: Conditions
) -> Disjunction:
    if len(possible) > 1 and where.semantics is Semantics.BAG:
        raise outside(
            "OBM314",
            "OR is a union in which a row may count twice",
            span,
            "Write a UNION, or SELECT DISTINCT.",
        )
    if len(possible) > MAX_BRANCHES:
        raise too_many_branches(span)
    return tuple(possible)


def _is_false(conjunction: Conjunction) -> bool:
    """Only false comparisons of constants are kept, so finding one is enough."""
    return any(
        isinstance(p, Comparison) and isinstance(p.left, Constant) and isinstance(p.right, Constant)
        for p in conjunction
    )


def _membership(disjuncts: Sequence[Conjunction], span: Span | None) -> Membership | None:
    """`a = 1 OR a IN (2, 3)` as `a IN (1, 2, 3)`, or None where the disjuncts are not alike."""
    found = [_values_of(conjunction) for conjunction in disjuncts]
    known = [pair for pair in found if pair is not None]
    if not known or len(known) < len(found) or len({column for column, _ in known}) > 1:
        return None
    column = known[0][0]
    values = dict.fromkeys(value for _, values in known for value in values)
    return Membership(column, tuple(values), span)


def _values_of(conjunction: Conjunction) -> tuple[ColumnRef, tuple[Constant, ...]] | None:
    match conjunction:
        case (Comparison(ColumnRef() as column, Op.EQ, Constant() as value),):
            return column, (value,)
        case (Comparison(Constant() as value, Op.EQ, ColumnRef() as column),):
            return column, (value,)
        case (Membership(column, values),):
            return column, values
        case _:
            return None
