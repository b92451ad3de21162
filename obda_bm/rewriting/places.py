"""Where the variables of a query occur, and which of them may stand for invented individuals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.ucq import Atom, ConjunctiveQuery, substitute, variables_of


def visible(query: ConjunctiveQuery) -> frozenset[Variable]:
    """Answer variables, compared variables and states: only what the data names will do."""
    compared = (t for c in query.comparisons for t in (c.left, c.right))
    states = (atom.state for atom in query.body)
    return frozenset(t for t in (*query.head, *compared, *states) if isinstance(t, Variable))


def invisible(query: ConjunctiveQuery) -> tuple[Variable, ...]:
    """The variables that may be bound to an invented individual, in order of occurrence.

    Each state has invented individuals of its own, so a variable of two states cannot be one.
    """
    shown = visible(query)
    candidates = dict.fromkeys(v for v in variables_of(query.body) if v not in shown)
    return tuple(v for v in candidates if len({a.state for a in atoms_with(query, v)}) == 1)


def unbound(query: ConjunctiveQuery) -> frozenset[Variable]:
    """The variables that occur once: `feeds(x, y)` with such a y says that x is in ∃feeds."""
    shown = visible(query)
    counts = Counter(variables_of(query.body))
    return frozenset(v for v, n in counts.items() if n == 1 and v not in shown)


def atoms_with(query: ConjunctiveQuery, term: RdfTerm) -> tuple[Atom, ...]:
    """The atoms of `query` that mention `term`."""
    return tuple(atom for atom in query.body if term in atom.terms)


def fresh_names(query: ConjunctiveQuery) -> Iterator[Variable]:
    """Variables that `query` does not have: `?_1`, `?_2`, …"""
    used = set(variables_of(query.body))
    number = 0
    while True:
        number += 1
        if Variable(f"_{number}") not in used:
            yield Variable(f"_{number}")


def number_fresh(query: ConjunctiveQuery) -> ConjunctiveQuery:
    """The query with variables that are nobody's renamed to `?_1`, `?_2`, … in their order.

    >>> from obda_bm.ir.ucq import PropertyAtom
    >>> x, y = Variable("x"), Variable("_7")
    >>> print(number_fresh(ConjunctiveQuery((x,), (PropertyAtom("feeds", x, y),))))
    q(?x) :- feeds(?x, ?_1)
    """
    kept = visible(query)
    numbers = (v for n in count(1) if (v := Variable(f"_{n}")) not in kept)
    found = dict.fromkeys(v for v in variables_of(query.body) if v not in kept and _is_fresh(v))
    return substitute(query, dict(zip(found, numbers, strict=False)))


def _is_fresh(variable: Variable) -> bool:
    return variable.name[:1] == "_" and variable.name[1:].isdigit()
