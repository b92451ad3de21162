"""Aliases without gaps, after occurrences were removed."""

from __future__ import annotations

from obda_bm.ir.spj import SpjQuery
from obda_bm.unfolding.aliases import renamed_query


def number_aliases(query: SpjQuery) -> SpjQuery:
    """`query` with its occurrences called `sensor`, `sensor_2`, `sensor_3` in turn."""
    names = {o.relation.name.lower() for o in query.occurrences}
    renaming: dict[str, str] = {}
    for occurrence in query.occurrences:
        alias, number = occurrence.relation.name, 2
        # A relation may itself be called sensor_2.
        while alias in renaming.values() or (number > 2 and alias.lower() in names):
            alias, number = f"{occurrence.relation.name}_{number}", number + 1
        renaming[occurrence.alias] = alias
    return renamed_query(query, renaming)
