"""All thirty published sizes, and minimality by a containment test that is not the rewriting's."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from obda_bm.rewriting import rewrite_ucq
from tests.rewriting.benchmark import read_task_ontology, read_task_query, tasks
from tests.rewriting.homomorphisms import has_superfluous_atom, is_contained


@pytest.mark.parametrize("name", ["A", "P1", "P5", "S", "U", "V"])
def test_sizes_are_the_published_ones_and_minimal(reference: Path, name: str) -> None:
    ontology = read_task_ontology(reference, name)
    wanted = [task for task in tasks(reference) if task.ontology == name]
    assert len(wanted) == 5
    for task in wanted:
        query = read_task_query(reference, task, ontology)
        disjuncts = rewrite_ucq(query, ontology.tbox).ucq.disjuncts
        assert len(disjuncts) == task.size, str(task)
        assert not any(map(has_superfluous_atom, disjuncts)), str(task)
        contained = (is_contained(a, b) for a, b in permutations(disjuncts, 2) if _may(a, b))
        assert not any(contained), str(task)


def _may(special: object, general: object) -> bool:
    """A cheap necessary condition: every predicate of `general` is one of `special`."""
    return _predicates(general) <= _predicates(special)


def _predicates(query: object) -> set[str]:
    return {atom.iri for atom in query.body}  # type: ignore[attr-defined]
