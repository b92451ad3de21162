"""Keeping the occurrences of different atoms apart."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.terms import ColumnRef, Predicate, Term, columns_of, rename
from obda_bm.ir.unfolded import TermBuilder, slots_of, with_columns

Renaming = dict[str, str]
"""From old aliases to new ones."""


def fresh_aliases(query: SpjQuery, taken: Set[str]) -> Renaming:
    """A new alias for every occurrence of `query` that has one of `taken`."""
    used = {alias.lower() for alias in taken} | {o.alias.lower() for o in query.occurrences}
    renaming: Renaming = {}
    for occurrence in query.occurrences:
        if occurrence.alias.lower() in {alias.lower() for alias in taken}:
            name, number = occurrence.relation.name, 2
            while f"{name}_{number}".lower() in used:
                number += 1
            renaming[occurrence.alias] = f"{name}_{number}"
            used.add(f"{name}_{number}".lower())
    return renaming


def rename_apart(query: SpjQuery, taken: Set[str]) -> SpjQuery:
    """`query` with no alias of `taken`."""
    return renamed_query(query, fresh_aliases(query, taken))


def renamed_query(query: SpjQuery, renaming: Renaming) -> SpjQuery:
    if not renaming:
        return query
    return SpjQuery(
        tuple(replace(o, alias=renaming.get(o.alias, o.alias)) for o in query.occurrences),
        tuple(replace(o, term=renamed_term(o.term, renaming)) for o in query.projection),
        tuple(renamed_predicate(p, renaming) for p in query.predicates),
    )


def renamed_term(term: Term, renaming: Renaming) -> Term:
    return renamed_column(term, renaming) if isinstance(term, ColumnRef) else term


def renamed_column(column: ColumnRef, renaming: Renaming) -> ColumnRef:
    return replace(column, occurrence=renaming.get(column.occurrence, column.occurrence))


def renamed_predicate(predicate: Predicate, renaming: Renaming) -> Predicate:
    return rename(predicate, {c: renamed_column(c, renaming) for c in columns_of(predicate)})


def renamed_builder(builder: TermBuilder, renaming: Renaming) -> TermBuilder:
    columns = (renamed_column(slot.column, renaming) for slot in slots_of(builder))
    return with_columns(builder, columns)
