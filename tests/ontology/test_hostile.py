"""Files that mean harm, or are broken: a diagnostic, in bounded time and memory, and no network."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest

from obda_bm.diagnostics import OntologyError, RewritingError, SourceText
from obda_bm.ontology import parse, read_ontology
from obda_bm.rewriting import Form, Limits, rewrite_ucq
from obda_bm.syntax.datalog import parse_datalog
from tests.ontology.files import PREFIXES, turtle, write
from tests.ontology.test_syntaxes import OWL_XML, TEXT

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">%s</rdf:RDF>"""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something asked for the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def code_of(path: Path) -> str:
    with pytest.raises(OntologyError) as caught:
        read_ontology([path])
    return caught.value.diagnostics[0].code


def bomb(levels: int, width: int) -> str:
    lines = ['<!ENTITY e0 "lol">']
    for n in range(1, levels):
        lines.append(f'<!ENTITY e{n} "{f"&e{n - 1};" * width}">')
    return "<!DOCTYPE rdf:RDF [" + "\n".join(lines) + "]>"


@pytest.mark.parametrize(
    "prologue",
    [
        bomb(30, 10),
        '<!DOCTYPE rdf:RDF [<!ENTITY e "' + "x" * 100_000 + '">]>',
        '<!DOCTYPE rdf:RDF [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE rdf:RDF [<!ENTITY e PUBLIC "x" "http://example.org/e">]>',
        '<!DOCTYPE rdf:RDF [<!ENTITY % e SYSTEM "http://example.org/e"> %e;]>',
        '<!DOCTYPE rdf:RDF [<!ENTITY a "&b;"><!ENTITY b "&a;">]>',
    ],
)
@pytest.mark.parametrize(
    "body", [RDF % "<rdf:Description rdf:about='&e;'/>", OWL_XML[OWL_XML.index("<Ontology") :]]
)
def test_entities_that_grow_or_reach_out(tmp_path: Path, prologue: str, body: str) -> None:
    assert code_of(write(tmp_path, "o.owl", prologue + body)) == "OBM605"


def test_quadratic_blowup(tmp_path: Path) -> None:
    prologue = '<!DOCTYPE rdf:RDF [<!ENTITY e "' + "x" * 4000 + '">]>'
    path = write(tmp_path, "o.owl", prologue + RDF % ("&e;" * 50_000))
    assert code_of(path) == "OBM605"


def test_small_entities_are_welcome(tmp_path: Path) -> None:
    prologue = '<!DOCTYPE rdf:RDF [<!ENTITY b "http://example.org/"><!ENTITY e "&b;onto#">]>'
    body = (
        '<rdf:Description rdf:about="&e;A"><rdfs:subClassOf rdf:resource="&e;B"/></rdf:Description>'
    )
    ontology = read_ontology([write(tmp_path, "o.owl", prologue + RDF % body)])
    assert [str(axiom) for axiom in ontology.tbox.axioms] == ["A ⊑ B"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("o.ttl", ":A rdfs:subClassOf :B ."),
        ("o.ttl", "<a> <b> "),
        ("o.ttl", "\x00\x01"),
        ("o.ttl", "[" * 5000),
        ("o.nt", "<a> <b> <c>"),
        ("o.rdf", "<rdf:RDF"),
        ("o.rdf", "<?xml version='1.0'?><rdf:RDF></wrong>"),
        ("o.owx", OWL_XML.replace("</Ontology>", "")),
        ("o.owx", OWL_XML.replace('name="" IRI', 'name=""')),
        ("o.jsonld", "{"),
        ("o.jsonld", "[" * 100_000),
        ("o.trig", "{ <a> <b> }"),
    ],
)
def test_malformed_files(tmp_path: Path, file: str, text: str) -> None:
    assert code_of(write(tmp_path, file, text)) == "OBM604"


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "latin.ttl").write_bytes(b"# \xff\xfe\xfa\n")
    assert code_of(tmp_path / "latin.ttl") == "OBM601"
    assert code_of(tmp_path / "missing.ttl") == "OBM601"
    assert code_of(tmp_path) == "OBM601"
    assert code_of(Path("/dev/zero")) == "OBM601"


def test_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse, "MAX_BYTES", 1000)
    assert code_of(turtle(tmp_path, "# " + "x" * 1000)) == "OBM602"


def test_remote_json_contexts(tmp_path: Path) -> None:
    text = '{"@context": ["http://example.org/context"], "@id": "http://example.org/A"}'
    assert code_of(write(tmp_path, "o.jsonld", text)) == "OBM607"


def test_imports_run_in_circles_and_stay_here(tmp_path: Path) -> None:
    for here, there in (("a", "b"), ("b", "a")):
        text = f"<http://example.org/{here}.ttl> a owl:Ontology ; "
        text += f"owl:imports <http://example.org/{there}.ttl> , <http://example.org/{here}.ttl> . "
        turtle(tmp_path, text + f":{here} rdfs:subClassOf :{there} .", f"{here}.ttl")
    ontology = read_ontology([tmp_path / "a.ttl"])
    assert len(ontology.files) == 2
    assert {str(axiom) for axiom in ontology.tbox.axioms} == {"a ⊑ b", "b ⊑ a"}
    assert not ontology.diagnostics


def test_missing_imports_are_reported(tmp_path: Path) -> None:
    text = "<http://example.org/o> a owl:Ontology ; owl:imports <http://example.org/gone> ."
    (report,) = read_ontology([turtle(tmp_path, text)]).diagnostics
    assert report.code == "OBM606"
    assert report.span is not None
    assert report.span.text == "http://example.org/gone"


def test_catalog_names_imports(tmp_path: Path) -> None:
    catalog = '<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">'
    catalog += '<uri name="http://example.org/base" uri="parts/base.ttl"/></catalog>'
    write(tmp_path, "catalog-v001.xml", catalog)
    (tmp_path / "parts").mkdir()
    turtle(tmp_path / "parts", ":A rdfs:subClassOf :B .", "base.ttl")
    text = "<http://example.org/o> a owl:Ontology ; owl:imports <http://example.org/base> ."
    assert len(read_ontology([turtle(tmp_path, text)]).tbox.axioms) == 1


@pytest.mark.parametrize("text", [":l rdf:first :A ; rdf:rest :l .", ":l rdf:first :A ."])
def test_broken_lists_are_reported(tmp_path: Path, text: str) -> None:
    path = turtle(tmp_path, f"{text} :X rdfs:subClassOf [ owl:intersectionOf :l ] .")
    (report,) = read_ontology([path]).diagnostics
    assert "malformed list" in report.message


def test_expressions_that_contain_themselves_are_reported(tmp_path: Path) -> None:
    text = "_:x owl:onProperty :p ; owl:someValuesFrom _:x . :A rdfs:subClassOf _:x ."
    (report,) = read_ontology([turtle(tmp_path, text)]).diagnostics
    assert "nested too deeply" in report.message


def test_a_chain_of_ten_thousand_classes(tmp_path: Path) -> None:
    axioms = "\n".join(f":C{n} rdfs:subClassOf :C{n + 1} ." for n in range(10_000))
    tbox = read_ontology([turtle(tmp_path, axioms)]).tbox
    names = [f"http://example.org/C{n}" for n in range(10_001)]
    query = parse_datalog(SourceText("q", "q(?x) :- C10000(?x)"), names)
    assert len(rewrite_ucq(query, tbox)) == 10_001
    assert len(rewrite_ucq(query, tbox, Form.COMPILED)) == 1
    product = parse_datalog(SourceText("q", "q(?x, ?y) :- C10000(?x), C9999(?y)"), names)
    with pytest.raises(RewritingError) as caught:
        rewrite_ucq(product, tbox, limits=Limits(disjuncts=5_000))
    assert caught.value.diagnostics[0].code == "OBM663"


def test_a_chain_of_two_thousand_inventions(tmp_path: Path) -> None:
    some = "[ owl:onProperty :p{0} ; owl:someValuesFrom :C{1} ]"
    axioms = "\n".join(f":C{n} rdfs:subClassOf {some.format(n, n + 1)} ." for n in range(2_000))
    tbox = read_ontology([turtle(tmp_path, axioms)]).tbox
    query = parse_datalog(SourceText("q", "q() :- C2000(?x)"), ["http://example.org/C1"])
    assert len(rewrite_ucq(query, tbox)) == 2_001
    with pytest.raises(RewritingError) as caught:
        rewrite_ucq(query, tbox, limits=Limits(explored=100))
    assert caught.value.diagnostics[0].code == "OBM662"


def test_three_hundred_damaged_files(tmp_path: Path) -> None:
    """Whatever is cut, doubled or replaced: an ontology or a diagnostic, no other exception."""
    texts = {"o.ttl": PREFIXES + TEXT, "o.owx": OWL_XML}
    read = 0
    refused: list[str] = []
    for seed in range(300):
        generator = random.Random(seed)
        name = generator.choice(sorted(texts))
        try:
            read_ontology([write(tmp_path, name, damaged(generator, texts[name]))])
            read += 1
        except OntologyError as error:
            refused.append(error.diagnostics[0].render())
    assert all(text.startswith("error[OBM6") for text in refused)
    assert read > 20
    assert len(refused) > 20


def damaged(generator: random.Random, text: str) -> str:
    start = generator.randrange(len(text))
    end = min(start + generator.randint(1, 40), len(text))
    return generator.choice(
        (
            text[:start] + text[end:],
            text[:end] + text[start:],
            text[:start] + generator.choice('<>"[](){};.,:&\x00\udcff'[:-1]) + text[end:],
            text[:start],
        )
    )
