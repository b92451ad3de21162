"""The axioms said to have led to a query suffice to get there."""

from __future__ import annotations

from pathlib import Path

from obda_bm.ir.tbox import TBox
from obda_bm.ir.ucq import UnionOfCQs
from obda_bm.rewriting import Rewriting, rewrite_ucq
from tests.rewriting.benchmark import Task, read_task_ontology, read_task_query
from tests.rewriting.cases import random_case
from tests.rewriting.homomorphisms import is_contained


def check(query: UnionOfCQs, tbox: TBox, rewriting: Rewriting) -> None:
    for derived, chain in zip(rewriting.derived, rewriting.chains, strict=True):
        assert set(chain) <= set(tbox.axioms)
        few = TBox(chain, data_properties=tbox.data_properties, fresh=tbox.fresh)
        again = rewrite_ucq(query, few).ucq.disjuncts
        assert any(is_contained(derived.query, other) for other in again), str(derived.query)


def test_chains_of_random_cases_suffice() -> None:
    for seed in range(200):
        case = random_case(seed)
        check(case.query, case.tbox, rewrite_ucq(case.query, case.tbox))


def test_chains_of_the_benchmark_suffice(reference: Path) -> None:
    for task in (Task("A", 1, 27), Task("P5", 3, 13), Task("S", 5, 8), Task("U", 5, 10)):
        ontology = read_task_ontology(reference, task.ontology)
        query = read_task_query(reference, task, ontology)
        check(query, ontology.tbox, rewrite_ucq(query, ontology.tbox))
