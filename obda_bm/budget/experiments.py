"""The configurations of [X] §6, and the policies that its figures compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from obda_bm.budget.flow import optimal_results
from obda_bm.budget.index import RATE, Surplus
from obda_bm.budget.join import Policy, results
from obda_bm.budget.lagrangian import ceiling
from obda_bm.budget.models import LinearTrend, RandomWalk
from obda_bm.budget.pmf import Ints, Pmf, bounded_normal, normal, uniform
from obda_bm.budget.policies.flow_expect import FlowExpect
from obda_bm.budget.policies.keyed import Keyed
from obda_bm.budget.policies.lhd import Lhd
from obda_bm.budget.policies.life import Life
from obda_bm.budget.policies.prob import Prob
from obda_bm.budget.policies.rand import Rand
from obda_bm.budget.policies.recency import Fifo, Lfu, Lru
from obda_bm.budget.policies.s3_fifo import S3Fifo
from obda_bm.budget.policies.tabulated import Tabulated
from obda_bm.budget.policies.window import Window
from obda_bm.budget.survival import Exponential, alpha_of_lifetime

LENGTH = 5000
WARM_UP = 200
LOOKAHEAD = 10


@dataclass(frozen=True, slots=True, eq=False)
class Trends:
    """Two trends of slope 1, and the mean lifetime that HEEB assumes."""

    name: str
    r: LinearTrend
    s: LinearTrend
    lifetime: float
    life_prior: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """Two random walks; HEEB's alpha is the size of the memory."""

    name: str
    r: RandomWalk
    s: RandomWalk


Configuration: TypeAlias = Trends | Walks


def trends(name: str, r: Pmf, s: Pmf, lifetime: float, life_prior: int = 1) -> Trends:
    """R lags one step behind S."""
    return Trends(name, LinearTrend(r, 1, -1), LinearTrend(s, 1, 0), lifetime, life_prior)


TOWER = trends("TOWER", bounded_normal(1, 10), bounded_normal(2, 15), 3.0)
ROOF = trends("ROOF", bounded_normal(3.3, 10), bounded_normal(5, 15), 8.3)
FLOOR = trends("FLOOR", uniform(10), uniform(15), 12.5, life_prior=0)
WALK = Walks("WALK", RandomWalk(normal(1)), RandomWalk(normal(1)))
CONFIGURATIONS: tuple[Configuration, ...] = (TOWER, ROOF, FLOOR, WALK)

MakePolicy: TypeAlias = Callable[[Configuration, int, int], Policy]
"""A policy for a configuration, a memory and a seed."""


def heeb(given: Configuration, memory: int, seed: int) -> Policy:
    """HEEB with L^exp and the alpha of [X] §5."""
    match given:
        case Trends():
            alpha = alpha_of_lifetime(given.lifetime)
        case Walks():
            alpha = float(memory)
    return Tabulated(given.r, given.s, Exponential(alpha))


def rate(given: Configuration, memory: int, seed: int) -> Policy:
    """The default: the rate index."""
    return Tabulated(given.r, given.s, RATE)


def priced(given: Configuration, memory: int, seed: int) -> Policy:
    """Surplus at the price of the Lagrangian bound; walks have none, there the rate serves."""
    match given:
        case Trends():
            price = ceiling(given.r, given.s, memory).price
            return Tabulated(given.r, given.s, Surplus(price))
        case Walks():
            return rate(given, memory, seed)


def prob(given: Configuration, memory: int, seed: int) -> Policy:
    return Prob(seed, window(given))


def rand(given: Configuration, memory: int, seed: int) -> Policy:
    return Rand(seed, window(given))


def life(given: Configuration, memory: int, seed: int) -> Policy:
    """LIFE where there is a window; without one it is PROB."""
    match given:
        case Trends():
            return Life(seed, Window(given.r, given.s), given.life_prior)
        case Walks():
            return prob(given, memory, seed)


def fifo(given: Configuration, memory: int, seed: int) -> Policy:
    return Fifo()


def lru(given: Configuration, memory: int, seed: int) -> Policy:
    return Lru()


def lfu(given: Configuration, memory: int, seed: int) -> Policy:
    return Lfu()


def flow_expect(given: Configuration, memory: int, seed: int) -> Policy:
    return FlowExpect(given.r, given.s, LOOKAHEAD, (-40, 40))


def window(given: Configuration) -> Window | None:
    return Window(given.r, given.s) if isinstance(given, Trends) else None


def s3_fifo(given: Configuration, memory: int, seed: int) -> Policy:
    return Keyed(S3Fifo, memory)


def lhd(given: Configuration, memory: int, seed: int) -> Policy:
    return Keyed(Lhd, memory)


POLICIES: dict[str, MakePolicy] = {
    "default": rate,
    "priced": priced,
    "HEEB": heeb,
    "LIFE": life,
    "PROB": prob,
    "RAND": rand,
    "FIFO": fifo,
    "LRU": lru,
    "LFU": lfu,
    "S3-FIFO": s3_fifo,
    "LHD": lhd,
}


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The same streams for every policy, so that policies are compared pair by pair."""

    given: Configuration
    r: Ints
    s: Ints


def draw(given: Configuration, runs: int, seed: int, length: int = LENGTH) -> Runs:
    rng = np.random.default_rng(seed)
    return Runs(given, given.r.sample(rng, runs, length), given.s.sample(rng, runs, length))


def measure(runs: Runs, memory: int, make: MakePolicy, seed: int = 0) -> Ints:
    """Results of each run after the warm-up, which is no less than four times the memory."""
    policy = make(runs.given, memory, seed)
    return results(runs.r, runs.s, memory, policy, warm_up(memory))


def measure_optimum(runs: Runs, memory: int) -> Ints:
    """The same for OPT-offline."""
    pairs = zip(runs.r, runs.s, strict=True)
    return np.array([optimal_results(r, s, memory, warm_up(memory)) for r, s in pairs])


def warm_up(memory: int) -> int:
    return max(WARM_UP, 4 * memory)
