"""Each check of validation, with the line it points at."""

from __future__ import annotations

from pathlib import Path

import pytest

import obda_bm
from obda_bm.mediation import check_mappings
from obda_bm.ontology import read_ontology
from obda_bm.unfolding import Finding

SETTING = """
[ontology]
file = "o.ttl"
[mapping]
file = "m.ttl"
[relations.sensor]
columns = { id = "INTEGER", label = "TEXT", kind = "TEXT", unit = "INTEGER" }
key = ["id"]
[streams.reading]
time = "ts"
columns = { sensor = "INTEGER", value = "DECIMAL(5,1)", ts = "TIMESTAMP" }
[streams.event]
time = "ts"
columns = { sensor = "INTEGER", code = "INTEGER", ts = "TIMESTAMP" }
"""
ONTOLOGY = """
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://x/#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Sensor a owl:Class .
:label a owl:DatatypeProperty .
:value a owl:DatatypeProperty ; rdfs:domain :Sensor ; rdfs:range xsd:double .
:near a owl:ObjectProperty ; rdfs:range :Sensor .
"""
MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://x/#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<sensor> rr:logicalTable [ rr:tableName "sensor" ] ;
  rr:subjectMap [ rr:template "http://x/sensor/{id}" ; rr:class :Sensor ] ;
  rr:predicateObjectMap [ rr:predicate :label ; rr:objectMap [ rr:column "label" ] ] ;
  rr:predicateObjectMap [ rr:predicate :near ; rr:objectMap [ rr:template "http://x/sensor/{unit}" ] ] .
<reading> rr:logicalTable [ rr:tableName "reading" ] ;
  rr:subjectMap [ rr:template "http://x/sensor/{sensor}" ] ;
  rr:predicateObjectMap [ rr:predicate :value ; rr:objectMap [ rr:column "value" ; rr:datatype xsd:double ] ] .
"""  # noqa: E501


def findings(folder: Path, mapping: str, ontology: str = ONTOLOGY) -> list[Finding]:
    (folder / "obda.toml").write_text(SETTING)
    (folder / "o.ttl").write_text(ontology)
    (folder / "m.ttl").write_text(mapping)
    setting = obda_bm.load_setting(folder / "obda.toml")
    return check_mappings(setting, read_ontology(setting.ontologies).tbox)


def test_a_good_mapping_has_no_findings(tmp_path: Path) -> None:
    assert findings(tmp_path, MAPPING) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "triples_map"),
    [
        ('rr:tableName "sensor"', 'rr:tableName "sensors"', "OBM720", 3, "sensor"),
        ('rr:column "label"', 'rr:column "lable"', "OBM721", 5, "sensor"),
        (
            'rr:tableName "reading"',
            'rr:sqlQuery "SELECT r.sensor, value FROM reading r, event e"',
            "OBM723",
            7,
            "reading",
        ),
        (
            'rr:tableName "sensor"',
            'rr:sqlQuery "SELECT * FROM sensor LIMIT 5"',
            "OBM724",
            3,
            "sensor",
        ),
        (
            'rr:tableName "sensor"',
            'rr:sqlQuery "SELECT id, label, unit FROM sensor WHERE random() < 1"',
            "OBM724",
            3,
            "sensor",
        ),
        (
            'rr:tableName "sensor"',
            'rr:sqlQuery "SELECT id, label, unit FROM sensor LEFT JOIN event ON id = code"',
            "OBM306",
            3,
            "sensor",
        ),
        ("rr:class :Sensor", "rr:class :Sensro", "OBM740", 4, "sensor"),
        ("rr:predicate :label", "rr:predicate :lable", "OBM740", 5, "sensor"),
        ('rr:template "http://x/sensor/{unit}"', 'rr:column "unit"', "OBM742", 6, "sensor"),
        ('rr:column "label"', 'rr:template "http://x/{label}"', "OBM742", 5, "sensor"),
        ('rr:column "label"', 'rr:column "label" ; rr:datatype xsd:date', "OBM743", 5, "sensor"),
        ("xsd:double", "xsd:integer", "OBM743", 9, "reading"),
        ("http://x/sensor/{unit}", "http://x/unit/{unit}", "OBM744", 6, "sensor"),
        ("http://x/sensor/{unit}", "http://x/sensor/{kind}", "OBM730", 6, "sensor"),
        ("http://x/sensor/{id}", "http://x/sensor/{kind}-{label}", "OBM745", 4, "sensor"),
    ],
)
def test_checks(old: str, new: str, code: str, line: int, triples_map: str, tmp_path: Path) -> None:
    text = MAPPING.replace(old, new)
    assert text != MAPPING
    found = {
        (f.diagnostic.code, f.diagnostic.span.line if f.diagnostic.span else 0, f.triples_map)
        for f in findings(tmp_path, text)
    }
    named = {(c, at, name.rpartition("/")[2]) for c, at, name in found}
    assert (code, line, triples_map) in named
    assert all(f.diagnostic.hint for f in findings(tmp_path, text))


def test_what_nothing_maps_is_told(tmp_path: Path) -> None:
    more = ONTOLOGY + ":Pump a owl:Class . :feeds a owl:ObjectProperty ."
    told = [f.diagnostic for f in findings(tmp_path, MAPPING, more)]
    assert [d.code for d in told] == ["OBM741", "OBM741"]
    assert "http://x/#Pump" in told[0].message


def test_what_tables_and_streams_both_assert_is_told(tmp_path: Path) -> None:
    both = MAPPING.replace('{sensor}" ]', '{sensor}" ; rr:class :Sensor ]')
    assert [f.diagnostic.code for f in findings(tmp_path, both)] == ["OBM746"]


def test_the_published_mapping_forgets_a_property(reference: Path, tmp_path: Path) -> None:
    """Starql.obda maps the latitude to hasLong; only validation tells."""
    (tmp_path / "obda.toml").write_text(
        f"""
[ontology]
file = "{(reference / "starql" / "Starql.owl").as_posix()}"
[mapping]
file = "{(reference / "starql" / "Starql.obda").as_posix()}"
[relations.profiles]
columns = {{ id = "INTEGER", name = "TEXT", collection = "TEXT" }}
key = ["id"]
[relations.collections]
columns = {{ id = "TEXT", name = "TEXT" }}
key = ["id"]
[streams.measurements]
time = "ts"
[streams.measurements.columns]
profile = "INTEGER"
longitude = "DOUBLE"
latitude = "DOUBLE"
height = "DOUBLE"
distance = "DOUBLE"
duration = "INTEGER"
speed = "DOUBLE"
ts = "TIMESTAMP"
"""
    )
    setting = obda_bm.load_setting(tmp_path / "obda.toml")
    told = [
        f.diagnostic.message
        for f in check_mappings(setting, read_ontology(setting.ontologies).tbox)
    ]
    lost = "<http://www.sport.com/Fitness/Pattern#hasLat>"
    assert f"no mapping gives the property {lost}" in told
    assert not any("column" in message or "table" in message for message in told)
