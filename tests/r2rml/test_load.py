"""Mapping files of both languages, together and in other syntaxes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import rdflib

from obda_bm.diagnostics import MappingError
from obda_bm.ir.mapping import SqlView, TriplesMap
from obda_bm.r2rml import load_mappings

MAPPINGS = Path(__file__).parents[2] / "mappings"


def test_the_published_starql_mapping_loads_as_it_is(reference: Path) -> None:
    found = load_mappings([reference / "starql" / "Starql.obda"]).triples_maps
    assert len(found) == 10
    speed = next(m for m in found if m.id == "Mapping - hasSpeed")
    assert str(speed.subject) == "<http://www.sport.com/Fitness/Pattern#{name}>"
    assert isinstance(speed.table, SqlView)
    assert speed.table.sql.startswith("SELECT profiles.name, measurements.speed")
    assert [m.span.line for m in found if m.span] == [*range(18, 55, 4)]
    assert speed.table.span is not None
    assert speed.table.span.line == 40


def test_a_target_may_have_several_subjects(tmp_path: Path) -> None:
    path = tmp_path / "m.obda"
    path.write_text(
        "[PrefixDeclaration]\n:  http://x/\n\n[MappingDeclaration] @collection [[\n"
        "mappingId  m\ntarget  :{a} a :A ; :p :{b} . :{b} a :B . :{a} :q {c} .\n"
        "source  SELECT a, b, c\n        FROM t\n]]\n"
    )
    first, second = load_mappings([path]).triples_maps
    assert (first.id, second.id) == ("m", "m (2)")
    assert [str(t.object) for t in first.triples] == ["<http://x/A>", "<http://x/{b}>", "{c}"]
    assert [str(t.object) for t in second.triples] == ["<http://x/B>"]


def test_several_files_are_one_mapping() -> None:
    files = [MAPPINGS / "turbines.r2rml.ttl", MAPPINGS / "fitness.obda"]
    together = load_mappings(files).triples_maps
    assert len(together) == sum(len(load_mappings([file]).triples_maps) for file in files)


@pytest.mark.parametrize(
    ("syntax", "suffix"), [("xml", ".rdf"), ("nt", ".nt"), ("json-ld", ".jsonld")]
)
def test_other_syntaxes_say_the_same(syntax: str, suffix: str, tmp_path: Path) -> None:
    turtle = MAPPINGS / "turbines.r2rml.ttl"
    other = tmp_path / f"turbines{suffix}"
    graph = rdflib.Graph().parse(turtle, format="turtle")
    graph.serialize(other, format=syntax, encoding="utf-8")
    assert _content(load_mappings([other]).triples_maps) == _content(
        load_mappings([turtle]).triples_maps
    )


def _content(maps: tuple[TriplesMap, ...]) -> set[TriplesMap]:
    """The maps without the order of their parts, which RDF does not keep."""
    return {replace(m, triples=tuple(sorted(m.triples, key=str))) for m in maps}


def test_all_problems_of_all_files_are_told(tmp_path: Path) -> None:
    first, second = tmp_path / "a.ttl", tmp_path / "b.obda"
    first.write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n"
        '<a> rr:logicalTable [ rr:tabelName "t" ] ;\n rr:subjectMap [ rr:template "x{" ] .\n'
        '<b> rr:logicalTable [ rr:tableName "t" ] .\n'
    )
    second.write_text("[MappingDeclaration] @collection [[\nmappingId x\ntarget y:{a} a y:B .\n]]")
    with pytest.raises(MappingError) as caught:
        load_mappings([first, second, tmp_path / "missing.ttl"])
    told = [(d.code, d.span.line if d.span else None) for d in caught.value.diagnostics]
    assert told == [
        ("OBM703", 2),
        ("OBM707", 3),
        ("OBM704", 4),
        ("OBM704", 2),
        ("OBM701", None),
    ]


def test_a_parent_must_exist(tmp_path: Path) -> None:
    path = tmp_path / "m.ttl"
    path.write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n"
        '<a> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "x/{a}" ] ;\n'
        "rr:predicateObjectMap [ rr:predicate <p> ; rr:objectMap\n"
        "  [ rr:parentTriplesMap <aa> ] ] .\n"
    )
    with pytest.raises(MappingError) as caught:
        load_mappings([path])
    (problem,) = caught.value.diagnostics
    assert problem.code == "OBM711"
    assert problem.span is not None
    assert problem.span.line == 4
    assert problem.hint is not None
    assert "/a'" in problem.hint
