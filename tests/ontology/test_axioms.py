"""Each construct of OWL as DL-Lite_R says it, or as a report that it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from obda_bm.diagnostics import OntologyError
from obda_bm.ontology import Profile, read_ontology
from tests.ontology.files import turtle

USED = {
    ":A rdfs:subClassOf :B .": {"A ⊑ B"},
    ":A owl:equivalentClass :B .": {"A ⊑ B", "B ⊑ A"},
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] .": {"A ⊑ ∃p"},
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .": {
        "A ⊑ ∃p.B",
        "p.B ⊑ p",
        "∃p.B⁻ ⊑ B",
    },
    ":A rdfs:subClassOf [ owl:onProperty [ owl:inverseOf :p ] ; owl:someValuesFrom :B ] .": {
        "A ⊑ ∃p⁻.B",
        "p⁻.B ⊑ p⁻",
        "∃p⁻.B⁻ ⊑ B",
    },
    ':A rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality "1"^^xsd:int ] .': {"A ⊑ ∃p"},
    "[ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :A .": {"∃p ⊑ A"},
    "[ owl:unionOf ( :A :B ) ] rdfs:subClassOf :C .": {"A ⊑ C", "B ⊑ C"},
    ":A rdfs:subClassOf [ owl:intersectionOf ( :B :C ) ] .": {"A ⊑ B", "A ⊑ C"},
    ":A rdfs:subClassOf [ owl:complementOf :B ] .": {"A ⊑ ¬B"},
    ":A rdfs:subClassOf owl:Nothing .": {"A ⊑ ¬A"},
    ":A rdfs:subClassOf owl:Thing .": set(),
    "owl:Thing rdfs:subClassOf :A .": {"Thing ⊑ A"},
    ":p rdfs:subPropertyOf :q .": {"p ⊑ q"},
    ":p owl:equivalentProperty :q .": {"p ⊑ q", "q ⊑ p"},
    ":p owl:inverseOf :q .": {"p ⊑ q⁻", "q ⊑ p⁻"},
    ":p rdfs:domain :A .": {"∃p ⊑ A"},
    ":p rdfs:range :A .": {"∃p⁻ ⊑ A"},
    ":p a owl:SymmetricProperty .": {"p ⊑ p⁻"},
    ":p a owl:AsymmetricProperty .": {"p ⊑ ¬p⁻"},
    ":p a owl:ReflexiveProperty .": {"reflexive p"},
    ":p a owl:IrreflexiveProperty .": {"irreflexive p"},
    ":p owl:propertyDisjointWith :q .": {"p ⊑ ¬q"},
    "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) .": {"A ⊑ ¬B", "A ⊑ ¬C", "B ⊑ ¬C"},
    "[] a owl:AllDisjointProperties ; owl:members ( :p :q ) .": {"p ⊑ ¬q"},
    ":d a owl:DatatypeProperty ; rdfs:range xsd:normalizedString .": {
        "∃d⁻ ⊑ normalizedString",
        "normalizedString ⊑ string",
    },
    ":d rdfs:range rdfs:Literal .": set(),
    ":A rdfs:label 'a' . :note a owl:AnnotationProperty ; rdfs:domain :A .": set(),
}

OUTSIDE = {
    ":A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] .": "a union",
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :B ] .": "a universal restriction",
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :b ] .": "a value restriction",
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 1 ] .": "a maximal cardinality",
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 2 ] .": "minimal cardinality",
    ":A rdfs:subClassOf [ owl:oneOf ( :a :b ) ] .": "an enumeration",
    "[ owl:onProperty :p ; owl:someValuesFrom :B ] rdfs:subClassOf :A .": "a qualified existential",
    "[ owl:intersectionOf ( :B :C ) ] rdfs:subClassOf :A .": "an intersection",
    ":p a owl:TransitiveProperty .": "transitivity",
    ":p a owl:FunctionalProperty .": "functionality",
    ":p a owl:InverseFunctionalProperty .": "inverse functionality",
    ":p owl:propertyChainAxiom ( :q :r ) .": "a property chain",
    ":A owl:hasKey ( :p ) .": "a key",
    ":d a owl:DatatypeProperty ; rdfs:range [ a rdfs:Datatype ; owl:oneOf ( 1 2 ) ] .": "enumerat",
    ":p rdfs:subPropertyOf owl:bottomObjectProperty .": "the empty property",
}


@pytest.mark.parametrize("text", USED)
def test_axioms_that_are_used(tmp_path: Path, text: str) -> None:
    ontology = read_ontology([turtle(tmp_path, text)])
    assert {str(axiom) for axiom in ontology.tbox.axioms} == USED[text]
    assert not ontology.diagnostics


@pytest.mark.parametrize("text", OUTSIDE)
def test_axioms_that_are_reported(tmp_path: Path, text: str) -> None:
    path = turtle(tmp_path, text)
    (report,) = read_ontology([path]).diagnostics
    assert report.code in ("OBM610", "OBM611")
    assert OUTSIDE[text] in report.message
    assert report.span is not None
    with pytest.raises(OntologyError):
        read_ontology([path], Profile.REFUSE)


def test_one_bad_conjunct_costs_no_more_than_itself(tmp_path: Path) -> None:
    text = ":A owl:equivalentClass [ owl:intersectionOf ( :B [ owl:onProperty :p ; "
    text += "owl:someValuesFrom :C ] [ owl:onProperty :p ; owl:allValuesFrom :C ] ) ] ."
    ontology = read_ontology([turtle(tmp_path, text)])
    assert {"A ⊑ B", "A ⊑ ∃p.C"} <= {str(axiom) for axiom in ontology.tbox.axioms}
    (report,) = ontology.diagnostics
    assert report.code == "OBM611"


def test_nested_fillers_are_normalised(tmp_path: Path) -> None:
    inner = "[ owl:intersectionOf ( :B [ owl:onProperty :q ; owl:someValuesFrom :C ] ) ]"
    text = f":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom {inner} ] ."
    axioms = {str(axiom) for axiom in read_ontology([turtle(tmp_path, text)]).tbox.axioms}
    assert {"A ⊑ ∃p.B⊓q.C", "∃p.B⊓q.C⁻ ⊑ B", "∃p.B⊓q.C⁻ ⊑ ∃q.C", "∃q.C⁻ ⊑ C"} <= axioms


def test_cyclic_inclusions_are_all_there(tmp_path: Path) -> None:
    text = ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A ."
    assert len(read_ontology([turtle(tmp_path, text)]).tbox.axioms) == 2


def test_reports_point_at_the_line_of_the_subject(tmp_path: Path) -> None:
    text = ":A a owl:Class .\n:p a owl:ObjectProperty ,\n  owl:TransitiveProperty .\n"
    (report,) = read_ontology([turtle(tmp_path, text)]).diagnostics
    assert report.span is not None
    assert (report.span.line, report.span.text) == (7, ":p")


def test_assertions_are_data(tmp_path: Path) -> None:
    text = ":A a owl:Class . :a a :A ; :p :b . :p a owl:ObjectProperty ."
    ontology = read_ontology([turtle(tmp_path, text)], Profile.REFUSE)
    assert [report.code for report in ontology.diagnostics] == ["OBM612"]
