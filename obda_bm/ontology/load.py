"""OWL files -> TBox, with a report of every axiom that is not used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from rdflib import OWL, RDF, Graph, URIRef
from rdflib.term import Node

from obda_bm.diagnostics import Diagnostic, OntologyError, Severity, Span
from obda_bm.ir.tbox import Axiom, Named, TBox, concepts_of, roles_of
from obda_bm.ontology.axioms import Context, Statement, statements
from obda_bm.ontology.datatypes import datatype_inclusions
from obda_bm.ontology.expressions import OutsideProfile, Reader
from obda_bm.ontology.imports import read_with_imports
from obda_bm.ontology.mistakes import Mistake
from obda_bm.ontology.normalize import FreshRoles
from obda_bm.ontology.parse import Document
from obda_bm.ontology.positions import place_of, subject_places
from obda_bm.ontology.vocabulary import Vocabulary, is_built_in, vocabulary_of


class Profile(Enum):
    """What happens to axioms outside of OWL 2 QL: they are REPORTed, or the ontology REFUSEd."""

    REPORT = "report"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Ontology:
    """A TBox, what of the files did not get into it and why, and how many axioms they have."""

    tbox: TBox
    diagnostics: tuple[Diagnostic, ...]
    statements: int
    files: tuple[Path, ...]


def read_ontology(paths: Iterable[Path], profile: Profile = Profile.REPORT) -> Ontology:
    """The ontology in the files at `paths`, merged, with what they import.

    Raises:
        OntologyError: if a file cannot be read, or leaves OWL 2 QL and `profile` refuses that.
    """
    documents, problems = read_with_imports(paths)
    vocabulary = vocabulary_of(document.graph for document in documents)
    fresh = FreshRoles()
    axioms: dict[Axiom, None] = {}
    count = 0
    for document in documents:
        problems += document.unread
        context = _context(document, vocabulary, fresh)
        for statement in statements(context):
            count += 1
            taken, problem = _take(statement, context)
            axioms |= dict.fromkeys(taken)
            problems += problem
        problems += _assertions(document, vocabulary)
    problems.sort(key=_order)
    refused = [p for p in problems if p.code != Mistake.ASSERTIONS.value]
    if refused and profile is Profile.REFUSE:
        raise OntologyError(*(replace(p, severity=Severity.ERROR) for p in refused))
    tbox = _tbox(axioms, vocabulary, fresh)
    return Ontology(tbox, tuple(problems), count, tuple(d.path for d in documents))


def _context(document: Document, vocabulary: Vocabulary, fresh: FreshRoles) -> Context:
    places = subject_places(document.source)
    reader = Reader(document.graph, vocabulary)

    def span(node: Node) -> Span:
        name = next(_named_around(document.graph, node), "")
        return place_of(name, places, document.source)

    return Context(reader, fresh, span)


def _named_around(graph: Graph, node: Node) -> Iterator[str]:
    """The IRI `node`, or one that the expression `node` mentions."""
    if isinstance(node, URIRef):
        yield str(node)
    else:
        said = sorted(str(o) for _, o in graph.predicate_objects(node) if isinstance(o, URIRef))
        yield from (name for name in said if not is_built_in(URIRef(name)))


def _take(statement: Statement, context: Context) -> tuple[list[Axiom], list[Diagnostic]]:
    axioms: list[Axiom] = []
    reasons: dict[str, None] = {}
    used = 0
    for part in statement.parts:
        try:
            axioms += part()
            used += 1
        except OutsideProfile as problem:
            reasons[problem.reason] = None
    if not reasons:
        return axioms, []
    return axioms, [_report(statement, context, tuple(reasons), used)]


def _report(
    statement: Statement, context: Context, reasons: tuple[str, ...], used: int
) -> Diagnostic:
    span = context.span(statement.subject)
    why = ", ".join(reasons)
    if used:
        message = f"{statement.text} is used in part: OWL 2 QL has no room for {why}"
        hint = "Answers do not take the rest into account."
        return Mistake.PARTLY_OUTSIDE.warn(span, message, hint)
    message = f"{statement.text} is not used: OWL 2 QL has no room for {why}"
    hint = "Remove the axiom, or live with answers that do not take it into account."
    return Mistake.OUTSIDE_PROFILE.warn(span, message, hint)


def _assertions(document: Document, vocabulary: Vocabulary) -> list[Diagnostic]:
    """One warning if the file has assertions about individuals, which are data."""
    graph = document.graph
    properties = vocabulary.object_properties | vocabulary.data_properties
    facts = [s for s, p, _ in graph if p in properties]
    facts += [s for s, o in graph.subject_objects(RDF.type) if _is_assertion(o, vocabulary)]
    if not facts:
        return []
    named = sorted(str(s) for s in facts if isinstance(s, URIRef))
    span = place_of(named[0] if named else "", subject_places(document.source), document.source)
    message = f"assertions about individuals are not used ({len(facts)} here)"
    hint = "Individuals come from the data through the mapping."
    return [Mistake.ASSERTIONS.warn(span, message, hint)]


def _is_assertion(kind: Node, vocabulary: Vocabulary) -> bool:
    named = isinstance(kind, URIRef) and not is_built_in(kind)
    return kind == OWL.NamedIndividual or (named and kind not in vocabulary.datatypes)


def _tbox(axioms: dict[Axiom, None], vocabulary: Vocabulary, fresh: FreshRoles) -> TBox:
    data = frozenset(map(str, vocabulary.data_properties))
    classes = {c.iri for a in axioms for c in concepts_of(a) if isinstance(c, Named)}
    datatypes = {iri for iri in classes if vocabulary.is_datatype(URIRef(iri))}
    roles = {role.iri for a in axioms for role in roles_of(a)}
    return TBox(
        tuple(sorted(axioms, key=str)) + tuple(datatype_inclusions(datatypes)),
        frozenset(map(str, vocabulary.classes)) | (classes - datatypes),
        frozenset(map(str, vocabulary.object_properties)) | (roles - data - fresh.names),
        data | fresh.over(data),
        fresh.names,
    )


def _order(problem: Diagnostic) -> tuple[str, int, str]:
    span = problem.span
    return (span.source.name, span.start, problem.message) if span else ("", 0, problem.message)
