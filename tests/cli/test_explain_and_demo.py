"""obda-bm explain and demo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import TABLE_1, run_here, run_process

Capture = pytest.CaptureFixture[str]
Q8 = "SELECT DISTINCT S.A FROM S, T WHERE S.B < T.D AND S.C < T.E AND S.A > 10 AND S.A < 20"


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    (tmp_path / "obda.toml").write_text(TABLE_1)
    (tmp_path / "q8.sql").write_text(Q8)
    return ["explain", str(tmp_path / "q8.sql"), "--setting", str(tmp_path / "obda.toml")]


def test_explain_names_every_condition(capsys: Capture, arguments: list[str]) -> None:
    result = run_here(capsys, *arguments)
    assert result.code == 1
    for line in ("holds S0", "holds S1", "FAILS S2", "holds S3", "S.A INTEGER: bounded: 11..19"):
        assert line in result.out


def test_explain_as_json(capsys: Capture, arguments: list[str]) -> None:
    report = json.loads(run_here(capsys, *arguments, "--json").out)
    conditions = report["stages"]["branches"][0]["conditions"]
    assert {c["condition"]: c["holds"] for c in conditions} == {
        "S0": True,
        "S1": True,
        "S2": False,
        "S3": True,
    }
    assert report["verdict"] == "unbounded"


def test_demo_needs_nothing() -> None:
    result = run_process("demo", "--json")
    assert result.code == 0
    verdicts = [v["verdict"] for v in json.loads(result.out).values()]
    assert verdicts == ["bounded", "unbounded", "bounded_by_window", "bounded", "unbounded"]
