"""SPARQL basic graph patterns and datalog-like rules, good and bad."""

from __future__ import annotations

import random
import re

import pytest

from obda_bm.diagnostics import SourceText, SparqlError
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.report.ucq_as_sparql import ucq_as_sparql
from obda_bm.syntax.conjunctive import parse_conjunctive
from obda_bm.syntax.datalog import parse_datalog
from obda_bm.syntax.sparql import parse_sparql

GOOD = {
    "SELECT ?x { ?x a :A }": "q(?x) :- A(?x)",
    "select distinct ?x where { ?x a :A ; :p ?y , ?z . }": "q(?x) :- A(?x), p(?x, ?y), p(?x, ?z)",
    "ASK { :a :p 'b'@en }": 'q() :- p(<http://example.org/a>, "b"@en)',
    "ASK { }": "q() :- true",
    "SELECT * { ?x :p ?y }": "q(?x, ?y) :- p(?x, ?y)",
    "SELECT ?x { ?x :p [ :q _:b ] . _:b a :B }": ("q(?x) :- q(?_1, ?_2), p(?x, ?_1), B(?_2)"),
    "SELECT ?x { [] :p ?x }": "q(?x) :- p(?_1, ?x)",
    "SELECT ?x { [ :p ?x ] }": "q(?x) :- p(?_1, ?x)",
    "SELECT ?x { ?x :p true, -2 }": (
        'q(?x) :- p(?x, "true"^^<http://www.w3.org/2001/XMLSchema#boolean>), '
        'p(?x, "-2"^^<http://www.w3.org/2001/XMLSchema#integer>)'
    ),
    "SELECT ?x { ?x :p ?y FILTER(?y > ?x && (?y != :c)) }": (
        "q(?x) :- p(?x, ?y), ?y > ?x, ?y <> <http://example.org/c>"
    ),
    "SELECT ?x { { ?x a :A } UNION { ?x a :B } ?x a :C }": (
        "q(?x) :- A(?x), C(?x)\nq(?x) :- B(?x), C(?x)"
    ),
    "PREFIX e: <http://example.org/> SELECT ?x { ?x e:p :a }": "q(?x) :- p(?x, <http://example.org/a>)",
    "BASE <http://example.org/> ASK { <a> a <B> }": "q() :- B(<http://example.org/a>)",
    'ASK { ?x :p """a "quoted"\\n\\u0041""" }': 'q() :- p(?x, "a \\"quoted\\"\\nA")',
}

BAD = {
    "SELECT ?x { ?x ?p ?y }": ("OBM643", "?p"),
    "SELECT ?x { ?x a ?c }": ("OBM643", "?c"),
    "SELECT ?x { ?x :p/:q ?y }": ("OBM643", "/"),
    "SELECT ?x { ?x ^:p ?y }": ("OBM643", "^"),
    "SELECT ?x { ?x :p+ ?y }": ("OBM643", "+"),
    "SELECT ?x { ?x :p ?y OPTIONAL { ?y :q ?z } }": ("OBM643", "OPTIONAL"),
    "SELECT ?x { ?x :p ?y MINUS { ?y :q ?z } }": ("OBM643", "MINUS"),
    "SELECT ?x { GRAPH :g { ?x :p ?y } }": ("OBM643", "GRAPH"),
    "SELECT ?x { BIND (1 AS ?x) }": ("OBM643", "BIND"),
    "SELECT ?x { ?x :p ?y } LIMIT 3": ("OBM643", "LIMIT"),
    "SELECT (COUNT(?x) AS ?n) { ?x :p ?y }": ("OBM643", "("),
    "CONSTRUCT { ?x :p ?y } WHERE { ?x :p ?y }": ("OBM643", "CONSTRUCT"),
    "SELECT ?x { ?x :p ?y FILTER regex(?y, 'a') }": ("OBM643", "regex"),
    "SELECT ?x { ?x :p ?y FILTER(?y = 1 || ?y = 2) }": ("OBM643", "||"),
    "SELECT ?x { 'a' :p ?x }": ("OBM643", "'a'"),
    "SELECT ?z { ?x :p ?y }": ("OBM644", "?z"),
    "SELECT ?x { { ?x a :A } UNION { ?y a :A } }": ("OBM644", "?x"),
    "SELECT ?x { ?x :p ?y FILTER(?z > 1) }": ("OBM644", "?z > 1"),
    "SELECT ?x { ?x ex:p ?y }": ("OBM642", "ex:p"),
    "SELECT ?x { ?x :p ": ("OBM641", None),
    "SELECT ?x { ?x :p ?y": ("OBM641", None),
    "SELECT ?x { ?x :p 'y }": ("OBM641", "'"),
    "SELECT { ?x :p ?y }": ("OBM641", "{"),
    "SELECT ?x ?x :p ?y }": ("OBM641", ":p"),
    "SELECT ?x { ?x :p ?y } }": ("OBM641", "}"),
    "ASK { ?x :p '\\q' }": ("OBM645", "'\\q'"),
    "": ("OBM641", None),
    "SELECT ?x { ?x :p ?y FILTER" + "(" * 5000: ("OBM643", "("),
    "SELECT ?x { ?x :p " + "[ :p " * 5000: ("OBM643", "["),
    "SELECT ?x " + "{" * 5000: ("OBM643", "{"),
}


def sparql(text: str) -> UnionOfCQs:
    return parse_sparql(SourceText("q.rq", f"PREFIX : <http://example.org/>\n{text}"))


@pytest.mark.parametrize("text", GOOD)
def test_patterns(text: str) -> None:
    assert str(sparql(text)) == GOOD[text]


@pytest.mark.parametrize("text", BAD)
def test_diagnostics_point_at_the_place(text: str) -> None:
    with pytest.raises(SparqlError) as caught:
        sparql(text)
    (diagnostic,) = caught.value.diagnostics
    code, place = BAD[text]
    assert diagnostic.code == code
    assert diagnostic.span is not None
    assert place is None or diagnostic.span.text == place
    assert diagnostic.hint


@pytest.mark.parametrize("text", [t for t in GOOD if "true" not in t and t != "ASK { }"])
def test_written_queries_read_back(text: str) -> None:
    ucq = sparql(text)
    again = parse_sparql(SourceText("again.rq", ucq_as_sparql(ucq)))
    assert again == ucq


def test_damaged_queries_never_raise_anything_else() -> None:
    pool = sorted(GOOD)
    refused = 0
    for seed in range(600):
        generator = random.Random(seed)
        tokens = re.findall(r"\S+|\s+", generator.choice(pool))
        place = generator.randrange(len(tokens))
        action = generator.randrange(3)
        tokens[place] = ("", tokens[place] * 2, generator.choice("{}()[].;,&|<>?'\"^"))[action]
        try:
            sparql("".join(tokens))
        except SparqlError:
            refused += 1
    assert refused > 150


def test_rules() -> None:
    text = "Q(?0) <- Pump-1(?0), feeds(?0,?1), ?1 != 'a' .\n# or\nq(?x) :- <http://b.org/B>(?x)"
    names = ["http://a.org/Pump-1", "http://a.org/feeds"]
    ucq = parse_conjunctive(SourceText("q", text), names)
    assert str(ucq) == 'q(?0) :- Pump-1(?0), feeds(?0, ?1), ?1 <> "a"\nq(?x) :- B(?x)'
    assert {a.iri for q in ucq.disjuncts for a in q.body} == {*names, "http://b.org/B"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("q(?x) :- A(?y)", "OBM644"),
        ("q(?x) :- A(?x, ?y, ?z)", "OBM641"),
        ("q(?x) :- A(?x),", "OBM641"),
        ("q(?x) A(?x)", "OBM641"),
        ("q(?x) :- A(?x) . q() :- A(?x)", "OBM641"),
        ("", "OBM641"),
        ("q(?x) :- Two(?x)", "OBM646"),
        ("q(?x) :- e:A(?x)", "OBM642"),
    ],
)
def test_bad_rules(text: str, code: str) -> None:
    with pytest.raises(SparqlError) as caught:
        parse_datalog(SourceText("q", text), ["http://a.org/Two", "http://b.org/Two"])
    assert caught.value.diagnostics[0].code == code
