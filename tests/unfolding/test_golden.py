"""Golden files: what each optimisation of unfolding does, before and after.

A file starts with a `setting` (TOML), a `mapping` (R2RML; the usual prefixes are there) and perhaps
an `ontology`. Each case is a comment that says why it exists, `unfold` or `unfold bag`, the
pattern of a SPARQL query, `----`, and what is expected: the branches before simplification, over
mappings that are not pruned, and the SQL after it. `pytest --update-golden` rewrites it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import obda_bm
from obda_bm.diagnostics import ObdaError, SourceText
from obda_bm.ir.catalog import Catalog
from obda_bm.ir.mapping import MappingSet
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.tbox import TBox
from obda_bm.ir.unfolded import Unfolded
from obda_bm.mediation import mediate
from obda_bm.ontology import read_ontology
from obda_bm.r2rml import load_mappings
from obda_bm.sql import render_sql
from obda_bm.syntax.sparql import parse_sparql
from obda_bm.unfolding.unfold import expand

FILES = sorted((Path(__file__).parents[1] / "golden" / "unfolding").glob("*.golden"))
PREFIXES = """\
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <http://x/#> .
"""


@dataclass(frozen=True)
class Case:
    comment: str
    command: str
    query: str
    expected: str

    def text(self, expected: str) -> str:
        return f"{self.comment}\n{self.command}\n{self.query}\n----\n{expected}\n"


@dataclass(frozen=True)
class World:
    catalog: Catalog
    mappings: MappingSet
    tbox: TBox


def read(path: Path) -> tuple[str, list[Case]]:
    head, *blocks = re.split(r"\n\n(?=(?:#[^\n]*\n)+unfold)", path.read_text("utf-8"))
    return head, [_case(block) for block in blocks]


def _case(block: str) -> Case:
    before, _, expected = block.partition("\n----")
    lines = before.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("unfold"))
    comment, query = "\n".join(lines[:start]), "\n".join(lines[start + 1 :])
    return Case(comment, lines[start], query, expected.strip())


def world(head: str, folder: Path) -> World:
    parts = re.split(r"^(setting|mapping|ontology)\n", head, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    toml, turtle, owl = folder / "obda.toml", folder / "m.ttl", folder / "o.ttl"
    toml.write_text(sections["setting"], encoding="utf-8")
    turtle.write_text(PREFIXES + sections["mapping"], encoding="utf-8")
    owl.write_text(PREFIXES + sections.get("ontology", ""), encoding="utf-8")
    catalog = obda_bm.load_setting(toml).catalog
    tbox = read_ontology([owl]).tbox if "ontology" in sections else TBox(())
    return World(catalog, load_mappings([turtle]), tbox)


def outcome(case: Case, given: World) -> str:
    semantics = Semantics(case.command.removeprefix("unfold").strip() or "set")
    query = parse_sparql(SourceText("query.rq", f"PREFIX : <http://x/#>\n{case.query}"))
    try:
        raw = mediate(given.mappings, given.catalog, given.tbox, Semantics.BAG).mappings
        before = expand(query, raw, {}, [])
        mediator = mediate(given.mappings, given.catalog, given.tbox, semantics)
        assert not mediator.problems, [d.render() for d in mediator.problems]
        after = mediator.unfold(query)
    except ObdaError as error:
        return "\n".join(f"error {d.code}: {d.message}" for d in error.diagnostics)
    plain = [render_sql(SpjUnion((b.query,), Semantics.BAG)) for b in before]
    return "\n".join(
        [f"before: {len(before)}", *plain, f"after: {len(after.branches)}", *told(after)]
    )


def told(after: Unfolded) -> list[str]:
    lines = [f"warning {w.code}: {w.message}" for w in after.warnings]
    if after.query is None:
        return [*lines, "no answers"]
    terms = dict.fromkeys(
        f"{name}: {term}"
        for branch in after.branches
        for name, term in zip(after.names, branch.terms, strict=True)
    )
    return [*lines, render_sql(after.query), *terms]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    head, cases = read(path)
    given = world(head, tmp_path)
    actual = [outcome(case, given) for case in cases]
    if request.config.getoption("--update-golden"):
        blocks = [case.text(text) for case, text in zip(cases, actual, strict=True)]
        path.write_text("\n".join([head + "\n", *blocks]), encoding="utf-8")
        return
    for case, text in zip(cases, actual, strict=True):
        assert text == case.expected, f"{path.name}: {case.comment}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_join_on_concatenated_strings(path: Path) -> None:
    """Whatever is joined, the SQL compares columns with columns or constants."""
    for case in read(path)[1]:
        assert "||" not in case.expected
        assert "CONCAT" not in case.expected.upper()
        assert "REPLACE(" not in case.expected.upper()


def test_every_optimisation_has_a_file() -> None:
    assert len(FILES) >= 9
    assert sum(len(read(path)[1]) for path in FILES) >= 30
