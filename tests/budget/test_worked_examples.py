"""The examples that [X] works out by hand, with the corrections of the theory notes."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from obda_bm.budget.benefit import (
    dominates,
    joining_benefit,
    steps_ahead,
    window_benefit,
)
from obda_bm.budget.models import LinearTrend, Seen
from obda_bm.budget.pmf import uniform
from obda_bm.budget.policies.flow_expect import COST_SCALE, best_sequence, expected_payments
from obda_bm.budget.survival import Exponential, estimated_benefit

# §3.4. A cache of one tuple holds R's 1; S's 2 has just come, and R's "–", which joins nothing.
KNOWN = np.array([[0.0, 1.0, 0.0], [0.8, 0.0, 0.0], [0.8, 0.5, 0.0]])
# Rows: when S's tuple comes (in one, two, three steps); columns: when R's comes.
S_LATER = np.array([[0, 0.5, 0.0], [0, 0, 0], [0, 0, 0]])
R_LATER = np.zeros((3, 3))


def test_flow_expect_keeps_what_is_worth_1_6() -> None:
    payments = expected_payments(KNOWN, R_LATER, S_LATER)
    best = best_sequence(payments, 3, 1)
    assert best.gain / COST_SCALE == pytest.approx(1.6)
    assert set(payments.owner[best.paid]) == {0}


def test_the_other_sequences_are_worth_1_5() -> None:
    keep_two = expected_payments(KNOWN * [0, 1, 0], R_LATER, 0 * S_LATER)
    then_three = expected_payments(KNOWN * [[0, 1, 0], [0, 0, 0], [0, 0, 0]], R_LATER, S_LATER)
    assert best_sequence(keep_two, 3, 1).gain / COST_SCALE == pytest.approx(1.5)
    assert best_sequence(then_three, 3, 1).gain / COST_SCALE == pytest.approx(1.5)


def test_a_strategy_that_looks_is_worth_1_75() -> None:
    """By enumeration of what may come, and of what to do at each point, knowing what came."""
    s_joins_three_now = [(0.5, True), (0.5, False)]
    total = 0.0
    for chance, three in s_joins_three_now:
        keep_two, take_three = 0.5, 1.0 if three else 0.0
        total += chance * (1 + max(keep_two, take_three))
    assert total == pytest.approx(1.75)


def test_flow_equals_enumeration_of_predetermined_sequences() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        steps, memory, candidates = 3, int(rng.integers(1, 3)), 4
        known = rng.random((steps, candidates)).round(3)
        r_later, s_later = (np.triu(rng.random((steps, steps)).round(3), 1) for _ in range(2))
        payments = expected_payments(known, r_later, s_later)
        found = best_sequence(payments, steps, memory).gain / COST_SCALE
        assert found == pytest.approx(_enumerated(known, r_later, s_later, memory), abs=1e-5)


def _enumerated(known: np.ndarray, r_later: np.ndarray, s_later: np.ndarray, memory: int) -> float:
    """The best of all sequences of kept sets, written down one by one."""
    steps, candidates = known.shape
    start = [*([0] * candidates), *range(1, steps), *range(1, steps)]
    gains = [*known.T, *r_later[:-1], *s_later[:-1]]

    def best(step: int, kept: tuple[int, ...]) -> float:
        if step == steps:
            return 0.0
        arrived = [i for i, at in enumerate(start) if at == step and (step or i < candidates)]
        pool = sorted({*kept, *arrived})
        choices = combinations(pool, min(memory, len(pool)))
        return max(sum(gains[i][step] for i in c) + best(step + 1, c) for c in choices)

    return best(0, ())


# §5.3. f(t) = t for both streams, noise uniform on [-3, 3] for R and [-6, 6] for S.
W_R, W_S, NOW = 3, 6, 100
AHEAD = np.arange(1, 41)
R, S = LinearTrend(uniform(W_R), 1, 0), LinearTrend(uniform(W_S), 1, 0)


def benefit_of_r(value: int) -> np.ndarray:
    return joining_benefit(S.chances(Seen(NOW, 0), np.array([value]), AHEAD), AHEAD)[:, 0]


def benefit_of_s(value: int) -> np.ndarray:
    return joining_benefit(R.chances(Seen(NOW, 0), np.array([value]), AHEAD), AHEAD)[:, 0]


@pytest.mark.parametrize("value", range(NOW - 10, NOW + W_R + 1))
def test_category_r1_and_r2(value: int) -> None:
    plateau = max(0, value - (NOW - W_S))
    expected = np.minimum(AHEAD, plateau) / (2 * W_S + 1)
    assert benefit_of_r(value) == pytest.approx(expected)


@pytest.mark.parametrize("value", range(NOW - 10, NOW + W_R + 2))
def test_category_s1_and_s2(value: int) -> None:
    plateau = max(0, value - (NOW - W_R))
    expected = np.minimum(AHEAD, plateau) / (2 * W_R + 1)
    assert benefit_of_s(value) == pytest.approx(expected)


@pytest.mark.parametrize("value", range(NOW + W_R + 2, NOW + W_S + 1))
def test_category_s3_has_a_half_open_first_range(value: int) -> None:
    begins = value - (NOW + W_R)
    expected = np.clip(AHEAD - begins + 1, 0, 2 * W_R + 1) / (2 * W_R + 1)
    assert benefit_of_s(value) == pytest.approx(expected)


def test_s2_dominates_r2_by_its_plateau() -> None:
    """The paper prints it the wrong way round."""
    values_r = range(NOW - W_S + 1, NOW + W_R + 1)
    values_s = range(NOW - W_R + 1, NOW + W_R + 2)
    for x, y in product(values_r, values_s):
        plateau_x = (x - (NOW - W_S)) / (2 * W_S + 1)
        plateau_y = (y - (NOW - W_R)) / (2 * W_R + 1)
        assert dominates(benefit_of_s(y), benefit_of_r(x)) == (plateau_y >= plateau_x - 1e-12)


def test_within_a_category_the_smallest_value_goes() -> None:
    for value in range(NOW - W_S, NOW + W_R):
        assert dominates(benefit_of_r(value + 1), benefit_of_r(value))
    for value in range(NOW - W_R, NOW + W_R + 1):
        assert dominates(benefit_of_s(value + 1), benefit_of_s(value))


def test_sliding_window_ranks_x2_x1_x3() -> None:
    """§7: neither PROB (x1 first) nor LIFE (x3 before x1) ranks them so."""
    chance, life = np.array([0.50, 0.49, 0.01]), np.array([1, 50, 51])
    ahead = np.arange(1, 101)
    benefit = joining_benefit(np.tile(chance, (100, 1)), ahead)
    windowed = window_benefit(benefit, ahead, life)
    assert windowed[-1] == pytest.approx(chance * life)
    assert windowed[0] == pytest.approx(chance)
    for alpha in (2.0, 5.0, 10.0, 20.0):
        x1, x2, x3 = estimated_benefit(windowed, ahead, Exponential(alpha))
        assert x2 > x1 > x3
    assert list(np.argsort(-chance)) == [0, 1, 2]
    assert (chance * life)[2] > (chance * life)[0]


def test_window_that_has_passed_leaves_nothing() -> None:
    ahead = steps_ahead(5)
    benefit = joining_benefit(np.full((5, 2), 0.5), ahead)
    assert window_benefit(benefit, ahead, np.array([0, -3])).max() == 0
