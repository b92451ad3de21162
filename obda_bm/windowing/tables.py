"""The patterns of a condition as conjunctive queries; equal ones are one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.ucq import Atom, ConjunctiveQuery, substitute, variables_of
from obda_bm.ir.window_plan import Match


@dataclass(slots=True)
class Tables:
    """The tables asked for so far, by their queries with the variables numbered."""

    found: dict[ConjunctiveQuery, tuple[str, ConjunctiveQuery]] = field(default_factory=dict)

    def match(self, state: str | None, atoms: Iterable[Atom], wanted: frozenset[Variable]) -> Match:
        """A row of the table for `atoms` in `state`, whose columns are the `wanted` variables."""
        at = None if state is None else Variable(state)
        body = tuple(replace(atom, state=at) for atom in dict.fromkeys(atoms))
        columns = tuple(v for v in dict.fromkeys(variables_of(body)) if v in wanted and v != at)
        query = ConjunctiveQuery((*([at] if at else []), *columns), body)
        name = f"p{len(self.found) + 1}"
        known, _ = self.found.setdefault(numbered(query), (name, query))
        return Match(known, state, columns)


def numbered(query: ConjunctiveQuery) -> ConjunctiveQuery:
    """`query` with its variables called after the order in which they first stand there.

    >>> from obda_bm.ir.ucq import ClassAtom
    >>> x, i = Variable("x"), Variable("i")
    >>> print(numbered(ConjunctiveQuery((i, x), (ClassAtom("http://e#Pump", x, i),))))
    q(?at, ?1) :- Pump(?1)<at>
    """
    answers = [term for term in query.head if isinstance(term, Variable)]
    states = {atom.state for atom in query.body if atom.state is not None}
    variables = [v for v in dict.fromkeys((*answers, *variables_of(query.body))) if v not in states]
    names: dict[Variable, RdfTerm] = {v: Variable(str(n)) for n, v in enumerate(variables, start=1)}
    renamed = substitute(query, names)
    at = Variable("at")
    head = tuple(at if term in states else term for term in renamed.head)
    body = (replace(atom, state=at) if atom.state else atom for atom in renamed.body)
    return ConjunctiveQuery(head, tuple(body))
