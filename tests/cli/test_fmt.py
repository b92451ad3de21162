"""obda-bm fmt prints, checks and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run_here, run_process

UGLY = "prefix : <http://a.org/>\nselect ?s from stream m where {?s a :Sensor} # all\n"
GOOD = """\
PREFIX : <http://a.org/>

SELECT { ?s }
FROM STREAM m
WHERE { ?s a :Sensor }  # all
"""


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    path = tmp_path / "q.starql"
    path.write_text(UGLY)
    return path


def test_prints_and_leaves_the_file_alone(ugly: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run_here(capsys, "fmt", str(ugly))
    assert (result.code, result.out, result.err) == (0, GOOD, "")
    assert ugly.read_text() == UGLY


def test_reads_standard_input() -> None:
    result = run_process("fmt", "-", stdin=UGLY)
    assert (result.code, result.out) == (0, GOOD)


def test_standard_input_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_process("fmt", "--write", "-", stdin=UGLY)
    assert (result.code, result.out) == (2, "")
    assert "standard input cannot be written" in result.err
    assert list(tmp_path.iterdir()) == []


def test_check_tells(ugly: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(capsys, "fmt", "--check", str(ugly)).code == 1
    ugly.write_text(GOOD)
    assert run_here(capsys, "fmt", "--check", str(ugly)).code == 0


def test_write_changes_the_file_once(ugly: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run_here(capsys, "fmt", "--write", str(ugly))
    assert (first.code, first.out, first.err) == (0, "", f"wrote {ugly}\n")
    assert ugly.read_text() == GOOD
    assert run_here(capsys, "fmt", "--write", str(ugly)).err == ""


def test_mistakes_of_all_files_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("SELECT ?s FORM STREAM m")
    result = run_here(capsys, "fmt", *(str(tmp_path / name) for name in ("a", "b", "missing")))
    assert result.code == 2
    assert result.out == ""
    assert [line[:13] for line in result.err.splitlines() if line.startswith("error")] == [
        "error[OBM403]",
        "error[OBM403]",
        "error[OBM001]",
    ]


def test_json(ugly: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run_here(capsys, "fmt", "--check", "--json", str(ugly))
    assert json.loads(result.out) == {
        "files": [{"file": str(ugly), "changed": True}],
        "errors": [],
    }
    ugly.write_text("SELECT")
    failed = json.loads(run_here(capsys, "fmt", "--json", str(ugly)).out)
    assert [error["code"] for error in failed["errors"]] == ["OBM402"]
