"""Benefits against simulation, dominance against its definition, HEEB against Theorem 4."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from obda_bm.budget.autoregressive import AutoRegressive, Season
from obda_bm.budget.benefit import (
    caching_benefit,
    dominated_subset,
    dominates,
    joining_benefit,
    rate_index,
    strongly_dominates,
)
from obda_bm.budget.index import RATE, is_unimodal, tabulate
from obda_bm.budget.models import LinearTrend, Model, Offline, RandomWalk, Seen, Stationary
from obda_bm.budget.pmf import bounded_normal, empirical, normal, uniform
from obda_bm.budget.survival import (
    Exponential,
    Fixed,
    Forever,
    Inverse,
    alpha_of_lifetime,
    estimated_benefit,
    survival_curve,
)

AHEAD = np.arange(1, 13)
BENEFITS = arrays(float, (8, 5), elements=st.floats(0, 1)).map(lambda a: np.cumsum(a, axis=0))
STEPS = np.arange(1, 9)


@pytest.mark.parametrize(
    ("model", "start"),
    [
        (Stationary(uniform(3)), 0),
        (LinearTrend(bounded_normal(2, 6), 1, 0), 0),
        (LinearTrend(uniform(4), 0.4, 2), 0),
        (RandomWalk(normal(1.0), 1), 0),
        (RandomWalk(uniform(2)), 0),
        (AutoRegressive(Season(5.0, 3.0, 2.0, 9.0), 0.6, 4.0), 0),
    ],
)
def test_chances_are_the_frequencies_of_samples(model: Model, start: int) -> None:
    """Streams that begin alike are followed: how often each value comes after Δ steps."""
    runs = 40_000
    streams = model.sample(np.random.default_rng(4), runs, len(AHEAD) + 1)
    first = int(np.median(streams[:, 0]))
    alike = streams[streams[:, 0] == first]
    values = np.arange(first - 6, first + 20)
    chances = model.chances(Seen(0, first), values, AHEAD)
    seen = (alike[:, AHEAD, None] == values).mean(axis=0)
    error = np.sqrt(chances * (1 - chances) / len(alike))
    # The normal density at a whole number is not quite the mass around it, hence the 3 %.
    assert np.all(np.abs(seen - chances) <= 5 * error + 0.03 * chances + 1e-3)


def test_offline_streams_are_certain() -> None:
    model = Offline(np.array([4, 5, 4]))
    assert model.chances(Seen(0, 4), np.array([4, 5]), np.array([1, 2, 3])).tolist() == [
        [0, 1],
        [1, 0],
        [0, 0],
    ]


def test_caching_benefit_is_the_chance_of_a_reference() -> None:
    model = LinearTrend(uniform(3), 1, 0)
    values = np.arange(-2, 8)
    streams = model.sample(np.random.default_rng(1), 40_000, len(AHEAD) + 1)
    came = (streams[:, AHEAD, None] == values).cumsum(axis=1) > 0
    expected = caching_benefit(model.chances(Seen(0, 0), values, AHEAD), AHEAD)
    assert np.abs(came.mean(axis=0) - expected).max() < 0.015


def test_stationary_streams_are_ranked_by_probability() -> None:
    """[X] §5.2: PROB, and LFU for caching, are optimal there."""
    chances = np.tile([0.1, 0.3, 0.2], (12, 1))
    for benefit in (joining_benefit(chances, AHEAD), caching_benefit(chances, AHEAD)):
        assert strongly_dominates(benefit[:, 1], benefit[:, 2])
        assert dominated_subset(benefit, 1) == {0}
        assert dominated_subset(benefit, 2) == {0, 2}


@given(BENEFITS, st.integers(0, 5))
def test_dominated_subset_is_the_largest(benefit: np.ndarray, at_most: int) -> None:
    found = dominated_subset(benefit, at_most)
    assert len(found) <= at_most
    assert _is_dominated(benefit, found)
    sizes = [
        len(subset)
        for mask in range(32)
        if len(subset := {i for i in range(5) if mask >> i & 1}) <= at_most
        and _is_dominated(benefit, frozenset(subset))
    ]
    assert len(found) == max(sizes)


def _is_dominated(benefit: np.ndarray, subset: frozenset[int]) -> bool:
    rest = set(range(benefit.shape[1])) - subset
    return all(dominates(benefit[:, u], benefit[:, v]) for u in rest for v in subset)


@given(BENEFITS, st.sampled_from([Fixed(3), Forever(), Inverse(), Exponential(4.0)]))
def test_heeb_and_the_rate_agree_with_dominance(
    benefit: np.ndarray, survival: Fixed | Forever | Inverse | Exponential
) -> None:
    """[X] Theorem 4, and the same for the rate index."""
    heeb = estimated_benefit(benefit, STEPS, survival)
    rate = rate_index(benefit, np.broadcast_to(STEPS[:, None], benefit.shape))
    for x in range(5):
        for y in range(5):
            if dominates(benefit[:, x], benefit[:, y]):
                assert heeb[x] >= heeb[y] - 1e-9
                assert rate[x] >= rate[y]


def test_survival_curves() -> None:
    ahead = np.array([1, 2, 3])
    assert survival_curve(Fixed(2), ahead).tolist() == [1, 1, 0]
    assert survival_curve(Forever(), ahead).tolist() == [1, 1, 1]
    assert survival_curve(Inverse(), ahead).tolist() == [1, 1 / 2, 1 / 3]
    # The mean lifetime under L^exp is the sum of the curve from Δ = 0.
    curve = survival_curve(Exponential(alpha_of_lifetime(8.3)), np.arange(1, 2000))
    assert 1 + curve.sum() == pytest.approx(8.3)


def test_fixed_survival_is_the_benefit_then() -> None:
    benefit = np.cumsum(np.random.default_rng(0).random((8, 3)), axis=0)
    assert estimated_benefit(benefit, STEPS, Fixed(5)) == pytest.approx(benefit[4])


def test_zero_drift_walks_are_ranked_by_distance() -> None:
    """[X] §5.5: the farthest goes."""
    table = tabulate(RandomWalk(normal(1.0)), RATE)
    near = table.look_up(np.arange(0, 30))
    far_left = table.look_up(-np.arange(0, 30))
    assert np.all(np.diff(near) < 0)
    assert near == pytest.approx(far_left)


def test_benefits_of_trends_are_unimodal() -> None:
    for noise in (uniform(10), bounded_normal(2, 15), bounded_normal(5, 15)):
        assert is_unimodal(tabulate(LinearTrend(noise), RATE).scores)
        assert is_unimodal(tabulate(LinearTrend(noise), Exponential(8.0)).scores)


def test_empirical_frequencies() -> None:
    pmf = empirical(np.array([2, 2, 3, 9]))
    assert pmf.chance([2, 3, 4, 9, 10]).tolist() == [0.5, 0.25, 0, 0.25, 0]
