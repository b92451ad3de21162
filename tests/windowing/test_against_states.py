"""Answers of windowed queries are those of the definition, evaluated on RDF states directly."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obda_bm.diagnostics import SourceText, StarqlError, UnfoldingError
from obda_bm.execution.local import Limits
from obda_bm.execution.windowed import run_windowed
from obda_bm.ir.rdf import XSD, Literal
from obda_bm.mediation import mediate
from obda_bm.r2rml import load_mappings
from obda_bm.syntax import parse_starql
from obda_bm.windowing import plan_window
from tests.unfolding.settings import tbox
from tests.windowing.cases import CATALOG, SECOND, data, fill, mapping, query, tables
from tests.windowing.oracle import answers, window

MET: Counter[str] = Counter()
_FOLDER = ""


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    global _FOLDER  # noqa: PLW0603 - hypothesis runs one test function many times
    _FOLDER = str(tmp_path_factory.mktemp("mappings"))


def comparable(term: Any) -> Any:
    """Terms as the oracle writes them; calculated numbers as numbers."""
    if isinstance(term, Literal) and term.datatype.startswith(XSD):
        return Fraction(term.lexical) if "." in term.lexical else Fraction(int(term.lexical))
    return str(term)


@settings(max_examples=150)
@given(st.integers(0, 2**40))
@example(394562012487)  # a tick that only tuples still to come say something about
def test_every_tick(seed: int) -> None:
    rng = random.Random(seed)
    turtle, rules = mapping(rng)
    axioms, rows = tbox(rng), data(rng)
    text, edges, slide = query(rng)
    path = Path(_FOLDER, "mapping.ttl")
    path.write_text(turtle, encoding="utf-8")
    mediator = mediate(load_mappings([path]), CATALOG, axioms)
    assert not mediator.problems, [d.render() for d in mediator.problems]
    try:
        document = parse_starql(SourceText("q.starql", text))
        asked = document.streams[0].query
        plan = plan_window(document, asked, mediator, CATALOG)
    except (StarqlError, UnfoldingError) as error:
        MET.update(d.code for d in error.diagnostics)
        return
    limits = Limits(batch_rows=rng.choice([1, 2, 100]))
    run = list(run_windowed(plan, tables(rows), limits=limits))
    found = {a.time // SECOND: {tuple(map(comparable, row)) for row in a.rows} for a in run}
    connection = duckdb.connect()
    fill(connection, rows)
    times = [row[-1] for name in edges for row in rows[name]]
    first = min(times) // slide * slide
    for tick in range(first, max(times) + 1, slide):
        seen = window(rules, axioms, connection, edges, tick)
        expected = {tuple(_rounded(v) for v in answer) for answer in answers(asked, seen)}
        given_ = {tuple(_rounded(v) for v in answer) for answer in found.pop(tick, set())}
        assert given_ == expected, f"{tick}\n{turtle}\n{axioms}\n{rows}\n{text}\n{plan}"
        MET["some" if expected else "none"] += 1
    assert not found, "no tick is reported that the definition has not"
    connection.close()


def _rounded(value: Any) -> Any:
    """Averages are computed in double precision."""
    return round(float(value), 9) if isinstance(value, Fraction) else value


def test_most_cases_say_something() -> None:
    assert MET["some"] > 100, MET
    assert sum(n for code, n in MET.items() if code.startswith("OBM")) < 15, MET
