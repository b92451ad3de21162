"""States stay within their bounds however many values there are, and do not grow with time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from obda_bm.execution.reference import Tuple, Tuples
from obda_bm.ir.catalog import Column, Relation
from obda_bm.ir.spj import SpjUnion
from obda_bm.ir.sqltypes import Family, Order, Value
from obda_bm.ir.verdict import Bounded
from tests.golden.test_golden import FILES
from tests.kernel.streams import passes, relations_of, tick_start, tick_unit, timestamps
from tests.kernel.test_differential import random_bounded, run_kernel
from tests.kernel.test_golden_queries import bounded_queries

QUERIES = 400
PER_TICK = 2


def varied(rng: Random, column: Column) -> Value | None:
    """A value of any size: a state that keeps values as they are would have many."""
    kind = column.type
    if column.nullable and rng.random() < 0.05:
        return None
    if kind.values is not None:
        return rng.choice(kind.values)
    match kind.family, kind.order:
        case Family.TEXT, _:
            return f"t{rng.randint(0, 40)}"
        case Family.INSTANT, _:
            return tick_start(kind) + rng.randint(-20, 20) * int(kind.grain)
        case _, Order.DENSE:
            return Fraction(rng.randint(-160, 160), 16)
        case _:
            return rng.randint(-20, 20)


def varied_tuples(rng: Random, relation: Relation, ticks: int) -> list[Tuple]:
    """`PER_TICK` tuples for each tick, or a few static ones; CHECK and keys hold."""
    static = min(5, 5 if relation.rows is None else relation.rows)
    found: list[Tuple] = []
    taken: set[object] = set()
    for i in range(PER_TICK * ticks if relation.time else 3 * static):
        row = {c.name: varied(rng, c) for c in relation.columns}
        if relation.time is not None:
            kind = relation.column(relation.time).type
            time = tick_start(kind) + tick_unit(kind) * (i // PER_TICK)
            row[relation.time] = time if relation.end is None else min(time, relation.end)
        keys = {(key, *(row[c] for c in key)) for key in relation.keys}
        complete = all(row[c] is not None for key in relation.keys for c in key)
        if complete and not keys & taken and all(passes(check, row) for check in relation.checks):
            taken |= keys
            found.append(row)
    return found if relation.time else found[:static]


def streams(rng: Random, query: SpjUnion, ticks: int) -> dict[str, list[Tuple]]:
    return {name: varied_tuples(rng, r, ticks) for name, r in relations_of(query).items()}


def peaks(query: SpjUnion, verdict: Bounded, tuples: Tuples, cuts: Sequence[int]) -> list[int]:
    """The units after each batch."""
    from obda_bm.kernel import state_units

    found: list[int] = []

    def note(_plan: object, state: object, _static: object) -> object:
        found.append(state_units(state))  # type: ignore[arg-type]
        return state

    run_kernel(query, verdict, tuples, cuts, note)
    return found


@pytest.mark.parametrize("chunk", range(4))
def test_many_values_need_no_more_units(chunk: int) -> None:
    for i in range(QUERIES // 4):
        seed = f"memory {chunk}-{i}"
        rng = Random(seed)
        query, verdict = random_bounded(rng)
        if verdict.bound.units is None:
            continue
        tuples = streams(rng, query, 60)
        times = timestamps(query, tuples)
        cuts = [*times[10::20], times[-1] + 1] if times else []
        peak = max(peaks(query, verdict, tuples, cuts), default=0)
        told = f"{seed}: {peak} units, bound {verdict.bound.formula}\n{query}"
        assert peak <= verdict.bound.units, told


@pytest.mark.parametrize("name", ["windows", "time_order"])
def test_windows_and_delays_stay_flat(name: str, tmp_path: Path) -> None:
    """With as many tuples per tick all the time, the second half needs no more than the first."""
    (path,) = (path for path in FILES if path.stem == name)
    queries = bounded_queries(path, tmp_path)
    assert len(queries) >= 5
    for number, (case, query, verdict) in enumerate(queries):
        rng = Random(f"flat {name} {number}")
        tuples = streams(rng, query, 400)
        times = timestamps(query, tuples)
        units = peaks(query, verdict, tuples, [*times[5::5], times[-1] + 1])
        half = len(units) // 2
        assert max(units[half:]) <= 1.25 * max(units[:half]) + 2, f"{case.comment}\n{units}"
