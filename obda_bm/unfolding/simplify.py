"""What is done to the branches of an unfolded query, in this order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from obda_bm.ir.spj import Semantics, SpjQuery
from obda_bm.ir.unfolded import UnfoldedBranch
from obda_bm.order.containment import minimize
from obda_bm.unfolding.drop_contained import drop_contained_branches
from obda_bm.unfolding.drop_implied_conditions import drop_implied_conditions
from obda_bm.unfolding.drop_unsatisfiable import is_satisfiable
from obda_bm.unfolding.eliminate_foreign_key_joins import eliminate_foreign_key_joins
from obda_bm.unfolding.eliminate_self_joins import eliminate_self_joins
from obda_bm.unfolding.number_aliases import number_aliases

Pass = Callable[[SpjQuery], SpjQuery]

BAG_PASSES: tuple[Pass, ...] = (
    eliminate_self_joins,
    eliminate_foreign_key_joins,  # parents that self-joins shared are single now
    drop_implied_conditions,
    number_aliases,
)
SET_PASSES: tuple[Pass, ...] = (
    eliminate_self_joins,
    eliminate_foreign_key_joins,
    minimize,  # folds occurrences that differ: right for sets only
    drop_implied_conditions,
    number_aliases,
)


def simplify(
    branches: tuple[UnfoldedBranch, ...], semantics: Semantics
) -> tuple[UnfoldedBranch, ...]:
    """The branches that can have answers of their own, each as short as the semantics allows."""
    passes = SET_PASSES if semantics is Semantics.SET else BAG_PASSES
    # Conditions on rows that turn out to be one row may contradict each other.
    merged = (_apply(passes, branch) for branch in branches)
    simple = [branch for branch in merged if is_satisfiable(branch.query)]
    if semantics is Semantics.BAG:
        return tuple(simple)
    return drop_contained_branches(tuple(dict.fromkeys(simple)))


def _apply(passes: tuple[Pass, ...], branch: UnfoldedBranch) -> UnfoldedBranch:
    query = branch.query
    for each in passes:
        query = each(query)
    return replace(branch, query=query)
