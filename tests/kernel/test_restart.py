"""A state that is written down after every batch and read again goes on as if nothing happened."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from obda_bm.execution.reference import emit_reference
from tests.kernel.test_differential import Pair, pair_of, report, run_kernel

CHUNKS = 2
PAIRS = 100


def reopened(plan: Any, state: Any, static: Any) -> Any:
    """`state` as another process reads it: from its bytes, the plan and the static relations."""
    from obda_bm.kernel import deserialise, serialise

    data = bytes(serialise(state))
    again = deserialise(pickle.loads(pickle.dumps(plan)), data, static)
    assert serialise(again) == data, "the layout is not stable"
    return again


@pytest.mark.parametrize("cut", ["random", "every timestamp"])
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_goes_on_after_a_restart(chunk: int, cut: str) -> None:
    for i in range(PAIRS // 2):
        pair = pair_of(f"restart {cut} {chunk}-{i}")
        run = run_kernel(pair.query, pair.verdict, pair.tuples, pair.cuts[cut], reopened)
        assert run.emitted == emit_reference(pair.query, pair.tuples), shown(pair, cut)
        straight = run_kernel(pair.query, pair.verdict, pair.tuples, pair.cuts[cut])
        assert run == straight, shown(pair, cut)


def shown(pair: Pair, cut: str) -> str:
    return report(pair.seed, pair.query, pair.verdict, pair.tuples, pair.cuts[cut])
