"""The README shows what the program prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from obda_bm.interfaces.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
SHOWN = re.findall(r"```console\n\$ obda-bm ([^\n]*)\n(.*?)```", README, re.DOTALL)
CHECKED = [command for command, _ in SHOWN if command.startswith("check")]
QUERIES = re.findall(r"```sql\n(.*?)```", README, re.DOTALL)


def test_there_are_two_queries_and_five_outputs() -> None:
    assert (len(QUERIES), len(SHOWN)) == (2, 5)


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_output_is_real(
    command: str, output: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "examples" / "turbines")
    main(shlex.split(command))
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(
    ("command", "query"), [(CHECKED[i], query) for i, query in enumerate(QUERIES)]
)
def test_query_is_the_one_that_is_checked(command: str, query: str) -> None:
    file = shlex.split(command)[1]
    text = (ROOT / "examples" / "turbines" / file).read_text("utf-8")
    assert "".join(line + "\n" for line in text.splitlines() if not line.startswith("--")) == query
