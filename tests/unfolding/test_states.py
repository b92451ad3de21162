"""States: the assertions of one share a timestamp, static ones have none."""

from __future__ import annotations

from pathlib import Path

import pytest

import obda_bm
from obda_bm.diagnostics import UnfoldingError
from obda_bm.ir.rdf import Variable
from obda_bm.ir.spj import Semantics
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    PropertyAtom,
    TermComparison,
    UnionOfCQs,
)
from obda_bm.ir.unfolded import Unfolded
from obda_bm.mediation import Mediator, load_mediator
from obda_bm.sql import render_sql

MAPPINGS = Path(__file__).parents[2] / "mappings"
NS = "https://obda-bm.example/turbines#"
NOW, LATER, S, V, W = map(Variable, ("i", "j", "s", "v", "w"))


@pytest.fixture(scope="module")
def mediator() -> Mediator:
    return load_mediator(obda_bm.load_setting(MAPPINGS / "turbines.toml"))


def unfolded(
    mediator: Mediator, *body: Atom, comparisons: tuple[TermComparison, ...] = ()
) -> Unfolded:
    return mediator.unfold(UnionOfCQs(("s",), (ConjunctiveQuery((S,), body, comparisons),)))


def sql(answer: Unfolded) -> str:
    assert answer.query is not None
    return render_sql(answer.query)


def test_two_states_are_compared_by_their_time_columns(mediator: Mediator) -> None:
    answer = unfolded(
        mediator,
        PropertyAtom(NS + "hasTemperature", S, V, NOW),
        PropertyAtom(NS + "hasTemperature", S, W, LATER),
        comparisons=(
            TermComparison(NOW, Op.LT, LATER),
            TermComparison(LATER, Op.LE, NOW, 60_000_000),
            TermComparison(V, Op.LT, W),
        ),
    )
    assert sql(answer) == (
        "SELECT DISTINCT temperature.sensor AS s\n"
        "FROM temperature, temperature AS temperature_2\n"
        "WHERE temperature.sensor = temperature_2.sensor\n"
        "  AND temperature.ts < temperature_2.ts\n"
        "  AND temperature_2.ts <= temperature.ts + INTERVAL '1' MINUTE\n"
        "  AND temperature.celsius < temperature_2.celsius"
    )


def test_atoms_of_one_state_share_its_timestamp(mediator: Mediator) -> None:
    answer = unfolded(
        mediator,
        PropertyAtom(NS + "hasTemperature", S, V, NOW),
        PropertyAtom(NS + "hasVibration", S, W, NOW),
    )
    assert "temperature.ts = vibration.ts" in sql(answer)


def test_the_key_with_the_timestamp_makes_one_row_of_one_state(mediator: Mediator) -> None:
    answer = unfolded(
        mediator,
        PropertyAtom(NS + "hasTemperature", S, V, NOW),
        PropertyAtom(NS + "hasTemperature", S, W, NOW),
        comparisons=(TermComparison(V, Op.NE, W),),
    )
    assert answer.query is None


def test_static_assertions_hold_in_every_state(mediator: Mediator) -> None:
    answer = unfolded(
        mediator,
        ClassAtom(NS + "BearingTemperatureSensor", S, NOW),
        PropertyAtom(NS + "hasTemperature", S, V, NOW),
    )
    text = sql(answer)
    assert "sensor.kind = 'bearing'" in text
    assert ".ts" not in text


def test_a_state_needs_a_stream(mediator: Mediator) -> None:
    with pytest.raises(UnfoldingError) as caught:
        unfolded(mediator, ClassAtom(NS + "BearingTemperatureSensor", S, NOW))
    assert caught.value.diagnostics[0].code == "OBM733"


def test_a_stream_may_be_given_for_the_state(mediator: Mediator) -> None:
    catalog = obda_bm.load_setting(MAPPINGS / "turbines.toml").catalog
    stream = catalog.find("vibration")
    assert stream is not None
    query = ConjunctiveQuery((S,), (ClassAtom(NS + "BearingTemperatureSensor", S, NOW),))
    answer = mediator.unfold(UnionOfCQs(("s",), (query,)), {NOW: (stream,)})
    assert "vibration" in sql(answer)


def test_unfolded_streams_are_decided() -> None:
    setting = obda_bm.load_setting(MAPPINGS / "turbines.toml")
    mediator = load_mediator(setting, Semantics.SET)
    answer = unfolded(mediator, PropertyAtom(NS + "hasTemperature", S, V, NOW))
    assert isinstance(obda_bm.compile_sql(sql(answer), setting).verdict.name, str)
