"""Incremental and precomputed HEEB against its definition; the printed recursion fails."""

from __future__ import annotations

import numpy as np
import pytest

from obda_bm.budget.autoregressive import AutoRegressive, Season
from obda_bm.budget.incremental import (
    backward_benefit,
    backward_caching_benefit,
    backward_table,
    printed_caching_step,
    printed_step,
)
from obda_bm.budget.index import tabulate
from obda_bm.budget.models import LinearTrend, RandomWalk, Seen
from obda_bm.budget.pmf import bounded_normal, normal, uniform
from obda_bm.budget.surface import bicubic, caching_surface, joining_surface, transitions
from obda_bm.budget.survival import Exponential

STEPS = 100_000
SURVIVAL = Exponential(10.0)
WEIGHTS = np.exp(-np.arange(1, 401) / 10.0)


def chances() -> np.ndarray:
    """The chances of one value over time: any function of time will do."""
    times = np.arange(STEPS)
    return 0.05 * (1 + np.sin(times / 37)) * np.random.default_rng(5).random(STEPS)


def by_definition(given: np.ndarray) -> np.ndarray:
    """Σ_Δ p(t+Δ)·e^(−Δ/α), cut where the weight is below 1e-17."""
    padded = np.concatenate([given[1:], np.zeros(len(WEIGHTS))])
    return np.convolve(padded, WEIGHTS[::-1], mode="valid")[: len(given)]


def test_backward_form_equals_the_definition_over_many_steps() -> None:
    given = chances()
    assert backward_benefit(given, SURVIVAL) == pytest.approx(by_definition(given), rel=1e-9)


def test_printed_recursion_turns_into_noise() -> None:
    """[X] Corollary 3 forward: right at first, worthless after 35·α steps."""
    given = chances()
    exact = by_definition(given)
    benefit, errors = float(exact[0]), []
    for time in range(1, 600):
        benefit = printed_step(benefit, float(given[time]), SURVIVAL)
        errors.append(abs(benefit - exact[time]))
    assert max(errors[:50]) < 1e-12
    assert errors[36 * 10] > 1e-2
    assert errors[-1] > 1e6


def test_backward_caching_form_equals_the_definition() -> None:
    given = chances()[:2000]
    given[1500] = 1.0  # where the printed form divides by zero
    found = backward_caching_benefit(given, SURVIVAL)
    for time in (0, 700, 1300, 1499, 1500):
        missed = np.cumprod(np.concatenate([[1.0], 1 - given[time + 1 :]]))[:-1]
        later = given[time + 1 :] * missed
        weights = np.exp(-np.arange(1, len(later) + 1) / 10.0)
        assert found[time] == pytest.approx(float(later @ weights))
    with pytest.raises(ValueError, match="certain"):
        printed_caching_step(0.3, 1.0, SURVIVAL)


def test_printed_caching_step_is_right_once() -> None:
    given = chances()[:2000]
    found = backward_caching_benefit(given, SURVIVAL)
    assert printed_caching_step(found[4], given[5], SURVIVAL) == pytest.approx(found[5])


@pytest.mark.parametrize("slope", [1, 2, 3])
@pytest.mark.parametrize("noise", [uniform(10), bounded_normal(3.3, 10)])
def test_value_incremental_table_equals_the_definition(noise: object, slope: int) -> None:
    partner = LinearTrend(noise, slope)
    table, defined = backward_table(partner, SURVIVAL), tabulate(partner, SURVIVAL)
    assert table.low == defined.low
    assert table.scores == pytest.approx(defined.scores, abs=1e-14)


AR1 = AutoRegressive(Season(0.0), 0.72, 6.0)
VALUES = np.arange(-60, 61)


def test_joining_surface_is_the_geometric_series() -> None:
    surface = joining_surface(AR1, VALUES, SURVIVAL)
    step = transitions(AR1, VALUES)
    power, total = np.eye(len(VALUES)), np.zeros_like(step)
    for weight in WEIGHTS:
        power = power @ step
        total += weight * power
    assert surface.heights == pytest.approx(total, abs=1e-12)


def test_joining_surface_agrees_with_forecasts() -> None:
    surface = joining_surface(AR1, VALUES, SURVIVAL)
    ahead = np.arange(1, 401)
    for last in (-20, 0, 15):
        direct = WEIGHTS @ AR1.chances(Seen(0, last), VALUES, ahead)
        assert surface.heights[last + 60] == pytest.approx(direct, rel=0.02, abs=1e-4)


def test_caching_surface_is_first_passage() -> None:
    """By simulation of first visits."""
    rng = np.random.default_rng(3)
    step = transitions(AR1, VALUES).cumsum(axis=1)
    surface = caching_surface(AR1, VALUES, SURVIVAL)
    runs, target, start = 40_000, 70, 55
    state, value, alive = np.full(runs, start), 0.0, np.ones(runs, bool)
    for weight in WEIGHTS[:120]:
        state = (rng.random(runs)[:, None] > step[state]).sum(axis=1)
        first = alive & (state == target)
        value += weight * first.mean()
        alive &= ~first
    assert surface.heights[start, target] == pytest.approx(value, rel=0.06)
    assert (
        surface.heights[start, target]
        < joining_surface(AR1, VALUES, SURVIVAL).heights[start, target]
    )


def test_walks_need_one_curve_only() -> None:
    """Theorem 5 (2): the benefit depends on the distance alone, with or without drift."""
    for drift in (0, 2, 4):
        walk = RandomWalk(normal(1.0), drift)
        ahead = np.arange(1, 20)
        here = walk.chances(Seen(3, 50), np.arange(40, 130), ahead)
        there = walk.chances(Seen(9, -7), np.arange(-17, 73), ahead)
        assert here == pytest.approx(there, abs=1e-12)


def test_bicubic_surface_from_few_points() -> None:
    """[X] uses 25 control points; the error falls with their number."""
    smooth = joining_surface(AutoRegressive(Season(0.0), 0.72, 12.0), VALUES, Exponential(100.0))
    last, value = (a.ravel() for a in np.meshgrid(VALUES, VALUES, indexing="ij"))
    scale = smooth.heights.max()
    errors = [
        float(np.abs(bicubic(smooth, n)(last, value) - smooth.heights.ravel()).mean() / scale)
        for n in (5, 9, 17)
    ]
    assert errors[0] < 0.1
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01
