"""Occurrences that agree on a key are one tuple."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from obda_bm.ir.spj import Occurrence, SpjQuery
from obda_bm.ir.terms import ColumnRef, Comparison, NotNull, Op, Predicate
from obda_bm.unfolding.aliases import renamed_predicate, renamed_term
from obda_bm.unfolding.equalities import Equalities, agree, equalities_of


def eliminate_self_joins(query: SpjQuery) -> SpjQuery:
    """`query` with occurrences of one relation that agree on a key merged into the first.

    Right for bags, too, since a key admits the tuple once. Merging may make other occurrences
    agree, so it goes on until none do; each step removes one.
    """
    equal = equalities_of(query.predicates)
    keyed = [o for o in query.occurrences if o.relation.keys]
    for first, second in combinations(keyed, 2):
        if first.relation == second.relation and _same_tuple(equal, first, second):
            return eliminate_self_joins(_merged(query, second.alias, first.alias))
    return query


def _same_tuple(equal: Equalities, first: Occurrence, second: Occurrence) -> bool:
    return any(agree(equal, first.alias, second.alias, k, k) for k in first.relation.keys)


def _merged(query: SpjQuery, alias: str, into: str) -> SpjQuery:
    renaming = {alias: into}
    predicates = (_said(renamed_predicate(p, renaming)) for p in query.predicates)
    return SpjQuery(
        tuple(o for o in query.occurrences if o.alias != alias),
        tuple(replace(o, term=renamed_term(o.term, renaming)) for o in query.projection),
        tuple(dict.fromkeys(predicates)),
    )


def _said(predicate: Predicate) -> Predicate:
    """What a comparison of a column with itself still says: that it has a value."""
    match predicate:
        case Comparison(ColumnRef() as left, Op.EQ | Op.LE | Op.GE, right, 0) if left == right:
            return NotNull(left)
        case _:
            return predicate
