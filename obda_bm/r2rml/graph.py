"""RDF graphs whose terms know where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from obda_bm.diagnostics import SourceText, Span
from obda_bm.ir.rdf import Iri, Literal


@dataclass(frozen=True, slots=True, order=True)
class Blank:
    label: str

    def __str__(self) -> str:
        return f"_:{self.label}"


Term = Iri | Literal | Blank


@dataclass(frozen=True, slots=True)
class Node:
    """One mention of a term.

    `inside` is what stands between the quotes of a literal.
    """

    term: Term
    span: Span | None = field(default=None, compare=False, repr=False)
    inside: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Triple:
    subject: Node
    predicate: Node
    object: Node


@dataclass(frozen=True, slots=True)
class Graph:
    """The triples of one file, in the order of its text, and the base IRI in force at its end."""

    source: SourceText
    triples: tuple[Triple, ...]
    base: str = ""
    by_subject: dict[Term, list[Triple]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        index: dict[Term, list[Triple]] = {}
        for triple in self.triples:
            index.setdefault(triple.subject.term, []).append(triple)
        object.__setattr__(self, "by_subject", index)

    def about(self, subject: Term) -> list[Triple]:
        return self.by_subject.get(subject, [])

    def objects(self, subject: Term, predicates: Iterable[str]) -> list[Node]:
        wanted = {Iri(p) for p in predicates}
        return [t.object for t in self.about(subject) if t.predicate.term in wanted]
