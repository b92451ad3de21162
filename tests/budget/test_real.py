"""REAL: a cache for the daily maximum temperatures of Melbourne ([X] §6.5)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from obda_bm.budget.autoregressive import fit_autoregressive, fit_season
from obda_bm.budget.caching import cache_hits, next_use, reduce_to_joining
from obda_bm.budget.fitting import FITTERS, seasonal_fitter
from obda_bm.budget.flow import optimal_results
from obda_bm.budget.online import OnlineModel
from obda_bm.budget.policies.fitted import Known, ModelCaching
from obda_bm.budget.policies.keyed import Keyed
from obda_bm.budget.policies.lfd import Lfd
from obda_bm.budget.policies.lhd import Lhd
from obda_bm.budget.policies.prob import Prob
from obda_bm.budget.policies.recency import Lru
from obda_bm.budget.policies.s3_fifo import S3Fifo
from obda_bm.budget.survival import Exponential

SIZES = np.arange(10, 251, 10)


@pytest.fixture(scope="module")
def melbourne(reference: Path) -> np.ndarray:
    """Tenths of a degree."""
    file = reference / "melbourne" / "daily-max-temperatures.csv"
    degrees = np.loadtxt(file, delimiter=",", skiprows=1, usecols=1)
    return np.rint(degrees * 10).astype(np.int64)


def rows(series: np.ndarray) -> np.ndarray:
    return np.tile(series, (len(SIZES), 1))


def test_fit_of_the_paper(melbourne: np.ndarray) -> None:
    model = fit_autoregressive(melbourne)
    assert model.phi == pytest.approx(0.720, abs=0.0005)
    assert model.intercept / 10 == pytest.approx(5.59, abs=0.005)
    assert model.sigma / 10 == pytest.approx(4.23, abs=0.005)


def test_longest_forward_distance_is_the_optimum(melbourne: np.ndarray) -> None:
    """[X] Theorem 1: hits are results of the joined streams, and LFD is their optimum."""
    hits = cache_hits(rows(melbourne), SIZES, Lfd(rows(melbourne)))
    r, s = reduce_to_joining(melbourne)
    for size, count in zip(SIZES[::8].tolist(), hits[::8].tolist(), strict=True):
        assert optimal_results(r, s, size) == count


def test_default_beats_lru_and_lfu_at_every_size(melbourne: np.ndarray) -> None:
    fitted = ModelCaching(OnlineModel((*FITTERS, seasonal_fitter(365.25))))
    hits = cache_hits(rows(melbourne), SIZES, fitted)
    assert np.all(hits > cache_hits(rows(melbourne), SIZES, Lru()))
    assert np.all(hits > cache_hits(rows(melbourne), SIZES, Prob(seed=1)))


def test_plain_heeb_loses_to_lru_in_small_caches(melbourne: np.ndarray) -> None:
    """And a season helps it."""
    series, sizes = melbourne[None, :], np.array([50])
    lru = cache_hits(series, sizes, Lru())
    plain = ModelCaching(Known(fit_autoregressive(melbourne)), Exponential(50.0))
    seasonal = ModelCaching(Known(fit_season(melbourne, 0, 365.25)), Exponential(50.0))
    assert cache_hits(series, sizes, plain) < lru < cache_hits(series, sizes, seasonal)


def test_modern_caches_run_and_stay_below_the_optimum(melbourne: np.ndarray) -> None:
    series, sizes = melbourne[None, :2000], np.array([60])
    optimum = cache_hits(series, sizes, Lfd(series))
    for make in (S3Fifo, Lhd):
        hits = cache_hits(series, sizes, Keyed(make, 60))
        assert 0.3 * optimum < hits <= optimum


def test_cache_against_a_plain_loop() -> None:
    rng = np.random.default_rng(6)
    series = rng.integers(0, 9, 500)
    held: list[int] = []
    hits = 0
    for value in series.tolist():
        if value in held:
            hits += 1
            held.remove(value)
        held = [*held, value][-4:]
    assert cache_hits(series[None, :], np.array([4]), Lru()).tolist() == [hits]


def test_next_use() -> None:
    assert next_use(np.array([1, 2, 1, 1])).tolist() == [2, 4, 3, 4]
