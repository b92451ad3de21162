"""Preprocessing step 1 of [S]: `<>` between columns becomes a union of `<` and `>`."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from obda_bm.diagnostics import Diagnostic, OutsideFragment
from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.sqltypes import Order
from obda_bm.ir.terms import ColumnRef, Comparison, Op, Predicate

LIMIT = 8
"""Disequalities per query: each doubles the number of branches."""


def split_disequalities(query: SpjQuery) -> tuple[SpjQuery, ...]:
    """The disjoint queries whose union is `query`, without `<>` between ordered columns.

    The branches are disjoint, so this is right for bags, too. `<>` a constant is a filter and
    `<>` between texts has no order to split along: both stay. `<=` stays as well: splitting off
    its `=` is right for bags but hides from sets that one minimum serves both parts.
    """
    split = [p for p in query.predicates if _is_splittable(query, p)]
    if len(split) > LIMIT:
        raise OutsideFragment(
            Diagnostic(
                "OBM401",
                f"more than {LIMIT} disequalities between columns",
                split[LIMIT].span,
                "Each doubles the number of cases; write the cases that matter as a UNION.",
            )
        )
    return tuple(
        replace(query, predicates=tuple(_chosen(p, split, ops) for p in query.predicates))
        for ops in product((Op.LT, Op.GT), repeat=len(split))
    )


def _is_splittable(query: SpjQuery, predicate: Predicate) -> bool:
    match predicate:
        case Comparison(ColumnRef() as left, Op.NE, ColumnRef() as right):
            return left != right and query.column(left).type.order is not Order.UNORDERED
        case _:
            return False


def _chosen(predicate: Predicate, split: list[Predicate], ops: tuple[Op, ...]) -> Predicate:
    for candidate, op in zip(split, ops, strict=True):
        if candidate is predicate and isinstance(predicate, Comparison):
            return replace(predicate, op=op)
    return predicate
