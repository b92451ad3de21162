"""The reported interval covers the true recall, which an unlimited join tells."""

from __future__ import annotations

import numpy as np
import pytest

from obda_bm.budget.experiments import FLOOR, ROOF, WALK, Configuration, Runs, draw, rand, rate
from obda_bm.budget.join import Candidates, Side, join
from obda_bm.budget.recall import Ghosts, Recall, equal, recall

RUNS, LENGTH, MEMORY = 200, 700, 10


def true_recall(r: np.ndarray, s: np.ndarray, found: int) -> float:
    """Every pair of the same value, but for those of the same time."""
    pairs = int((r[:, None] == s[None, :]).sum()) - int((r == s).sum())
    return found / pairs if pairs else 1.0


def estimates(runs: Runs, make: object, limit: int) -> list[tuple[Recall, int]]:
    """The recall that each run reports at its end, and what it found."""
    ghosts = [
        (Ghosts(equal, limit, 2 * run), Ghosts(equal, limit, 2 * run + 1)) for run in range(RUNS)
    ]
    found = np.zeros(RUNS, np.int64)
    before: list[dict[tuple[int, int], int]] = [{} for _ in range(RUNS)]
    for step in join(runs.r, runs.s, MEMORY, make(runs.given, MEMORY, 3)):
        found += step.found
        for run in range(RUNS):
            values = int(runs.r[run, step.now]), int(runs.s[run, step.now])
            for side in (0, 1):
                ghosts[run][side].meet(values[1 - side])
                before[run][step.now, side] = values[side]
            after = held(step.kept, run)
            for key in before[run].keys() - after.keys():
                ghosts[run][key[1]].evict(before[run][key])
            before[run] = after
    return [(recall(int(n), pair), int(n)) for n, pair in zip(found, ghosts, strict=True)]


def held(kept: Candidates, run: int) -> dict[tuple[int, int], int]:
    rows = zip(
        kept.arrival[run].tolist(), kept.side[run].tolist(), kept.value[run].tolist(), strict=True
    )
    return {(arrival, side): value for arrival, side, value in rows if side != Side.EMPTY}


@pytest.mark.parametrize(("given", "make"), [(FLOOR, rate), (ROOF, rand), (WALK, rate)])
def test_interval_covers_the_truth(given: Configuration, make: object) -> None:
    runs = draw(given, RUNS, seed=9, length=LENGTH)
    reported = estimates(runs, make, limit=128)
    covered = [
        estimate.low <= true_recall(runs.r[run], runs.s[run], found) <= estimate.high
        for run, (estimate, found) in enumerate(reported)
    ]
    assert np.mean(covered) >= 0.9
    # An interval that says nothing would cover everything.
    widths = [estimate.high - estimate.low for estimate, _ in reported]
    assert np.mean(widths) < 0.4


def test_exact_while_all_ghosts_fit() -> None:
    ghosts = Ghosts(equal, limit=100, seed=0)
    for value in (3, 3, 5):
        ghosts.evict(value)
    for value in (3, 5, 5, 7):
        ghosts.meet(value)
    assert ghosts.missed == 4
    assert recall(12, (ghosts,)) == Recall(0.75, 0.75, 0.75)
    assert str(recall(12, (ghosts,))) == "75.0%"


def test_nothing_lost() -> None:
    assert recall(0, ()) == Recall(1.0, 1.0, 1.0)
    assert recall(7, (Ghosts(equal, 10, 0),)) == Recall(1.0, 1.0, 1.0)


def test_inequality_joins() -> None:
    """Unbiased over samples: 400 evicted tuples, of which those below the arrival miss it."""
    missed = []
    for seed in range(60):
        ghosts = Ghosts(lambda value, others: others < value, limit=64, seed=seed)
        for value in range(400):
            ghosts.evict(value)
        for value in (100, 300):
            ghosts.meet(value)
        missed.append(ghosts.missed)
        assert ghosts.evicted == 400
    assert np.mean(missed) == pytest.approx(400, rel=0.1)
