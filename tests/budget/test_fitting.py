"""Models are found again in what they produce; changes are noticed, and only those."""

from __future__ import annotations

import numpy as np
import pytest

from obda_bm.budget.autoregressive import AutoRegressive, Season
from obda_bm.budget.fitting import FITTERS, fit_best, fit_noise, fit_trend, seasonal_fitter
from obda_bm.budget.models import LinearTrend, Model, RandomWalk, Stationary
from obda_bm.budget.online import OnlineModel
from obda_bm.budget.pmf import Pmf, bounded_normal, normal, uniform

SEASONAL = AutoRegressive(Season(200.0, 60.0, 20.0, 50.0), 0.5, 12.0)
MODELS: list[tuple[Model, type]] = [
    (Stationary(Pmf(0, np.array([0.4, 0, 0.1, 0, 0, 0.3, 0, 0, 0, 0.2]))), Stationary),
    (LinearTrend(uniform(15)), LinearTrend),
    (LinearTrend(bounded_normal(2, 15), -2, 7), LinearTrend),
    (AutoRegressive(Season(100.0), 0.7, 15.0), AutoRegressive),
    (SEASONAL, AutoRegressive),
]


@pytest.mark.parametrize(("model", "kind"), MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_values_suffice(model: Model, kind: type, seed: int) -> None:
    values = model.sample(np.random.default_rng(seed), 1, 260)[0][60:]
    fitters = (*FITTERS, seasonal_fitter(50.0))
    assert isinstance(fit_best(values, 60, fitters), kind)


def test_a_walk_is_a_walk_or_next_to_one() -> None:
    values = RandomWalk(normal(1.0)).sample(np.random.default_rng(0), 1, 2000)[0]
    match fit_best(values, 0):
        case RandomWalk(drift=drift):
            assert drift == 0
        case AutoRegressive(phi=phi):
            assert phi > 0.98
        case other:
            pytest.fail(f"{other} is no walk")


def test_parameters_of_a_trend() -> None:
    model = LinearTrend(uniform(10), 3, -40)
    values = model.sample(np.random.default_rng(1), 1, 400)[0]
    fitted = fit_trend(values[200:], 200)
    assert fitted.slope == 3
    assert fitted.start == pytest.approx(-40, abs=2)
    assert fitted.noise.weights.max() == pytest.approx(1 / 21, rel=0.1)


def test_shape_of_the_noise() -> None:
    rng = np.random.default_rng(2)
    flat, bell = uniform(12).sample(rng, 400), bounded_normal(4, 20).sample(rng, 400)
    assert np.ptp(fit_noise(flat).weights) < 1e-12
    assert fit_noise(bell).deviation == pytest.approx(4, rel=0.15)


def test_season_is_fitted() -> None:
    values = SEASONAL.sample(np.random.default_rng(3), 1, 1000)[0]
    fitted = seasonal_fitter(50.0)(values[100:], 100)
    assert isinstance(fitted, AutoRegressive)
    assert fitted.phi == pytest.approx(0.5, abs=0.08)
    assert fitted.season.cosine == pytest.approx(60, abs=3)
    assert fitted.season.sine == pytest.approx(20, abs=3)


def run(values: np.ndarray) -> OnlineModel:
    online = OnlineModel()
    for now, value in enumerate(values.tolist()):
        online.observe(now, value)
    return online


@pytest.mark.parametrize(("model", "kind"), MODELS[:4])
def test_no_drift_where_there_is_none(model: Model, kind: type) -> None:
    online = run(model.sample(np.random.default_rng(5), 1, 3000)[0])
    assert online.drifts == 0
    assert isinstance(online.model, kind)


def test_drift_is_noticed_and_forgotten() -> None:
    rng = np.random.default_rng(7)
    before = LinearTrend(bounded_normal(2, 10), 1, 0).sample(rng, 1, 1500)[0]
    after = LinearTrend(bounded_normal(2, 10), -1, 3000).sample(rng, 1, 3000)[0][1500:]
    online = run(np.concatenate([before, after]))
    assert online.drifts >= 1
    assert isinstance(online.model, LinearTrend)
    assert online.model.slope == -1
