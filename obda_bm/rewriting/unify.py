"""Make terms of a query one."""

from __future__ import annotations

from collections.abc import Iterable

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.ucq import Atom, ConjunctiveQuery, substitute
from obda_bm.rewriting.places import visible


def representative(terms: Iterable[RdfTerm], query: ConjunctiveQuery) -> RdfTerm | None:
    """The term that the others become: a constant, else a visible variable, else the first.

    None if two of them are constants, which name different things unless somebody says so
    (OWL 2 QL has no way to say so).
    """
    distinct = tuple(dict.fromkeys(terms))
    constants = [t for t in distinct if not isinstance(t, Variable)]
    if len(constants) > 1:
        return None
    shown = [t for t in distinct if t in visible(query)]
    return (*constants, *shown, *distinct)[0]


def unifier(terms: Iterable[RdfTerm], chosen: RdfTerm) -> dict[Variable, RdfTerm]:
    """The substitution that makes `terms` equal to `chosen`."""
    return {t: chosen for t in terms if isinstance(t, Variable) and t != chosen}


def unite(
    query: ConjunctiveQuery, body: tuple[Atom, ...], binding: dict[Variable, RdfTerm]
) -> ConjunctiveQuery:
    """`query` with another body, and `binding` applied to all of it."""
    # Substitution comes first: the head may have a variable that only the old body binds.
    both = ConjunctiveQuery(query.head, (*query.body, *body), query.comparisons)
    new = substitute(both, binding)
    return ConjunctiveQuery(new.head, new.body[len(query.body) :], new.comparisons)
