"""Every bounded query of the golden files runs right, within the bound that its file states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import obda_bm
from obda_bm.diagnostics import OutsideFragment
from obda_bm.execution.reference import Tuples, emit_reference
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.verdict import Bounded
from tests.golden.test_golden import FILES, Case, read
from tests.kernel.streams import every_timestamp, one_batch, random_cuts, timestamps
from tests.kernel.test_differential import failure, report, run_kernel, telling_tuples

STREAMS = 4
"""Random streams per query."""


def bounded_queries(path: Path, folder: Path) -> list[tuple[Case, SpjUnion, Bounded]]:
    head, cases = read(path)
    toml = folder / "obda.toml"
    toml.write_text(head.split("setting\n", 1)[1])
    setting = obda_bm.load_setting(toml)
    found = []
    for case in cases:
        override = case.command.removeprefix("check").strip()
        semantics = obda_bm.Semantics(override) if override else None
        try:
            compiled = obda_bm.compile_sql(case.sql, setting, semantics)
        except OutsideFragment:
            continue
        if isinstance(compiled.verdict, Bounded):
            found.append((case, compiled.query, compiled.verdict))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_runs_right(path: Path, tmp_path: Path) -> None:
    reports = []
    failed = 0
    for number, (case, query, verdict) in enumerate(bounded_queries(path, tmp_path)):
        for i in range(STREAMS):
            seed = f"{path.stem} {number} {i}"
            rng = Random(seed)
            tuples = telling_tuples(rng, query)
            times = timestamps(query, tuples)
            kinds = (random_cuts(rng, times), every_timestamp(times), one_batch(times))
            wrong = [cuts for cuts in kinds if failure(query, verdict, tuples, cuts)]
            if wrong:
                failed += 1
                shown = report(seed, query, verdict, tuples, wrong[0])
                reports.append(f"{case.comment}\n{case.sql}\n{shown}")
                break
    if failed:
        pytest.fail("\n\n".join([f"{failed} queries fail", *reports[:4]]), pytrace=False)


def _golden(name: str, comment: str, folder: Path) -> tuple[SpjUnion, Bounded]:
    (path,) = (path for path in FILES if path.stem == name)
    chosen = [b for b in bounded_queries(path, folder) if comment in b[0].comment]
    assert len(chosen) == 1, f"{len(chosen)} cases of {name} say: {comment}"
    return chosen[0][1], chosen[0][2]


def _q4(rng: Random) -> Tuples:
    """B is seldom below D, so that pairs keep coming up."""
    s = [{"A": rng.randint(9, 21), "B": rng.randint(0, 900), "C": 0, "ts": i} for i in range(300)]
    t = [{"D": rng.randint(0, 5 + 3 * i), "E": 0, "ts": i} for i in range(300)]
    return {"S": s, "T": t}


def _q6(rng: Random) -> Tuples:
    s = [{"A": rng.choice((9, 10)), "B": i // 2, "C": 0, "ts": i} for i in range(300)]
    t = [{"D": 400 - i, "E": rng.randint(50, 500), "ts": i} for i in range(300)]
    return {"S": s, "T": t}


def _schiff(rng: Random) -> Tuples:
    return {
        "S": [{"A": rng.randint(-3, 60), "I": i} for i in range(80)],
        "T": [{"B": rng.randint(-1, 6), "J": i} for i in range(80)],
        "U": [{"C": rng.randint(-9, 9), "K": i // 2} for i in range(80)],
    }


@pytest.mark.parametrize(
    ("name", "comment", "units", "stream"),
    [
        ("arasu_table1", "Q6: the largest B", 2, _q6),
        ("arasu_table1", "Q4: the smallest B per A", 10, _q4),
        ("schiff_example", "S comes last and is never stored", 5, _schiff),
    ],
)
def test_units(
    name: str, comment: str, units: int, stream: Callable[[Random], Tuples], tmp_path: Path
) -> None:
    query, verdict = _golden(name, comment, tmp_path)
    assert verdict.bound.units == units
    rng = Random(f"units {comment}")
    tuples = stream(rng)
    times = timestamps(query, tuples)
    expected = emit_reference(query, tuples)
    assert expected
    for cuts in (every_timestamp(times), random_cuts(rng, times), one_batch(times)):
        run = run_kernel(query, verdict, tuples, cuts)
        assert run.emitted == expected
        assert run.peak <= units
