"""How many tuples a second a join within a budget takes, by the size of its memory, beside LRU.

    python benchmarks/budget.py    # the table of docs/benchmarks.md

Two trends with uniform noise as wide as the memory, so that the memory is full and fought for at
every size. The default (rate index, four extremes) and LRU run on the same arrivals, both compiled,
both with the same chains by value; results are compared, too, because speed without them is worth
nothing. A generic policy that scores all it keeps, as the simulator does, stands beside them where
it is feasible. Each figure is the best of three.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from obda_bm.budget.compiled import compiled
from obda_bm.budget.extremes import advance, empty_hoard, scores_of
from obda_bm.budget.incremental import pooled_rate_table
from obda_bm.budget.index import RATE
from obda_bm.budget.join import results
from obda_bm.budget.models import LinearTrend
from obda_bm.budget.pmf import Ints, uniform
from obda_bm.budget.policies.tabulated import Tabulated

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
REPEATS = 3
GENERIC_STEPS = 2_000


@dataclass(frozen=True)
class Row:
    memory: int
    default: float
    lru: float
    generic: float | None
    found: int
    found_by_lru: int


def measure(memory: int) -> Row:
    """Speeds in tuples a second, and results; both memories are full before the clock starts."""
    r, s = LinearTrend(uniform(memory)), LinearTrend(uniform(memory))
    fill, steps = 2 * memory, max(200_000, memory)
    rng = np.random.default_rng(memory)
    arrivals = np.stack([m.sample(rng, 1, fill + steps)[0] for m in (r, s)], axis=1)
    default = best_of(lambda: run_default(r, s, arrivals, fill, memory), steps)
    lru = best_of(lambda: run_lru(arrivals, fill, memory), steps)
    generic = run_generic(r, s, arrivals, memory) if memory <= 10_000 else None
    return Row(memory, default[0], lru[0], generic, default[1], lru[1])


def best_of(run: Callable[[], tuple[float, int]], steps: int) -> tuple[float, int]:
    timed = [run() for _ in range(REPEATS)]
    return 2 * steps / min(seconds for seconds, _ in timed), timed[0][1]


def run_default(
    r: LinearTrend, s: LinearTrend, arrivals: Ints, fill: int, memory: int
) -> tuple[float, int]:
    scores = scores_of(pooled_rate_table(s), pooled_rate_table(r))
    times = np.arange(len(arrivals))
    anchors = np.stack([s.trend(times), r.trend(times)], axis=1)
    evicted = np.zeros((2 * len(arrivals) + 1, 2), np.int64)
    hoard = empty_hoard(memory)
    advance(hoard, scores, arrivals[:fill], anchors[:fill], memory, evicted)
    begun = time.perf_counter()
    found = advance(hoard, scores, arrivals[fill:], anchors[fill:], memory, evicted)
    return time.perf_counter() - begun, found


def run_lru(arrivals: Ints, fill: int, memory: int) -> tuple[float, int]:
    slots = memory + 2
    buckets = 1 << max(4, (2 * slots - 1).bit_length())
    chain = np.full((2, buckets), -1)
    links = np.full((4, slots), -1)
    tuples = np.zeros((2, slots), np.int64)
    ends = np.array([-1, -1, 0])
    join_lru(arrivals[:fill], chain, links, tuples, ends, memory)
    begun = time.perf_counter()
    found = join_lru(arrivals[fill:], chain, links, tuples, ends, memory)
    return time.perf_counter() - begun, found


def run_generic(r: LinearTrend, s: LinearTrend, arrivals: Ints, memory: int) -> float:
    """The simulator, which scores everything at every step."""
    few = arrivals[: memory + GENERIC_STEPS].T
    begun = time.perf_counter()
    results(few[:1], few[1:], memory, Tabulated(r, s, RATE), 0)
    return 2 * few.shape[1] / (time.perf_counter() - begun)


@compiled
def join_lru(
    arrivals: Ints, chain: Ints, links: Ints, tuples: Ints, ends: Ints, memory: int
) -> int:
    """The least recently used goes; `links` are after, before, newer, older; `ends` oldest, newest.

    `ends[2]` is the number of tuples kept.
    """
    found = 0
    for step in range(len(arrivals)):
        for side in range(2):
            found += touch(chain, links, tuples, ends, 1 - side, arrivals[step, side])
        for side in range(2):
            slot = ends[2]
            if slot >= memory:
                slot = ends[0]
                unlink(links, ends, slot)
                unchain(chain, links, tuples, slot)
            else:
                ends[2] += 1
            tuples[0, slot], tuples[1, slot] = side, arrivals[step, side]
            bucket = bucket_of(chain, arrivals[step, side])
            first = chain[side, bucket]
            links[0, slot], links[1, slot] = first, -1
            if first >= 0:
                links[1, first] = slot
            chain[side, bucket] = slot
            append(links, ends, slot)
    return found


@compiled
def touch(chain: Ints, links: Ints, tuples: Ints, ends: Ints, side: int, value: int) -> int:
    """The partners of `value` are counted and become the newest."""
    count = 0
    slot = chain[side, bucket_of(chain, value)]
    while slot >= 0:
        if tuples[1, slot] == value:
            count += 1
            unlink(links, ends, slot)
            append(links, ends, slot)
        slot = links[0, slot]
    return count


@compiled
def bucket_of(chain: Ints, value: int) -> int:
    mask: int = chain.shape[1] - 1
    return (value ^ (value >> 17)) & mask


@compiled
def unchain(chain: Ints, links: Ints, tuples: Ints, slot: int) -> None:
    after, before = links[0, slot], links[1, slot]
    if before >= 0:
        links[0, before] = after
    else:
        chain[tuples[0, slot], bucket_of(chain, tuples[1, slot])] = after
    if after >= 0:
        links[1, after] = before


@compiled
def append(links: Ints, ends: Ints, slot: int) -> None:
    links[2, slot], links[3, slot] = -1, ends[1]
    if ends[1] >= 0:
        links[2, ends[1]] = slot
    else:
        ends[0] = slot
    ends[1] = slot


@compiled
def unlink(links: Ints, ends: Ints, slot: int) -> None:
    newer, older = links[2, slot], links[3, slot]
    if newer >= 0:
        links[3, newer] = older
    else:
        ends[1] = older
    if older >= 0:
        links[2, older] = newer
    else:
        ends[0] = newer


def as_row(row: Row) -> str:
    generic = "–" if row.generic is None else f"{row.generic / 1e6:.4f}"
    cells = (
        f"{row.memory:,}",
        f"{row.default / 1e6:.2f}",
        f"{row.lru / 1e6:.2f}",
        f"{row.default / row.lru:.2f}",
        generic,
        f"{row.found / max(1, row.found_by_lru):.2f}",
    )
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--markdown", action="store_true", help="the same; kept for symmetry")
    parser.parse_args()
    measure(100)  # compiles
    print(
        "| memory | default, M tuples/s | LRU, M tuples/s | ratio | scoring all | results / LRU's |"
    )
    print("|---|---|---|---|---|---|")
    for memory in SIZES:
        print(as_row(measure(memory)), flush=True)


if __name__ == "__main__":
    main()
