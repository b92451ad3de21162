"""What a query is read against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from obda_bm.ir.catalog import Catalog
from obda_bm.ir.spj import Semantics, SpjQuery
from obda_bm.sql.conditions import Conditions
from obda_bm.sql.names import Scope
from obda_bm.sql.spans import SqlText

View = tuple[SpjQuery, ...]
"""A query under a name: its branches, which project columns of the same names."""


class Marks(Enum):
    """Whether DISTINCT and ALL in the text mean anything."""

    HONOURED = "honoured"
    DISREGARDED = "disregarded"  # the caller says what happens to duplicates


@dataclass(frozen=True, slots=True)
class Context:
    text: SqlText
    catalog: Catalog
    semantics: Semantics
    marks: Marks
    views: Mapping[str, View] = field(default_factory=dict)

    def with_view(self, name: str, view: View) -> Context:
        return replace(self, views={**self.views, name.lower(): view})

    def conditions(self, scope: Scope) -> Conditions:
        return Conditions(scope, self.text, self.semantics)
