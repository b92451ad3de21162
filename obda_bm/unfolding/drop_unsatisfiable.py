"""Branches whose conditions contradict each other, or the catalog's constraints."""

from __future__ import annotations

from obda_bm.ir.spj import SpjQuery
from obda_bm.order.closure import close_query


def is_satisfiable(query: SpjQuery) -> bool:
    """Whether some rows meet the conditions, as far as their closure shows."""
    return close_query(query) is not None
