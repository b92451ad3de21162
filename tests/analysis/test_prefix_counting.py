"""Verdicts against counting what must be told apart, over windows of values that widen.

`prefixes` knows nothing of the theory. If a query is bounded by u units, each of which holds one of
D values or none, at most (D + 1)^u prefixes can be told apart; if it is not, their number explodes.
"""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from obda_bm.analysis import assess
from obda_bm.ir.catalog import Extent
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.sqltypes import BOOLEAN, DOUBLE, INTEGER, TEXT
from obda_bm.ir.terms import ColumnRef, Comparison, Op, columns_of
from obda_bm.ir.verdict import Bounded, Undecided

from .prefixes import count_residuals, count_states, ground, window
from .queries import EVERY, Shape, random_queries, written

BAG, SET = (Semantics.BAG,), (Semantics.SET,)
CHAIN = "X < Y, Y < Z"
STAIRCASE = "X < Y, Y < Z, Y < W, X.A < Z.D, Y.C < W.E"

FIXED = [  # streams, predicates, projection, bounded as a bag, bounded as a set
    ("X(A)", "", "", True, True),
    ("X(A)", "", "X.A", True, False),
    ("X(A)", "X.A > 0, X.A < 3", "X.A", True, True),
    ("X(A) Y(B)", "X.A < Y.B", "", False, True),
    ("X(A) Y(B)", "X.A <= Y.B", "", False, True),
    ("X(A) Y(B)", "X.A <> Y.B", "", False, True),
    ("X(A) Y(B)", "X.A = Y.B", "", False, False),
    ("X(A) Y(B)", "X.A = Y.B, X.A > 0, Y.B < 3", "X.A", True, True),
    ("X(A) Y(B)", "X.A < Y.B", "X.A", False, False),
    ("X(A) Y(B)", "X.A < Y.B, X.A > 0, X.A < 3", "X.A", True, True),
    ("X(A) Y(B)", "X.A < Y.B, X.A < 3, Y.B > 0", "", True, True),
    ("X(A) Y(B)", "X.A < Y.B, X.A < 0, Y.B < 3", "", False, True),
    ("X(AB) Y(C)", "X.A < Y.C, X.B < Y.C", "", False, True),
    ("X(AB) Y(C)", "X.A < Y.C, X.B > Y.C", "", False, False),
    ("X(AB) Y(CD)", "X.A < Y.C, X.B < Y.D", "", False, False),
    ("X(A) Y(BC) Z(D)", "X.A < Y.B, Y.C < Z.D", "", False, False),
    ("X(A) Y(B) Z(C)", "X.A < Y.B, Y.B < Z.C", "", False, False),
    ("X(A) Y(B)", "X < Y", "X.A", False, False),
    ("X(A) Y(B)", "X < Y", "Y.B", True, False),
    ("X(A) Y(B)", "X = Y, X.A < Y.B", "X.A", True, False),
    ("X(A) Y(B)", "X = Y, X.A < Y.B", "", True, True),
    ("X(A) Y(B)", "X <= Y, X.A < Y.B", "", False, True),
    ("X(A) Y(B)", "X < Y, X.A = Y.B, X.A > 0, X.A < 3", "Y.B", True, True),
    # THEORY 6: [S] Theorem 1 is not necessary.
    ("X(A) Y(B) Z(C)", f"{CHAIN}, X.A > 0, X.A < 3", "X.A", True, True),
    ("X(A) Y(B) Z(C)", f"{CHAIN}, X.A = Z.C, X.A > 0, X.A < 3", "", True, True),
    ("X(A) Y(B) Z(C)", "Z < X, Z < Y", "", True, True),
    # THEORY 6: [S] Theorem 2 is neither sound nor necessary.
    ("X(A) Y(C) Z(D) W(E)", STAIRCASE, "", False, False),
    ("X(AB) Y(CD) Z(E)", f"{CHAIN}, X.A < Y.C", "", False, True),
    ("X(A) Y(C) Z(DE)", f"{CHAIN}, X.A < Z.D, Y.C < Z.D", "", False, True),
    ("X(A) Y(C) Z(DE)", f"{CHAIN}, X.A < Z.D, Y.C < Z.E", "", False, False),
    ("X(A) Y(C) Z(DE)", "X < Z, Y < Z, X.A < Z.D, Y.C < Z.E", "", False, True),
    ("X(A) Y(BC) Z(D)", f"{CHAIN}, X.A < Y.B, Y.C < Z.D", "", False, True),
]
STATES = 700


def bounded_bag(query: SpjUnion, *widths: int) -> bool:
    """Whether no more residuals appear when the window widens."""
    counts = {count_residuals(window(query.branches[0], width)) for width in widths}
    return len(counts) == 1


def growth(query: SpjUnion, widths: range, limit: int = STATES) -> list[tuple[int, int]]:
    """Numbers of values and of prefixes told apart, until there are too many."""
    found: list[tuple[int, int]] = []
    for width in widths:
        model = window(query.branches[0], width)
        found.append((model.size, count_states(model, limit)))
        if found[-1][1] >= limit:
            break
    return found


def bounded_set(query: SpjUnion, limit: int = STATES) -> bool | None:
    """Whether the number of prefixes told apart is a polynomial of the width; None if unclear.

    A width more adds a value or two, so what doubles with every second value grows by √2 at least,
    and keeps its ratio; the ratio of neighbours in a polynomial falls towards 1. From width 1 to 2
    a fifth power grows by less than 7.7, later by less than 4.5.
    """
    counts = [count for _, count in growth(query, range(1, 7), limit)]
    stopped = counts[-1] >= limit
    ratios = [b / a for a, b in pairwise(counts)]
    if stopped and any(ratio > (4.5 if i else 7.7) for i, ratio in enumerate(ratios)):
        return False
    complete = ratios[:-1] if stopped else ratios
    if len(complete) < 2:
        return None
    before, last = complete[-2:]
    if (last < 1.4 and not stopped) or (last < 1.95 and last < 0.93 * before):
        return True
    return False if last > 1.95 and last > 0.95 * before else None


def mentioned(query: SpjUnion) -> int:
    branch = query.branches[0]
    columns = {c for p in branch.predicates for c in columns_of(p)} | set(branch.projected)
    return len({c for c in columns if not branch.is_time(c)})


def said(query: SpjUnion) -> bool | None:
    verdict = assess(query)
    return None if isinstance(verdict, Undecided) else isinstance(verdict, Bounded)


def shown(query: SpjUnion) -> str:
    types = {
        f"{o.alias}.{c.name}": c.type.name
        for o in query.branches[0].occurrences
        for c in o.relation.columns
        if c.type != INTEGER
    }
    return f"{query.semantics.value}: {query} {types or ''}"


@pytest.mark.parametrize(("streams", "where", "project", "bag", "distinct"), FIXED)
def test_counts_of_fixed_queries(
    streams: str, where: str, project: str, bag: bool, distinct: bool
) -> None:
    as_bag = written(streams, where, project, "bag")
    as_set = written(streams, where, project, "set")
    assert bounded_bag(as_bag, 3, 4) == bag
    assert bounded_set(as_set, 2000) == distinct
    assert said(as_bag) == bag
    assert said(as_set) == distinct


ORDERS = (Op.LT, Op.LT, Op.LE, Op.EQ, Op.NE)
BAGS = {
    "integers": (
        Shape((1, 3), 2, EVERY, joins=(0, 3), times=ORDERS, local=0.2, semantics=BAG),
        300,
    ),
    "lists": (Shape((2, 3), 2, EVERY, times=ORDERS, lists=0.4, semantics=BAG), 150),
    "texts": (
        Shape((2, 3), 2, EVERY, times=ORDERS, types=(TEXT, TEXT, BOOLEAN), semantics=BAG),
        200,
    ),
    "dense": (
        Shape((2, 2), 2, EVERY, (0, 1), times=ORDERS, types=(DOUBLE, INTEGER), semantics=BAG),
        150,
    ),
    "four": (Shape((4, 4), 1, EVERY, (0, 1), times=ORDERS, semantics=BAG), 150),
}


@pytest.mark.parametrize("name", BAGS)
def test_bags(name: str) -> None:
    shape, count = BAGS[name]
    widths = (2, 3) if name == "dense" else (3, 4)
    queries = [q for q in random_queries(5, count, shape) if mentioned(q) <= 5]
    wrong = [shown(q) for q in queries if said(q) != bounded_bag(q, *widths)]
    assert wrong == []


def may_be_open(query: SpjUnion) -> bool:
    """Sets with `<>` between columns: the criterion is sufficient, and a witness may not exist."""
    comparisons = (p for p in query.branches[0].predicates if isinstance(p, Comparison))
    return any(p.op is Op.NE and len(columns_of(p)) == 2 for p in comparisons)


UNTIED = (Op.LT, Op.LT, Op.LE, Op.NE)
SETS = {
    "strict": (Shape((2, 3), 2, constants=(0, 1), times=(Op.LT,), local=0.2, semantics=SET), 80),
    "integers": (Shape((2, 3), 2, EVERY, (0, 1), times=UNTIED, local=0.2, semantics=SET), 70),
    "texts": (Shape((2, 3), 1, EVERY, times=(Op.LT,), types=(TEXT,), semantics=SET), 60),
    "four": (Shape((4, 4), 1, constants=(0, 0), times=(Op.LT,), semantics=SET), 30),
}


@pytest.mark.parametrize("name", SETS)
def test_sets(name: str) -> None:
    shape, count = SETS[name]
    queries = [q for q in random_queries(6, count, shape) if mentioned(q) <= 4]
    asked = [(q, said(q)) for q in queries]
    closed = [(q, answer) for q, answer in asked if answer is not None or not may_be_open(q)]
    counted = [(q, answer, bounded_set(q)) for q, answer in closed]
    clear = [(q, answer, expected) for q, answer, expected in counted if expected is not None]
    assert len(clear) > len(queries) / 2
    assert {expected for _, _, expected in clear} == {True, False}
    wrong = [shown(q) for q, answer, expected in clear if answer != expected]
    assert wrong == []


@pytest.mark.parametrize("name", ["strict", "integers", "four"])
def test_units_suffice(name: str) -> None:
    """A unit holds one of the D values of the window, or nothing: (D + 1)^u contents at most."""
    shape, count = SETS[name]
    exceeded = []
    for query in random_queries(7, count, shape):
        verdict = assess(query)
        if not isinstance(verdict, Bounded) or mentioned(query) > 4:
            continue
        units = verdict.bound.units
        assert units is not None
        for size, states in growth(query, range(4)):
            if states > (size + 1) ** units:
                exceeded.append((shown(query), units, verdict.bound.formula, size, states))
                break
    assert exceeded == []


GROUNDED = Shape((2, 2), 2, EVERY, (0, 2), (1, 3), (0, 2), times=(Op.LT,), statics=1)


def test_static_columns_are_constants() -> None:
    """A static relation may hold any tuple: bounded iff bounded for each, which is a constant.

    Values beyond the constants by more than one are ordered with them alike, and joins of two
    streams leave gaps of two values at most: -3..5 has every case.
    """
    wrong = []
    for query in random_queries(8, 120, GROUNDED):
        branch = query.branches[0]
        static = [
            ColumnRef(o.alias, c.name)
            for o in branch.occurrences
            if o.relation.extent is Extent.STATIC
            for c in o.relation.columns
        ]
        cases = [
            SpjUnion((ground(branch, dict(zip(static, at, strict=True))),), query.semantics)
            for at in product(range(-3, 6), repeat=len(static))
        ]
        if query.semantics is Semantics.BAG:
            expected = all(bounded_bag(case, 2, 3) for case in cases)
        else:
            answers = {said(case) for case in cases}
            if None in answers:
                continue  # nothing to compare with
            expected = answers == {True}
        if said(query) != expected:
            wrong.append(shown(query))
    assert wrong == []
