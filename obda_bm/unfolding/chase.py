"""A query with the rows that foreign keys promise joined to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from obda_bm.ir.catalog import ForeignKey, Relation
from obda_bm.ir.spj import Occurrence, SpjQuery
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of

ROUNDS = 3
"""How far references are followed; more would only find containments that few mappings have."""


def chase(query: SpjQuery, relations: Mapping[str, Relation]) -> SpjQuery:
    """An equivalent query in which every reference to one of `relations` finds its row.

    The chase with inclusion dependencies, cut off: what it adds holds, so containments that it
    shows are right.
    """
    done: set[tuple[str, ForeignKey]] = set()
    for _ in range(ROUNDS):
        for child in query.occurrences:
            for reference in child.relation.foreign_keys:
                known = reference.relation in relations and _has_values(query, child, reference)
                if known and (child.alias, reference) not in done:
                    done.add((child.alias, reference))
                    query = _joined(query, child, reference, relations[reference.relation])
    return query


def _has_values(query: SpjQuery, child: Occurrence, reference: ForeignKey) -> bool:
    compared = {c for p in query.predicates for c in columns_of(p)}
    return all(
        not child.relation.column(c).nullable or ColumnRef(child.alias, c) in compared
        for c in reference.columns
    )


def _joined(
    query: SpjQuery, child: Occurrence, reference: ForeignKey, parent: Relation
) -> SpjQuery:
    # A blank cannot stand in an alias that a user or another pass gave.
    alias = f"{child.alias} {','.join(reference.columns)}"
    equal = tuple(
        Comparison(ColumnRef(child.alias, c), Op.EQ, ColumnRef(alias, k))
        for c, k in zip(reference.columns, reference.key, strict=True)
    )
    return replace(
        query,
        occurrences=(*query.occurrences, Occurrence(alias, parent)),
        predicates=query.predicates + equal,
    )
