"""Joins along a foreign key that only say what the constraint says anyway."""

from __future__ import annotations

from dataclasses import replace

from obda_bm.ir.catalog import ForeignKey
from obda_bm.ir.spj import Occurrence, SpjQuery
from obda_bm.ir.terms import ColumnRef, Comparison, NotNull, Op, Predicate, Term, columns_of
from obda_bm.ir.terms import rename as rename_columns
from obda_bm.unfolding.equalities import agree, equalities_of


def eliminate_foreign_key_joins(query: SpjQuery) -> SpjQuery:
    """`query` without parents of which only the referenced key is used.

    The child's columns stand for the key. The parent row exists, since the constraint says so, and
    once, since it is a key: right for bags, too.
    """
    equal = equalities_of(query.predicates)
    for child in query.occurrences:
        for reference in child.relation.foreign_keys:
            for parent in query.occurrences:
                if _refers(reference, parent) and child.alias != parent.alias:
                    joined = agree(
                        equal, child.alias, parent.alias, reference.columns, reference.key
                    )
                    if joined and _only_key_used(query, parent, reference):
                        return eliminate_foreign_key_joins(
                            _without(query, child, parent, reference)
                        )
    return query


def _refers(reference: ForeignKey, parent: Occurrence) -> bool:
    keys = map(frozenset, parent.relation.keys)
    return (
        parent.relation.name == reference.relation
        and parent.relation.time is None
        and frozenset(reference.key) in keys
    )


def _only_key_used(query: SpjQuery, parent: Occurrence, reference: ForeignKey) -> bool:
    mentioned = [c for p in query.predicates for c in columns_of(p)]
    return all(
        column.column in reference.key
        for column in (*mentioned, *query.projected)
        if column.occurrence == parent.alias
    )


def _without(
    query: SpjQuery, child: Occurrence, parent: Occurrence, reference: ForeignKey
) -> SpjQuery:
    pairs = zip(reference.key, reference.columns, strict=True)
    renaming = {ColumnRef(parent.alias, k): ColumnRef(child.alias, c) for k, c in pairs}

    def new(term: Term) -> Term:
        return renaming.get(term, term) if isinstance(term, ColumnRef) else term

    predicates = (_said(rename_columns(p, renaming)) for p in query.predicates)
    return SpjQuery(
        tuple(o for o in query.occurrences if o.alias != parent.alias),
        tuple(replace(o, term=new(o.term)) for o in query.projection),
        tuple(dict.fromkeys(predicates)),
    )


def _said(predicate: Predicate) -> Predicate:
    match predicate:
        case Comparison(ColumnRef() as left, Op.EQ, right, 0) if left == right:
            return NotNull(left)
        case _:
            return predicate
