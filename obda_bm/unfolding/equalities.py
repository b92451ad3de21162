"""Which columns a query's equalities make the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Op, Predicate, Term


@dataclass(slots=True)
class Equalities:
    """Classes of equal terms, by union and find; constants equal themselves."""

    parent: dict[Term, Term] = field(default_factory=dict)

    def find(self, term: Term) -> Term:
        while (above := self.parent.get(term, term)) != term:
            self.parent[term] = self.parent.get(above, above)
            term = above
        return term

    def unite(self, a: Term, b: Term) -> None:
        one, other = self.find(a), self.find(b)
        if one != other:
            # A constant stays the representative, so that it is found from every column.
            if isinstance(one, Constant):
                one, other = other, one
            self.parent[one] = other

    def same(self, a: Term, b: Term) -> bool:
        return self.find(a) == self.find(b)


def equalities_of(predicates: Iterable[Predicate]) -> Equalities:
    found = Equalities()
    for predicate in predicates:
        match predicate:
            case Comparison(left, Op.EQ, right, 0):
                found.unite(left, right)
    return found


def agree(
    equal: Equalities, first: str, second: str, columns: Iterable[str], others: Iterable[str]
) -> bool:
    """Whether occurrence `first` has in `columns` what `second` has in `others`."""
    pairs = zip(columns, others, strict=True)
    return all(equal.same(ColumnRef(first, a), ColumnRef(second, b)) for a, b in pairs)


def used_columns(query: SpjQuery, alias: str) -> set[str]:
    """The columns of `alias` that the query projects."""
    return {c.column for c in query.projected if c.occurrence == alias}
