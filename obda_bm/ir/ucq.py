"""Conjunctive queries over an ontology's classes and properties, and unions of them.

A pattern of a STARQL query is about one state: the assertions that share a timestamp. An atom
therefore carries the variable of its state; atoms of plain queries, and of the WHERE clause, which
is about static data, carry none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from obda_bm.diagnostics import Span
from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.terms import Op


@dataclass(frozen=True, slots=True)
class ClassAtom:
    """`iri(term)`; a class, or a datatype when the term is a literal's place."""

    iri: str
    term: RdfTerm
    state: Variable | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def terms(self) -> tuple[RdfTerm, ...]:
        return (self.term,)

    def __str__(self) -> str:
        return f"{local_name(self.iri)}({self.term}){_at(self.state)}"


@dataclass(frozen=True, slots=True)
class PropertyAtom:
    """`iri(subject, object)`, for object and data properties alike."""

    iri: str
    subject: RdfTerm
    object: RdfTerm
    state: Variable | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def terms(self) -> tuple[RdfTerm, ...]:
        return (self.subject, self.object)

    def __str__(self) -> str:
        return f"{local_name(self.iri)}({self.subject}, {self.object}){_at(self.state)}"


Atom = ClassAtom | PropertyAtom


@dataclass(frozen=True, slots=True)
class TermComparison:
    """A FILTER, or a comparison of state variables, which compare as timestamps do.

    `offset`, in microseconds, is added to the right side; only state variables have one.
    """

    left: RdfTerm
    op: Op
    right: RdfTerm
    offset: int = 0
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        shift = f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}" if self.offset else ""
        return f"{self.left} {self.op.value} {self.right}{shift}"


@dataclass(frozen=True, slots=True)
class ConjunctiveQuery:
    """`head :- body, comparisons`; a rewritten head may have constants, or a variable twice."""

    head: tuple[RdfTerm, ...]
    body: tuple[Atom, ...]
    comparisons: tuple[TermComparison, ...] = ()

    def __post_init__(self) -> None:
        bound = set(variables_of(self.body))
        loose = [t for t in self.head if isinstance(t, Variable) and t not in bound]
        if loose:
            raise ValueError(f"answer variables that the body does not bind: {loose}")

    def __str__(self) -> str:
        body = ", ".join(map(str, self.body + self.comparisons)) or "true"
        return f"q({', '.join(map(str, self.head))}) :- {body}"


@dataclass(frozen=True, slots=True)
class UnionOfCQs:
    """Queries with the same answer columns, called `names`."""

    names: tuple[str, ...]
    disjuncts: tuple[ConjunctiveQuery, ...]

    def __post_init__(self) -> None:
        if any(len(q.head) != len(self.names) for q in self.disjuncts):
            raise ValueError("every disjunct answers with the columns of the union")

    def __str__(self) -> str:
        return "\n".join(map(str, self.disjuncts))


def variables_of(atoms: tuple[Atom, ...]) -> Iterator[Variable]:
    """The variables of `atoms`, state variables included, in order and with repetitions."""
    for atom in atoms:
        yield from (term for term in atom.terms if isinstance(term, Variable))
        if atom.state is not None:
            yield atom.state


def substitute(query: ConjunctiveQuery, binding: dict[Variable, RdfTerm]) -> ConjunctiveQuery:
    """`query` with its variables replaced; state variables stay."""

    def new(term: RdfTerm) -> RdfTerm:
        return binding.get(term, term) if isinstance(term, Variable) else term

    def atom_with(atom: Atom) -> Atom:
        match atom:
            case ClassAtom(_, term):
                return replace(atom, term=new(term))
            case PropertyAtom(_, subject, object_):
                return replace(atom, subject=new(subject), object=new(object_))

    return ConjunctiveQuery(
        tuple(map(new, query.head)),
        tuple(map(atom_with, query.body)),
        tuple(replace(c, left=new(c.left), right=new(c.right)) for c in query.comparisons),
    )


def local_name(iri: str) -> str:
    """The part of `iri` after its namespace, for people to read.

    >>> local_name("http://example.org/turbines#Sensor")
    'Sensor'
    """
    return iri.rstrip("#/").replace("#", "/").rsplit("/", 1)[-1]


def _at(state: Variable | None) -> str:
    return "" if state is None else f"<{state.name}>"
