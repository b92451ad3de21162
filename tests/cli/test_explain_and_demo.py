"""obda-bm explain and demo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import FOUR_STREAMS, TABLE_1, run_here, run_process

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


def test_explain_as_a_page(arguments: list[str], tmp_path: Path) -> None:
    result = run_process(*arguments, "--html", str(tmp_path / "page.html"))
    assert (result.code, result.out, result.err) == (1, "", "")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Unbounded (set)" in page


def test_a_page_that_cannot_be_written(arguments: list[str], tmp_path: Path) -> None:
    result = run_process(*arguments, "--html", str(tmp_path / "nowhere" / "page.html"))
    assert (result.code, result.out) == (2, "")
    assert "error[OBM003]: cannot write the page" in result.err


def test_time_is_ordered_in_few_words(capsys: Capture, tmp_path: Path) -> None:
    """What follows from other pairs is left out, and an order is not called a window."""
    (tmp_path / "obda.toml").write_text(FOUR_STREAMS)
    (tmp_path / "q.sql").write_text(
        "SELECT 1 FROM X, Y, Z1 WHERE X.ts < Y.ts AND Y.ts <= Z1.ts AND X.ts < Z1.ts"
    )
    setting = str(tmp_path / "obda.toml")
    result = run_here(capsys, "explain", str(tmp_path / "q.sql"), "--setting", setting)
    assert "  order in time: X before Y; Y not after Z1\n" in result.out


def test_demo_needs_nothing() -> None:
    result = run_process("demo", "--json")
    assert result.code == 0
    verdicts = [v["verdict"] for v in json.loads(result.out).values()]
    assert verdicts == ["bounded", "unbounded", "bounded_by_window", "bounded", "unbounded"]
