"""RDF/XML, JSON-LD and the other syntaxes -> a graph; their terms know the file only."""

from __future__ import annotations

from warnings import catch_warnings, simplefilter
from xml.sax import SAXException

import rdflib
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.notation3 import BadSyntax

from obda_bm.diagnostics import SourceText, Span
from obda_bm.ir.rdf import RDF, STRING, Iri, Literal
from obda_bm.r2rml.graph import Blank, Graph, Node, Term, Triple
from obda_bm.r2rml.mistakes import Mistake


def parse_with_rdflib(source: SourceText, syntax: str) -> Graph:
    """The graph that rdflib reads from `source`.

    Raises:
        MappingError: where the text is not of that syntax.
    """
    try:
        with catch_warnings():
            simplefilter("ignore")  # rdflib's JSON-LD parser uses what rdflib deprecates
            read = rdflib.Graph().parse(data=source.text, format=syntax)
    except (SAXException, ParserError, BadSyntax, ValueError) as error:
        message = f"cannot read {source.name!r} as {syntax}: {str(error).splitlines()[0]}"
        hint = "Check the file, or convert it to Turtle, whose errors have a line."
        raise Mistake.SYNTAX.error(Span(source, 0, 0), message, hint) from None
    whole = Span(source, 0, 0)
    triples = sorted(((_term(s), _term(p), _term(o)) for s, p, o in read), key=str)
    return Graph(
        source,
        tuple(Triple(Node(s, whole), Node(p, whole), Node(o, whole)) for s, p, o in triples),
    )


def _term(term: object) -> Term:
    match term:
        case rdflib.BNode():
            return Blank(str(term))
        case rdflib.Literal() if term.language:
            return Literal(str(term), RDF + "langString", term.language.lower())
        case rdflib.Literal():
            return Literal(str(term), str(term.datatype) if term.datatype else STRING)
        case _:
            return Iri(str(term))
