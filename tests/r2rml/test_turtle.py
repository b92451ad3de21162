"""Our Turtle parser says what rdflib says, and knows where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
import rdflib
from rdflib.compare import isomorphic

from obda_bm.diagnostics import MappingError, SourceText
from obda_bm.ir.rdf import STRING, XSD, Iri, Literal
from obda_bm.r2rml.graph import Graph, Node, Term
from obda_bm.r2rml.turtle import parse_turtle

BASE = "http://b/"
ODD = Path(__file__).with_name("odd.ttl")


def as_rdflib(graph: Graph) -> rdflib.Graph:
    result = rdflib.Graph()
    for triple in graph.triples:
        nodes = (triple.subject, triple.predicate, triple.object)
        result.add(tuple(_term(node.term) for node in nodes))  # type: ignore[arg-type]
    return result


def _term(term: Term) -> rdflib.term.Node:
    match term:
        case Iri(value):
            return rdflib.URIRef(value)
        case Literal(lexical, datatype, language):
            kind = None if datatype == STRING or language else rdflib.URIRef(datatype)
            return rdflib.Literal(lexical, lang=language or None, datatype=kind, normalize=False)
        case _:
            return rdflib.BNode(term.label.strip("[]") + "x")


def agree(text: str) -> bool:
    ours = as_rdflib(parse_turtle(SourceText("t.ttl", text), BASE))
    theirs = rdflib.Graph().parse(data=text, format="turtle", publicID=BASE)
    return isomorphic(ours, theirs)


def test_odd_syntax() -> None:
    assert agree(ODD.read_text("utf-8"))


def test_numbers_keep_their_form_and_have_their_type() -> None:
    graph = parse_turtle(SourceText("t.ttl", "<a> <b> 1, -2.50, +3e4, .5 ."))
    written = [str(t.object.term).replace(XSD, "") for t in graph.triples]
    assert written == [
        '"1"^^<integer>',
        '"-2.50"^^<decimal>',
        '"+3e4"^^<double>',
        '".5"^^<decimal>',
    ]


def test_w3c_documents(reference: Path) -> None:
    files = sorted((reference / "w3c-rdb2rdf").glob("*/r2rml*.ttl"))
    assert len(files) > 60
    for file in files:
        assert agree(file.read_text("utf-8")), file


def test_every_mention_has_its_place() -> None:
    text = '@prefix : <http://x/> .\n:a :b "c",\n  [ :d "long" ] .\n'
    graph = parse_turtle(SourceText("t.ttl", text))
    places = {str(n.term): n.span and (n.span.line, n.span.text) for n in nodes(graph)}
    assert places["<http://x/a>"] == (2, ":a")
    assert places['"c"'] == (2, '"c"')
    assert places["<http://x/d>"] == (3, ":d")
    assert places['"long"'] == (3, '"long"')


def nodes(graph: Graph) -> list[Node]:
    return [n for t in graph.triples for n in (t.subject, t.predicate, t.object)]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("@prefix : <http://x/> .\n:a :b :c\n:d :e :f .", 2, "expected '.', found ':d'"),
        (":a :b :c .", 1, "the prefix ':' is not declared"),
        ("<a> <b> [ <c> <d> .\n", 1, "a bracket that is not closed"),
        ('<a> <b> "c\n" .', 1, "a string that does not end"),
        ('\n<a> "b" <c> .', 2, "expected a predicate, found '\"b\"'"),
        ("<a> <b> <c", 1, "an IRI that does not end"),
        ('"a" <b> <c> .', 1, "a literal cannot be the subject"),
        ("<a> <b> " + "[ <c> " * 200, 1, "nested too deeply"),
        (r'<a> <b> "\q" .', 1, r"unknown escape '\\q'"),
    ],
)
def test_errors(text: str, line: int, message: str) -> None:
    with pytest.raises(MappingError) as caught:
        parse_turtle(SourceText("t.ttl", text))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == message
    assert diagnostic.span is not None
    assert diagnostic.span.line == line
