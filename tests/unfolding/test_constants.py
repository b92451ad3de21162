"""Every triple that a row makes is found by a query that names its terms.

Materialising writes values as texts, unfolding reads the texts of a query back; here each checks
the other, for all types.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import obda_bm
from obda_bm.execution.oneshot.answers import answers
from obda_bm.execution.oneshot.duckdb import DuckDb, connect
from obda_bm.execution.oneshot.materialize import Quad, materialize
from obda_bm.ir.rdf import Iri, Literal, RdfTerm, Variable
from obda_bm.ir.ucq import ConjunctiveQuery, PropertyAtom, UnionOfCQs
from obda_bm.mediation import Mediator, mediate
from obda_bm.r2rml import load_mappings
from obda_bm.sql import render_sql

TYPES = {
    "i": ("INTEGER", ["0", "-7", "123456789"]),
    "d": ("DECIMAL(9,2)", ["0", "-0.50", "12.00", "12345.67"]),
    "f": ("DOUBLE", ["0", "-1.5", "1e21", "0.1", "30"]),
    "b": ("BOOLEAN", ["true", "false"]),
    "a": ("DATE", ["'2026-01-05'", "'1969-12-31'"]),
    "t": ("TIMESTAMP", ["'2026-01-05 06:07:08'", "'2026-01-05 06:07:08.25'", "'1900-01-01'"]),
    "s": ("TEXT", ["''", "'a b'", "'a/b?c#d'", "'%41'", "'é''\"\\'", "'12'"]),
}
OVERRIDES = {"i": "double", "d": "double", "f": "decimal"}


def mapping() -> str:
    lines = ["@prefix rr: <http://www.w3.org/ns/r2rml#> .", "@prefix : <http://x/#> ."]
    lines.append("@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .")
    for name in TYPES:
        datatype = f" ; rr:datatype xsd:{OVERRIDES[name]}" if name in OVERRIDES else ""
        lines.append(
            f'<{name}> rr:logicalTable [ rr:tableName "v" ] ;'
            f' rr:subjectMap [ rr:template "http://x/{name}/{{{name}}}/end" ] ;'
            f" rr:predicateObjectMap [ rr:predicate :{name} ;"
            f' rr:objectMap [ rr:column "{name}" ] ] ;'
            f" rr:predicateObjectMap [ rr:predicate :{name}2 ;"
            f' rr:objectMap [ rr:column "{name}"{datatype} ] ] ;'
            f" rr:predicateObjectMap [ rr:predicate :{name}3 ;"
            f' rr:objectMap [ rr:template "at {{{name}}}." ; rr:termType rr:Literal ] ] .'
        )
    return "\n".join(lines)


@pytest.fixture
def world(tmp_path: Path) -> tuple[Mediator, DuckDb, list[Quad]]:
    columns = ", ".join(f'{name} = "{type_}"' for name, (type_, _) in TYPES.items())
    (tmp_path / "obda.toml").write_text(f"[relations.v]\ncolumns = {{ {columns} }}\n")
    (tmp_path / "m.ttl").write_text(mapping())
    rng = random.Random(1)
    connection = connect()
    declared = ", ".join(f"{n} {t.replace('TEXT', 'VARCHAR')}" for n, (t, _) in TYPES.items())
    connection.execute(f"CREATE TABLE v ({declared})")
    for i in range(8):
        row = [values[i] if i < len(values) else rng.choice(values) for _, values in TYPES.values()]
        connection.execute(f"INSERT INTO v VALUES ({', '.join(row)})")
    mappings = load_mappings([tmp_path / "m.ttl"])
    catalog = obda_bm.load_setting(tmp_path / "obda.toml").catalog
    database = DuckDb(connection)
    return mediate(mappings, catalog), database, list(materialize(mappings, database))


def found(world: tuple[Mediator, DuckDb, list[Quad]], subject: RdfTerm, quad: Quad) -> set[str]:
    """The other end of the triples with this predicate and the term at one end."""
    mediator, database, _ = world
    assert isinstance(quad.predicate, Iri)
    assert isinstance(quad.object, Iri | Literal)
    x = Variable("x")
    ends = (x, quad.object) if isinstance(subject, Variable) else (subject, x)
    query = ConjunctiveQuery((x,), (PropertyAtom(quad.predicate.value, *ends),))
    unfolded = mediator.unfold(UnionOfCQs(("x",), (query,)))
    base = mediator.mappings.base
    return {str(answer[0]) for answer in answers(unfolded, database, base, render_sql)}


def test_every_subject_and_object_is_found(world: tuple[Mediator, DuckDb, list[Quad]]) -> None:
    quads = {str(quad): quad for quad in world[2]}
    assert len(quads) > 60
    for quad in quads.values():
        assert isinstance(quad.subject, Iri)
        assert str(quad.object) in found(world, quad.subject, quad), quad
        assert str(quad.subject) in found(world, Variable("x"), quad), quad


def test_what_no_row_makes_is_not_found(world: tuple[Mediator, DuckDb, list[Quad]]) -> None:
    quads = {str(quad): quad for quad in world[2]}
    for quad in quads.values():
        assert isinstance(quad.subject, Iri)
        other = Iri(quad.subject.value.replace("/end", "0/end"))
        made = any(other == q.subject and q.predicate == quad.predicate for q in quads.values())
        assert bool(found(world, other, replace(quad, subject=other))) == made, other
