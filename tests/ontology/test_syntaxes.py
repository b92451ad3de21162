"""One ontology in every syntax gives one TBox."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdflib import Graph

from obda_bm.diagnostics import OntologyError
from obda_bm.ontology import read_ontology
from tests.ontology.files import PREFIXES, write

TEXT = """
:A a owl:Class ; rdfs:subClassOf :B , [ a owl:Restriction ; owl:onProperty :p ;
  owl:someValuesFrom :C ] .
:B a owl:Class ; rdfs:subClassOf :A ; owl:disjointWith :D .
:p a owl:ObjectProperty ; rdfs:domain :A ; owl:inverseOf :q .
:q a owl:ObjectProperty .
:C a owl:Class . :D a owl:Class .
:E a owl:Class ; owl:equivalentClass :D .
:D owl:equivalentClass :F . :F a owl:Class .
"""

OWL_XML = """<?xml version="1.0"?>
<!DOCTYPE Ontology [ <!ENTITY ex "http://example.org/" > ]>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="http://example.org/onto"
    xml:base="http://example.org/">
  <Prefix name="" IRI="http://example.org/"/>
  <Declaration><Class IRI="http://example.org/A"/></Declaration>
  <Declaration><Class IRI="http://example.org/B"/></Declaration>
  <Declaration><Class IRI="http://example.org/C"/></Declaration>
  <Declaration><Class IRI="http://example.org/D"/></Declaration>
  <Declaration><Class abbreviatedIRI=":E"/></Declaration>
  <Declaration><Class abbreviatedIRI=":F"/></Declaration>
  <Declaration><ObjectProperty IRI="&ex;p"/></Declaration>
  <Declaration><ObjectProperty IRI="&ex;q"/></Declaration>
  <SubClassOf><Class IRI="&ex;A"/><Class IRI="&ex;B"/></SubClassOf>
  <SubClassOf><Class IRI="&ex;B"/><Class IRI="&ex;A"/></SubClassOf>
  <SubClassOf><Class IRI="&ex;A"/>
    <ObjectSomeValuesFrom><ObjectProperty IRI="&ex;p"/><Class IRI="&ex;C"/></ObjectSomeValuesFrom>
  </SubClassOf>
  <EquivalentClasses>
    <Class IRI="&ex;E"/><Class IRI="&ex;D"/><Class IRI="&ex;F"/>
  </EquivalentClasses>
  <DisjointClasses><Class IRI="&ex;B"/><Class IRI="&ex;D"/></DisjointClasses>
  <InverseObjectProperties>
    <ObjectProperty IRI="&ex;p"/><ObjectProperty IRI="&ex;q"/>
  </InverseObjectProperties>
  <ObjectPropertyDomain><ObjectProperty IRI="&ex;p"/><Class IRI="&ex;A"/></ObjectPropertyDomain>
</Ontology>
"""


def expected(tmp_path: Path) -> set[str]:
    path = write(tmp_path, "expected.ttl", PREFIXES + TEXT)
    return set(map(str, read_ontology([path]).tbox.axioms))


@pytest.mark.parametrize(
    ("rdflib_name", "file"),
    [
        ("turtle", "o.ttl"),
        ("turtle", "o.owl"),
        ("nt", "o.nt"),
        ("xml", "o.owl"),
        ("xml", "o.rdf"),
        ("pretty-xml", "o.xml"),
        ("json-ld", "o.jsonld"),
        ("trig", "o.trig"),
        ("n3", "o.n3"),
    ],
)
def test_rdf_syntaxes(tmp_path: Path, rdflib_name: str, file: str) -> None:
    text = Graph().parse(data=PREFIXES + TEXT, format="turtle").serialize(format=rdflib_name)
    ontology = read_ontology([write(tmp_path, file, text)])
    assert set(map(str, ontology.tbox.axioms)) == expected(tmp_path)


def test_owl_xml(tmp_path: Path) -> None:
    ontology = read_ontology([write(tmp_path, "o.owx", OWL_XML)])
    assert set(map(str, ontology.tbox.axioms)) == expected(tmp_path)
    assert ontology.tbox.object_properties == {"http://example.org/p", "http://example.org/q"}


def test_owl_xml_annotations_and_standard_prefixes(tmp_path: Path) -> None:
    note = '<Annotation><AnnotationProperty abbreviatedIRI=":n"/><Literal>x</Literal></Annotation>'
    text = OWL_XML.replace("<EquivalentClasses>", f"<EquivalentClasses>{note}")
    thing = '<SubClassOf><Class abbreviatedIRI="owl:Thing"/><Class IRI="&ex;A"/></SubClassOf>'
    path = write(tmp_path, "o.owx", text.replace("</Ontology>", f"{thing}</Ontology>"))
    axioms = set(map(str, read_ontology([path]).tbox.axioms))
    assert axioms == expected(tmp_path) | {"Thing ⊑ A"}


def test_owl_xml_axioms_that_its_reader_skips_are_reported(tmp_path: Path) -> None:
    key = '<HasKey><Class IRI="&ex;A"/><ObjectProperty IRI="&ex;p"/></HasKey></Ontology>'
    path = write(tmp_path, "o.owx", OWL_XML.replace("</Ontology>", key))
    (report,) = read_ontology([path]).diagnostics
    assert "HasKey" in report.message


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("o.ofn", "Ontology(<http://example.org/>)"),
        ("o.owl", "Prefix(:=<http://example.org/>)\nOntology(<http://example.org/>)"),
        ("o.omn", "Prefix: : <http://example.org/>\nClass: A"),
        ("o.owl", "# mine\nPrefix: : <http://example.org/>\nOntology: <http://example.org/>"),
    ],
)
def test_other_owl_syntaxes_are_named(tmp_path: Path, file: str, text: str) -> None:
    with pytest.raises(OntologyError) as caught:
        read_ontology([write(tmp_path, file, text)])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "OBM603"
    assert diagnostic.hint is not None
    assert "Turtle" in diagnostic.hint


def test_several_files_merge(tmp_path: Path) -> None:
    first = write(tmp_path, "1.ttl", PREFIXES + ":A rdfs:subClassOf :B .")
    second = write(tmp_path, "2.ttl", PREFIXES + ":B rdfs:subClassOf :C .")
    assert {str(a) for a in read_ontology([first, second]).tbox.axioms} == {"A ⊑ B", "B ⊑ C"}
