"""Answers of the unfolded SQL are those of the query over the materialised, closed graph."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obda_bm.diagnostics import UnfoldingError
from obda_bm.execution.oneshot.answers import answers
from obda_bm.execution.oneshot.duckdb import DuckDb, connect
from obda_bm.ir.spj import Semantics
from obda_bm.ir.tbox import TBox
from obda_bm.ir.ucq import ConjunctiveQuery, UnionOfCQs
from obda_bm.mediation import mediate
from obda_bm.r2rml import load_mappings
from obda_bm.sql import render_sql
from tests.unfolding.oracle import closed, evaluate, graph
from tests.unfolding.settings import CATALOG, fill, mapping, query, tbox

NULL_DEPTH = 9
"""Three atoms reach three steps away from the data; a disconnected part may match further away, but
after four steps the four directions of two roles repeat."""


def unfolded_answers(
    text: str, asked: ConjunctiveQuery, axioms: TBox, semantics: Semantics, connection: object
) -> Counter[tuple[str, ...]]:
    path = Path(_FOLDER, "mapping.ttl")
    path.write_text(text, encoding="utf-8")
    mediator = mediate(load_mappings([path]), CATALOG, axioms, semantics)
    assert not mediator.problems, [d.render() for d in mediator.problems]
    names = tuple(f"c{i}" for i in range(len(asked.head)))
    unfolded = mediator.unfold(UnionOfCQs(names, (asked,)))
    found = answers(unfolded, DuckDb(connection), mediator.mappings.base, render_sql)
    return Counter(tuple(map(str, answer)) for answer in found)


_FOLDER = ""


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    global _FOLDER  # noqa: PLW0603 - hypothesis runs one test function many times
    _FOLDER = str(tmp_path_factory.mktemp("mappings"))


REFUSED: Counter[str] = Counter()


@settings(max_examples=500)
@given(st.integers(0, 2**40))
def test_certain_answers(seed: int) -> None:
    rng = random.Random(seed)
    made, axioms, asked = mapping(rng), tbox(rng), query(rng)
    connection = connect()
    fill(connection, rng)
    try:
        found = unfolded_answers(made.turtle, asked, axioms, Semantics.SET, connection)
    except UnfoldingError as error:
        REFUSED.update(d.code for d in error.diagnostics)
        return
    facts = closed(set(graph(made.rules, connection)), axioms, NULL_DEPTH)
    expected = set(evaluate(asked, Counter(facts)))
    connection.close()
    assert set(found) == expected, f"{made.turtle}\n{axioms}\n{asked}"
    assert max(found.values(), default=1) == 1


@settings(max_examples=250)
@given(st.integers(0, 2**40))
def test_multiplicities(seed: int) -> None:
    """Without an ontology, an answer counts as often as the rows give it."""
    rng = random.Random(seed)
    made, asked = mapping(rng), query(rng)
    connection = connect()
    fill(connection, rng)
    try:
        found = unfolded_answers(made.turtle, asked, TBox(()), Semantics.BAG, connection)
    except UnfoldingError as error:
        REFUSED.update(d.code for d in error.diagnostics)
        return
    expected = evaluate(asked, graph(made.rules, connection))
    connection.close()
    assert found == expected, f"{made.turtle}\n{asked}"


def test_hardly_any_case_was_refused() -> None:
    assert sum(REFUSED.values()) < 100, REFUSED
