"""Looking things up in a mapping graph while problems are collected."""

from __future__ import annotations

from dataclasses import dataclass, field

from obda_bm.diagnostics import Diagnostic, did_you_mean
from obda_bm.ir.rdf import RDF, STRING, XSD, Iri, Literal
from obda_bm.r2rml.graph import Graph, Node
from obda_bm.r2rml.mistakes import Mistake
from obda_bm.r2rml.vocabulary import CLASSES, PROPERTIES, RR, Part

_TEXTS = {STRING, XSD + "normalizedString", XSD + "token"}


@dataclass(frozen=True, slots=True)
class Reading:
    graph: Graph
    problems: list[Diagnostic] = field(default_factory=list)

    def report(self, problem: Diagnostic) -> None:
        if problem not in self.problems or all(
            p.span != problem.span for p in self.problems if p == problem
        ):
            self.problems.append(problem)

    def all(self, node: Node, *names: str) -> list[Node]:
        return self.graph.objects(node.term, [RR + name for name in names])

    def one(self, node: Node, name: str) -> Node | None:
        """The only value of a property; a problem where there are several."""
        found = self.all(node, name)
        if len({n.term for n in found}) > 1:
            hint = f"Keep one rr:{name}."
            self.report(Mistake.TOO_MANY.at(found[1].span, f"rr:{name} is given twice", hint))
        return found[0] if found else None

    def text(self, node: Node, name: str) -> str | None:
        if isinstance(node.term, Literal) and node.term.datatype in _TEXTS:
            return node.term.lexical
        hint = f'Write the text in quotes: rr:{name} "…".'
        self.report(Mistake.WRONG_NODE.at(node.span, f"rr:{name} must be a string", hint))
        return None

    def iri(self, node: Node, name: str) -> str | None:
        given = self.one(node, name)
        if given is None:
            return None
        if isinstance(given.term, Iri):
            return given.term.value
        message, hint = f"rr:{name} must be an IRI", "Write an IRI or a prefixed name."
        self.report(Mistake.WRONG_NODE.at(given.span, message, hint))
        return None

    def check_properties(self, node: Node, part: Part) -> None:
        """Report rr: properties that are unknown, or belong elsewhere."""
        for triple in self.graph.about(node.term):
            name = _rr_name(triple.predicate)
            if triple.predicate.term == Iri(RDF + "type"):
                self._check_class(triple.object)
            elif name is not None and name not in part.properties:
                self.report(_misplaced(triple.predicate, name, part))
        if not self.graph.about(node.term) and isinstance(node.term, Iri | Literal):
            message = f"{node.term} is not described as {part.title}"
            hint = f"Write [ … ] with rr:{part.properties[0]} and the like, or describe it."
            self.report(Mistake.WRONG_NODE.at(node.span, message, hint))

    def misspelt(self, node: Node, part: Part) -> bool:
        """Whether a property of `node` is reported already, which explains why one is missing."""
        names = [_rr_name(t.predicate) for t in self.graph.about(node.term)]
        undescribed = not names and isinstance(node.term, Iri | Literal)
        return undescribed or any(n is not None and n not in part.properties for n in names)

    def _check_class(self, node: Node) -> None:
        name = _rr_name(node)
        if name is not None and name not in CLASSES:
            hint = did_you_mean(name, CLASSES) or "Remove it; R2RML knows no such class."
            self.report(Mistake.UNKNOWN_TERM.at(node.span, f"unknown class rr:{name}", hint))


def _rr_name(node: Node) -> str | None:
    match node.term:
        case Iri(value) if value.startswith(RR):
            return value.removeprefix(RR)
    return None


def _misplaced(predicate: Node, name: str, part: Part) -> Diagnostic:
    if name in PROPERTIES:
        message = f"rr:{name} does not belong on {part.title}"
        listed = ", ".join(f"rr:{p}" for p in part.properties)
        return Mistake.UNKNOWN_TERM.at(predicate.span, message, f"It has {listed}.")
    hint = did_you_mean(name, part.properties) or did_you_mean(name, PROPERTIES)
    hint = hint or f"Known here: {', '.join(f'rr:{p}' for p in part.properties)}."
    return Mistake.UNKNOWN_TERM.at(predicate.span, f"unknown property rr:{name}", hint)
