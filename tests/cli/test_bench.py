"""obda-bm bench: the experiments as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from obda_bm.interfaces.cli import main


def test_one_figure_with_its_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """[X] Figure 14: HEEB gives less memory to the stream that lags or varies more."""
    words = ["bench", "stochastic", "--quick", "--figure", "14", "--seed", "2", "--json"]
    assert main([*words, "--plots", str(tmp_path)]) == 0
    told = capsys.readouterr()
    figure = json.loads(told.out)
    shares = dict(zip(figure["abscissae"], figure["lines"][0]["heights"], strict=True))
    assert shares["alike"] == pytest.approx(0.5, abs=0.05)
    assert shares["lag 4"] < shares["lag 2"] < shares["alike"]
    assert shares["deviation ×4"] > shares["deviation ×2"] > shares["alike"]
    assert "<svg" in (tmp_path / "figure-14.svg").read_text("utf-8")
    assert "figure 14" in told.err


def test_the_same_seed_gives_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    tables = []
    for _ in range(2):
        assert main(["bench", "stochastic", "--figure", "17"]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert tables[0].startswith("Figure 17: Streams of different variance (share of R by time)")


def test_real_needs_a_series(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OBDA_BM_REFERENCE", raising=False)
    assert main(["bench", "stochastic", "--figure", "13"]) == 2
    assert "error[OBM802]: figure 13 needs a series" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "code"), [(None, "OBM803"), ("a,b\nx,y\n", "OBM804")])
def test_a_series_that_cannot_be_read(
    text: str | None, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "series.csv"
    if text is not None:
        path.write_text(text)
    assert main(["bench", "stochastic", "--figure", "13", "--series", str(path)]) == 2
    assert f"error[{code}]" in capsys.readouterr().err
