"""The figures of [X] §6 as numbers: each is a set of lines, to be printed or plotted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from obda_bm.budget.autoregressive import fit_autoregressive
from obda_bm.budget.caching import cache_hits
from obda_bm.budget.experiments import (
    CONFIGURATIONS,
    FLOOR,
    POLICIES,
    ROOF,
    TOWER,
    WALK,
    Configuration,
    Runs,
    Trends,
    draw,
    flow_expect,
    heeb,
    measure,
    measure_optimum,
    rate,
    warm_up,
)
from obda_bm.budget.fitting import FITTERS, seasonal_fitter
from obda_bm.budget.join import Policy, Side, join, results
from obda_bm.budget.lagrangian import ceiling
from obda_bm.budget.models import LinearTrend
from obda_bm.budget.online import OnlineModel
from obda_bm.budget.pmf import Floats, Ints, bounded_normal
from obda_bm.budget.policies.fitted import Known, ModelCaching
from obda_bm.budget.policies.flow_expect import FlowExpect
from obda_bm.budget.policies.keyed import Keyed
from obda_bm.budget.policies.lfd import Lfd
from obda_bm.budget.policies.lhd import Lhd
from obda_bm.budget.policies.prob import Prob
from obda_bm.budget.policies.rand import Rand
from obda_bm.budget.policies.recency import Lru
from obda_bm.budget.policies.s3_fifo import S3Fifo
from obda_bm.budget.survival import Exponential

Tell: TypeAlias = Callable[[str], None]
"""Told what is being measured."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is spent: runs of policies, runs of those that solve flows, and sizes."""

    runs: int
    flow_runs: int
    length: int
    sizes: tuple[int, ...]


QUICK = Effort(runs=10, flow_runs=2, length=2000, sizes=(1, 5, 10, 20, 50))
FULL = Effort(runs=50, flow_runs=50, length=5000, sizes=(1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50))


@dataclass(frozen=True, slots=True)
class Line:
    """The height of one policy, or setting, over the abscissae of its figure."""

    name: str
    heights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    number: int
    title: str
    across: str
    upward: str
    abscissae: tuple[str, ...]
    lines: tuple[Line, ...]


def figure_8(effort: Effort, seed: int, tell: Tell) -> Figure:
    """All policies on all synthetic configurations, at a memory of ten."""
    drawn = [draw(given, effort.runs, seed, effort.length) for given in CONFIGURATIONS]
    lines = [Line("ceiling", tuple(_ceiling(runs, 10) for runs in drawn))]
    for name, heights in _policies(drawn, effort, tell):
        lines.append(Line(name, heights))
    names = tuple(given.name for given in CONFIGURATIONS)
    return Figure(8, "Comparison across configurations", "", "results", names, tuple(lines))


def _policies(
    drawn: list[Runs], effort: Effort, tell: Tell
) -> Iterator[tuple[str, tuple[float, ...]]]:
    few = [_first(runs, effort.flow_runs) for runs in drawn]
    tell("figure 8: OPT")
    yield "OPT", tuple(_mean(measure_optimum(runs, 10)) for runs in few)
    tell("figure 8: FlowExpect")
    yield "FlowExpect", tuple(_mean(measure(runs, 10, flow_expect)) for runs in few)
    for name, make in POLICIES.items():
        tell(f"figure 8: {name}")
        yield name, tuple(_mean(measure(runs, 10, make)) for runs in drawn)


def _sweep(number: int, given: Configuration) -> Callable[[Effort, int, Tell], Figure]:
    """Figures 9 to 12: one configuration, all sizes of memory."""

    def figure(effort: Effort, seed: int, tell: Tell) -> Figure:
        runs = draw(given, effort.runs, seed, effort.length)
        lines = [Line("ceiling", tuple(_ceiling(runs, size) for size in effort.sizes))]
        tell(f"figure {number}: OPT")
        few = _first(runs, effort.flow_runs)
        optimum = tuple(_mean(measure_optimum(few, size)) for size in effort.sizes)
        lines.append(Line("OPT", optimum))
        for name, make in POLICIES.items():
            tell(f"figure {number}: {name}")
            heights = tuple(_mean(measure(runs, size, make)) for size in effort.sizes)
            lines.append(Line(name, heights))
        sizes = tuple(map(str, effort.sizes))
        return Figure(number, given.name, "memory", "results", sizes, tuple(lines))

    return figure


def figure_13(series: Ints, tell: Tell, sizes: Ints | None = None) -> Figure:
    """REAL: hits of a cache over a series of values, such as the temperatures of Melbourne."""
    memory = np.arange(10, 301, 10) if sizes is None else sizes
    rows = np.tile(series, (len(memory), 1))
    together: list[tuple[str, Policy]] = [
        ("LFD", Lfd(rows)),
        ("default", ModelCaching(OnlineModel((*FITTERS, seasonal_fitter(365.25))))),
        ("LRU", Lru()),
        ("LFU", Prob(0)),
        ("RAND", Rand(0)),
    ]
    lines = []
    for name, policy in together:
        tell(f"figure 13: {name}")
        lines.append(_line(name, cache_hits(rows, memory, policy)))
    lines += [_line(name, hits) for name, hits in _one_by_one(series, memory, tell)]
    labels = tuple(map(str, memory.tolist()))
    return Figure(13, "REAL", "memory", "hits", labels, tuple(lines))


def _one_by_one(series: Ints, memory: Ints, tell: Tell) -> Iterator[tuple[str, list[int]]]:
    """Policies that are made for one size of memory."""
    model = fit_autoregressive(series)
    makers: tuple[tuple[str, Callable[[int], Policy]], ...] = (
        ("HEEB", lambda size: ModelCaching(Known(model), Exponential(float(size)))),
        ("S3-FIFO", lambda size: Keyed(S3Fifo, size)),
        ("LHD", lambda size: Keyed(Lhd, size)),
    )
    for name, make in makers:
        tell(f"figure 13: {name}")
        sizes = memory.tolist()
        yield name, [int(cache_hits(series[None], np.array([k]), make(k))[0]) for k in sizes]


def figure_14(effort: Effort, seed: int, tell: Tell) -> Figure:
    """How much of the memory HEEB gives to R, when R lags or S varies more."""
    settings = (
        ("alike", _pair(0, 1)),
        ("lag 2", _pair(2, 1)),
        ("lag 4", _pair(4, 1)),
        ("deviation ×2", _pair(0, 2)),
        ("deviation ×4", _pair(0, 4)),
    )
    tell("figure 14")
    shares = tuple(float(_shares_of_r(given, effort, seed).mean()) for _, given in settings)
    names = tuple(name for name, _ in settings)
    line = Line("HEEB", shares)
    return Figure(14, "Memory allocation", "", "share of R", names, (line,))


def figure_17(effort: Effort, seed: int, tell: Tell) -> Figure:
    """R's share of the memory over time, for S of different variance."""
    tell("figure 17")
    pairs = ((f"deviation ×{times}", _pair(0, times)) for times in (1, 2, 4))
    return _over_time(17, "Streams of different variance", pairs, effort, seed)


def figure_18(effort: Effort, seed: int, tell: Tell) -> Figure:
    """R's share of the memory over time, for different lags of R."""
    tell("figure 18")
    pairs = ((f"lag {lag}", _pair(lag, 1)) for lag in (0, 2, 4))
    return _over_time(18, "Streams of different lags", pairs, effort, seed)


def _over_time(
    number: int, title: str, pairs: Iterable[tuple[str, Trends]], effort: Effort, seed: int
) -> Figure:
    lines, starts = [], tuple(range(0, effort.length, effort.length // 10))
    for name, given in pairs:
        shares = _shares_of_r(given, effort, seed)
        parts = np.array_split(shares, 10)
        lines.append(Line(name, tuple(float(part.mean()) for part in parts)))
    labels = tuple(map(str, starts))
    return Figure(number, title, "time", "share of R", labels, tuple(lines))


def figure_19(effort: Effort, seed: int, tell: Tell) -> Figure:
    """FlowExpect by its look-ahead: streams of 500 with uniform noise, a memory of twenty."""
    runs = draw(FLOOR, effort.flow_runs, seed, 500)
    looks = (1, 2, 3, 5, 7, 10, 15, 20)
    heights = []
    for look in looks:
        tell(f"figure 19: look-ahead {look}")
        policy = FlowExpect(FLOOR.r, FLOOR.s, look, (-60, 60))
        heights.append(_mean(results(runs.r, runs.s, 20, policy, warm_up(20))))
    others = (("HEEB", heeb), ("default", rate))
    flat = [Line(name, (_mean(measure(runs, 20, make)),) * len(looks)) for name, make in others]
    labels, lines = tuple(map(str, looks)), (Line("FlowExpect", tuple(heights)), *flat)
    return Figure(19, "Look-ahead of FlowExpect", "look-ahead", "results", labels, lines)


FIGURES: dict[int, Callable[[Effort, int, Tell], Figure]] = {
    8: figure_8,
    9: _sweep(9, TOWER),
    10: _sweep(10, ROOF),
    11: _sweep(11, FLOOR),
    12: _sweep(12, WALK),
    14: figure_14,
    17: figure_17,
    18: figure_18,
    19: figure_19,
}
"""All but 13, which needs a series."""


def _pair(lag: int, times: int) -> Trends:
    """TOWER with streams alike, but for R's lag and S's deviation."""
    noise, wider = bounded_normal(1, 15), bounded_normal(times, 15)
    return replace(TOWER, r=LinearTrend(noise, 1, -lag), s=LinearTrend(wider, 1, 0))


def _shares_of_r(given: Trends, effort: Effort, seed: int) -> Floats:
    """R's share of what is kept at each time, in the mean over the runs."""
    runs = draw(given, effort.runs, seed, effort.length)
    steps = join(runs.r, runs.s, 10, heeb(given, 10, seed))
    return np.array([float((step.kept.side == Side.R).mean()) for step in steps])


def _ceiling(runs: Runs, memory: int) -> float:
    if not isinstance(runs.given, Trends):
        return float("nan")
    steps = int(runs.r.shape[1]) - warm_up(memory)
    return ceiling(runs.given.r, runs.given.s, memory).results * steps


def _first(runs: Runs, count: int) -> Runs:
    return replace(runs, r=runs.r[:count], s=runs.s[:count])


def _line(name: str, heights: Iterable[float]) -> Line:
    return Line(name, tuple(float(height) for height in heights))


def _mean(counts: Ints) -> float:
    return float(counts.mean())
