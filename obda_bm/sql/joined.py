"""Tables joined so far, and keeping their aliases apart."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field, replace

from obda_bm.ir.spj import Occurrence
from obda_bm.ir.terms import ColumnRef, Predicate, Term, columns_of, rename
from obda_bm.sql.names import Scope, Table


@dataclass(frozen=True, slots=True)
class Joined:
    """Occurrences, what holds of them, and the names in scope."""

    occurrences: tuple[Occurrence, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    scope: Scope = field(default_factory=Scope)

    @property
    def aliases(self) -> frozenset[str]:
        """In lower case, as SQL compares them."""
        return frozenset(occurrence.alias.lower() for occurrence in self.occurrences)

    @property
    def size(self) -> int:
        return len(self.predicates) + sum(len(table.columns) for table in self.scope.tables)

    def where(self, predicates: tuple[Predicate, ...]) -> Joined:
        return replace(self, predicates=self.predicates + predicates)

    def merging(self, table: Table, column: str) -> Joined:
        """The unqualified `column` no longer means the one of `table`."""
        tables = tuple(
            replace(t, merged=t.merged | {column.lower()}) if t == table else t
            for t in self.scope.tables
        )
        return replace(self, scope=Scope(tables))


def beside(left: Joined, right: Joined) -> Joined:
    return Joined(
        left.occurrences + right.occurrences,
        left.predicates + right.predicates,
        Scope(left.scope.tables + right.scope.tables),
    )


def rename_apart(joined: Joined, taken: Set[str], only: Set[str] | None = None) -> Joined:
    """`joined` with fresh aliases for those in `only`, which defaults to `taken`.

    A fresh alias is the old one with the first number that makes it differ from all others.
    """
    clashing = taken if only is None else only
    renaming: dict[str, str] = {}
    used = set(taken) | joined.aliases
    for occurrence in joined.occurrences:
        if occurrence.alias.lower() in clashing:
            fresh = _fresh(occurrence.alias, used)
            used.add(fresh.lower())
            renaming[occurrence.alias] = fresh
    return _renamed(joined, renaming) if renaming else joined


def _fresh(alias: str, used: Set[str]) -> str:
    number = 2
    while f"{alias}_{number}".lower() in used:
        number += 1
    return f"{alias}_{number}"


def _renamed(joined: Joined, renaming: dict[str, str]) -> Joined:
    def new(ref: ColumnRef) -> ColumnRef:
        return replace(ref, occurrence=renaming.get(ref.occurrence, ref.occurrence))

    def new_term(term: Term) -> Term:
        return new(term) if isinstance(term, ColumnRef) else term

    def new_table(table: Table) -> Table:
        columns = (replace(item, term=new_term(item.term)) for item in table.columns)
        return replace(table, columns=tuple(columns))

    return Joined(
        tuple(replace(o, alias=renaming.get(o.alias, o.alias)) for o in joined.occurrences),
        tuple(rename(p, {c: new(c) for c in columns_of(p)}) for p in joined.predicates),
        Scope(tuple(new_table(table) for table in joined.scope.tables)),
    )
