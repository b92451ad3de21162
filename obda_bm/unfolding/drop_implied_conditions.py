"""Conditions that others, or the catalog, imply."""

from __future__ import annotations

from dataclasses import replace

from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.terms import Comparison, NotNull, Op, Predicate, columns_of
from obda_bm.unfolding.equalities import Equalities


def drop_implied_conditions(query: SpjQuery) -> SpjQuery:
    """`query` without equalities that follow from others, and NOT NULL that says nothing new.

    A column that stands in a comparison has a value wherever the comparison is true.
    """
    kept = _needed_equalities(query.predicates)
    compared = {c for p in kept if not isinstance(p, NotNull) for c in columns_of(p)}
    needed = [
        p
        for p in dict.fromkeys(kept)
        if not isinstance(p, NotNull)
        or (p.column not in compared and query.column(p.column).nullable)
    ]
    return replace(query, predicates=tuple(needed))


def _needed_equalities(predicates: tuple[Predicate, ...]) -> list[Predicate]:
    """The conditions, without equalities between terms that earlier ones make equal."""
    known = Equalities()
    kept: list[Predicate] = []
    for predicate in predicates:
        match predicate:
            case Comparison(left, Op.EQ, right, 0) if left != right:
                if known.same(left, right):
                    continue
                known.unite(left, right)
        kept.append(predicate)
    return kept
