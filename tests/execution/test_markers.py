"""The frontier against a naive model, one row at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obda_bm.execution.markers import (
    Phase,
    close,
    exhaust,
    finish,
    frontier,
    heartbeat,
    mark_idle,
    offer,
    start,
)
from obda_bm.execution.mistakes import ExecutionError
from obda_bm.ir.sqltypes import DATE, DAY, TIMESTAMP
from tests.execution.streams import rows, stream

A, B, C = stream("a"), stream("b"), stream("c")
STREAMS = {"a": A, "b": B, "c": C}


@dataclass
class Model:
    """What the docstring of markers.py says, with lists."""

    newest: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(STREAMS))
    phase: dict[str, str] = field(default_factory=lambda: dict.fromkeys(STREAMS, "live"))
    waiting: list[tuple[str, int, int]] = field(default_factory=list)
    closed: int | None = None

    def hear(self, name: str, time: int) -> None:
        before = self.newest[name]
        self.newest[name] = time if before is None or before < time else before
        if self.phase[name] == "idle":
            self.phase[name] = "live"

    def offer(self, name: str, given: list[tuple[int, int]]) -> list[tuple[int, int]]:
        late = []
        for time, number in given:
            if self.closed is not None and time < self.closed:
                late.append((time, number))
            else:
                self.hear(name, time)
                self.waiting.append((name, time, number))
        return late

    def reached(self) -> int | None:
        live = [self.newest[name] for name in STREAMS if self.phase[name] == "live"]
        seen = [time for time in self.newest.values() if time is not None]
        if None in live or not seen:
            return None
        if live:
            return min(time for time in live if time is not None)
        return max(seen) + all(phase == "exhausted" for phase in self.phase.values())

    def close(self) -> list[tuple[str, int, int]] | None:
        until = self.reached()
        if until is None or (self.closed is not None and until <= self.closed):
            return None
        self.closed = until
        given = [row for row in self.waiting if row[1] < until]
        self.waiting = [row for row in self.waiting if row[1] >= until]
        return given


NAMES = st.sampled_from(sorted(STREAMS))
TIMES = st.integers(-3, 30)
ACTIONS = st.one_of(
    st.tuples(st.just("offer"), NAMES, st.lists(TIMES, max_size=6)),
    st.tuples(st.just("beat"), NAMES, TIMES),
    st.tuples(st.just("idle"), NAMES, st.none()),
    st.tuples(st.just("exhaust"), NAMES, st.none()),
    st.tuples(st.just("close"), NAMES, st.none()),
)


@given(st.lists(ACTIONS, max_size=40))
def test_agrees_with_the_model_and_loses_nothing(actions: list[tuple[str, str, object]]) -> None:
    model, pending = Model(), start(STREAMS.values())
    offered: Counter[tuple[str, int, int]] = Counter()
    settled: Counter[tuple[str, int, int]] = Counter()
    untils: list[int] = []
    for clock, (action, name, detail) in enumerate([*actions, ("finish", "a", None)]):
        match action, detail:
            case "offer", list(times):
                new = [(time, 100 * clock + i) for i, time in enumerate(times)]
                pending, late = offer(pending, name, rows(STREAMS[name], *new))
                expected = model.offer(name, new)
                assert [(r["ts"], r["id"]) for r in late.to_pylist()] == expected
                offered.update((name, *row) for row in new)
                settled.update((name, *row) for row in expected)
            case "beat", int(time):
                pending = heartbeat(pending, name, time)
                model.hear(name, time)
            case "idle", None:
                # Only this one has been silent for too long.
                if pending.source(name).phase is Phase.LIVE:
                    others = [n for n in STREAMS if n != name]
                    kept = {n: pending.source(n).phase for n in others}
                    pending = _only_idle(pending, name)
                    assert kept == {n: pending.source(n).phase for n in others}
                    model.phase[name] = "idle"
            case "exhaust", None:
                pending = exhaust(pending, name)
                model.phase[name] = "exhausted"
            case _:
                if action == "finish":
                    model.phase = dict.fromkeys(STREAMS, "exhausted")
                closed = finish(pending) if action == "finish" else close(pending)
                expected_rows = model.close()
                assert (closed is None) == (expected_rows is None)
                if closed is not None:
                    given_rows = [
                        (stream_, row["ts"], row["id"])
                        for stream_, table in closed.rows.items()
                        for row in table.to_pylist()
                    ]
                    assert Counter(given_rows) == Counter(expected_rows)
                    assert all(time < closed.until for _, time, _ in given_rows)
                    assert all(
                        table["ts"].to_pylist() == sorted(table["ts"].to_pylist())
                        for table in closed.rows.values()
                    )
                    settled.update(given_rows)
                    untils.append(closed.until)
                    pending = closed.pending
        assert pending.waiting == len(model.waiting)
        assert offered.total() == settled.total() + pending.waiting
        assert pending.closed == model.closed
    assert settled == offered
    assert untils == sorted(set(untils))
    assert pending.offered == offered.total()


def _only_idle(pending, name):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    heard = (replace(s, heard=0.0 if s.relation.name == name else 9.0) for s in pending.sources)
    return mark_idle(replace(pending, sources=tuple(heard)), now=10.0, timeout=5.0)


def test_an_idle_source_comes_back() -> None:
    pending = start([A, B])
    pending, _ = offer(pending, "a", rows(A, (5, 1), (9, 2)), now=20.0)
    assert close(pending) is None
    pending = mark_idle(pending, now=20.0, timeout=10.0)
    closed = close(pending)
    assert closed is not None
    assert closed.until == 9
    pending, late = offer(closed.pending, "b", rows(B, (7, 1), (9, 2)), now=21.0)
    assert late.to_pylist() == [{"ts": 7, "id": 1}]
    assert pending.source("b").phase is Phase.LIVE
    assert pending.late == 1
    assert frontier(pending) == 9


def test_days_and_instants_are_microseconds() -> None:
    from datetime import date, datetime

    day, moment = stream("day", DATE), stream("moment", TIMESTAMP)
    pending = start([day, moment])
    pending, _ = offer(pending, "day", rows(day, (date(1970, 1, 3), 1)))
    pending, _ = offer(pending, "moment", rows(moment, (datetime(1970, 1, 2, 0, 0, 1), 1)))
    assert frontier(pending) == DAY + 1_000_000


def test_too_many_rows_wait() -> None:
    pending = start([A, B], cap=2)
    pending, _ = offer(pending, "b", rows(B, (1, 1)))
    pending, _ = offer(pending, "a", rows(A, (1, 1), (2, 1), (3, 1)))
    with pytest.raises(ExecutionError) as caught:
        close(pending)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "OBM501"
    assert diagnostic.message == "4 rows wait, at most 2 may: stream 'b' is still at 1"
    assert diagnostic.hint is not None
    assert "'b'" in diagnostic.hint
