"""The rewriting over the data answers what the query answers over the chase."""

from __future__ import annotations

from hypothesis import assume, given, settings

from obda_bm.ir.tbox import Exists, SubClassOf, TBox
from obda_bm.ir.ucq import UnionOfCQs, variables_of
from obda_bm.rewriting import Form, rewrite_ucq
from tests.rewriting.cases import Case, cases
from tests.rewriting.chase import Data, TooLarge, answers, chase, named_part
from tests.rewriting.homomorphisms import has_superfluous_atom, is_contained

CASES = 3_000


def depth_for(tbox: TBox, query: UnionOfCQs) -> int:
    inventing = {
        a.sup.role for a in tbox.axioms if isinstance(a, SubClassOf) and isinstance(a.sup, Exists)
    }
    widest = max(len(set(variables_of(q.body))) for q in query.disjuncts)
    return len(inventing) + widest


def model_of(case: Case) -> Data:
    try:
        return chase(case.data, case.tbox, depth_for(case.tbox, case.query))
    except TooLarge:
        assume(False)
        raise


@settings(max_examples=CASES)
@given(cases())
def test_rewriting_gives_the_certain_answers(case: Case) -> None:
    model = model_of(case)
    expected = answers(case.query.disjuncts, model)
    rewritten = rewrite_ucq(case.query, case.tbox).ucq
    assert answers(rewritten.disjuncts, case.data) == expected
    # Compiled atoms stand for all below them: over data closed under hierarchies, for themselves.
    compiled = rewrite_ucq(case.query, case.tbox, Form.COMPILED).ucq
    assert answers(compiled.disjuncts, named_part(model)) == expected
    for query in rewritten.disjuncts:
        assert not has_superfluous_atom(query)
        assert not any(is_contained(query, o) for o in rewritten.disjuncts if o is not query)
