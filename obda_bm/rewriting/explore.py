"""Existential reasoning: every way in which invented individuals may satisfy a query.

The result is a union over *compiled* atoms: `A(x)` stands for everything below A, `R(x, y)` for
every role below R. Over data closed under the hierarchies it gives exactly the certain answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from obda_bm.ir.rdf import RdfTerm
from obda_bm.ir.ucq import ConjunctiveQuery
from obda_bm.rewriting.clip import clip
from obda_bm.rewriting.collapse import collapse
from obda_bm.rewriting.drop_contained import Index, Prepared, contains, prepare
from obda_bm.rewriting.drop_implied_atoms import drop_implied_atoms
from obda_bm.rewriting.limits import Limits, refuse_explored
from obda_bm.rewriting.places import invisible
from obda_bm.rewriting.simplify import simplify
from obda_bm.rewriting.steps import Derived, Knowledge


def explore(
    queries: tuple[ConjunctiveQuery, ...], knowledge: Knowledge, limits: Limits
) -> list[Derived]:
    """The queries that clipping and collapsing make of `queries`, themselves included."""
    seen = Index()
    waiting: deque[Derived] = deque(Derived(query) for query in queries)
    while waiting:
        new = _admit(waiting.popleft(), seen, knowledge)
        if new is None:
            continue
        if len(seen) > limits.explored:
            raise refuse_explored(limits)
        waiting.extend(_consequences(new, knowledge))
    return [each.derived for each in seen]


def _admit(derived: Derived, seen: Index, knowledge: Knowledge) -> Derived | None:
    simple = simplify(derived, knowledge)
    if simple is None:
        return None
    smaller = prepare(drop_implied_atoms(simple, knowledge), knowledge)
    if _is_covered(smaller, seen, knowledge):
        return None
    seen.add(smaller)
    return smaller.derived


def _is_covered(query: Prepared, seen: Index, knowledge: Knowledge) -> bool:
    """Whether a query seen before maps into `query` without merging invisible variables.

    If it merged some, then the query seen before might need more steps to where `query` is than
    are left; without merging, the individuals made last are no later than before, and following
    them back ends.
    """
    once: frozenset[RdfTerm] = frozenset(invisible(query.query))
    return any(contains(other, query, knowledge, once) for other in seen.candidates(query))


def _consequences(derived: Derived, knowledge: Knowledge) -> Iterator[Derived]:
    yield from collapse(derived, knowledge)
    for variable in invisible(derived.query):
        yield from clip(derived, variable, knowledge)
