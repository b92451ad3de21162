"""obda-bm check: verdicts, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import FOUR_STREAMS, STAIRCASE, TABLE_1, Result, run_here, run_process

Capture = pytest.CaptureFixture[str]

# [A] Table 1: the selection of each query, and whether it is bounded for bags and for sets.
QUERIES = {
    "Q1": ("S WHERE S.A > 10", True, False),
    "Q2": ("S, T WHERE S.A = T.D", False, False),
    "Q3": ("S, T WHERE S.A = T.D AND S.A > 10 AND T.D < 20", True, True),
    "Q4": ("S, T WHERE S.B < T.D AND S.A > 10 AND S.A < 20", False, True),
    "Q5": (
        "S, T WHERE S.B < T.D AND S.B < 120 AND T.D > 20 AND S.A > 10 AND S.A < 20",
        True,
        True,
    ),
    "Q6": ("S, T WHERE S.B > T.D AND S.B > T.E AND S.A = 10", False, True),
    "Q7": ("S, T WHERE S.A < T.D AND S.B < T.E AND S.A > 10 AND S.A < 20", False, True),
    "Q8": ("S, T WHERE S.B < T.D AND S.C < T.E AND S.A > 10 AND S.A < 20", False, False),
    "Q9": (
        "S, T WHERE S.B < T.D AND S.C < T.E AND S.A > 10 AND S.A < 20 "
        "AND S.B < T.E AND S.C < 100 AND T.D > 50",
        False,
        True,
    ),
}


@pytest.fixture
def table_1(tmp_path: Path) -> str:
    path = tmp_path / "catalog.toml"
    path.write_text(TABLE_1)
    return str(path)


def check(capsys: Capture, tmp_path: Path, sql: str, setting: str, *options: str) -> Result:
    query = tmp_path / "query.sql"
    query.write_text(sql)
    return run_here(capsys, "check", str(query), "--setting", setting, *options)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("distinct", ["", "DISTINCT "], ids=["bag", "set"])
def test_table_1_through_the_command(name: str, distinct: str, table_1: str) -> None:
    selection, bag, set_ = QUERIES[name]
    sql = f"SELECT {distinct}S.A FROM {selection}"
    result = run_process("check", "-", "--setting", table_1, "--json", stdin=sql)
    report = json.loads(result.out)
    bounded = set_ if distinct else bag
    assert report["verdict"] == ("bounded" if bounded else "unbounded")
    assert report["semantics"] == ("set" if distinct else "bag")
    assert report["papers"]["arasu2002"] is bounded
    assert result.code == (0 if bounded else 1)
    assert result.err == ""


def test_json_has_the_keys_of_the_contract(capsys: Capture, tmp_path: Path, table_1: str) -> None:
    sql = "SELECT S.A FROM S, T WHERE S.B < T.D AND S.A > 10 AND S.A < 20"
    report = json.loads(check(capsys, tmp_path, sql, table_1, "--json").out)
    assert set(report) == {"semantics", "verdict", "papers", "bound", "reasons", "repairs"}
    assert report["bound"] is None
    reason = report["reasons"][0]
    assert set(reason) == {"condition", "source", "message", "columns", "span"}
    assert reason["columns"] == ["S.B"]
    assert reason["span"]["text"] == "S.B < T.D"
    assert (reason["span"]["line"], reason["span"]["column"]) == (1, 28)
    for repair in report["repairs"]:
        assert set(repair) == {"edit", "query", "verdict"}
        repaired = json.loads(check(capsys, tmp_path, repair["query"], table_1, "--json").out)
        assert repaired["verdict"] == repair["verdict"]


def test_bound_has_units_and_a_formula(capsys: Capture, tmp_path: Path, table_1: str) -> None:
    sql = "SELECT DISTINCT S.A FROM S, T WHERE S.B < T.D AND S.A > 10 AND S.A < 20"
    report = json.loads(check(capsys, tmp_path, sql, table_1, "--json").out)
    assert report["bound"]["units"] == 10
    assert report["bound"]["formula"] == "9 + 1"


def test_semantics_overrides_distinct(capsys: Capture, tmp_path: Path, table_1: str) -> None:
    sql = "SELECT DISTINCT S.A FROM S WHERE S.A > 10"
    assert check(capsys, tmp_path, sql, table_1).code == 1
    assert check(capsys, tmp_path, sql, table_1, "--semantics", "bag").code == 0


def test_a_large_bound_is_said_loudly(capsys: Capture, tmp_path: Path, table_1: str) -> None:
    sql = "SELECT S.A FROM S, T WHERE S.A = T.D AND S.A BETWEEN 1 AND 100000000"
    result = check(capsys, tmp_path, sql, table_1)
    assert result.code == 0
    assert "WARNING: the bound exceeds 10000000 units: S.A has 100000000 values" in result.out
    quiet = check(capsys, tmp_path, sql, table_1, "--max-units", "1000000000")
    assert "WARNING" not in quiet.out


def test_outside_the_fragment_is_exit_3_with_a_caret(
    capsys: Capture, tmp_path: Path, table_1: str
) -> None:
    result = check(capsys, tmp_path, "SELECT COUNT(S.A) FROM S", table_1)
    assert (result.code, result.out) == (3, "")
    assert "^^^^^^^^^^" in result.err
    report = json.loads(check(capsys, tmp_path, "SELECT COUNT(S.A) FROM S", table_1, "--json").out)
    assert report["verdict"] == "undecided"
    assert report["reasons"][0]["condition"] == "fragment"


def test_an_error_is_exit_2_on_stderr(capsys: Capture, tmp_path: Path, table_1: str) -> None:
    result = check(capsys, tmp_path, "SELECT S.Q FROM S", table_1)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error[OBM")
    report = json.loads(check(capsys, tmp_path, "SELECT S.Q FROM S", table_1, "--json").out)
    assert report["errors"][0]["span"]["line"] == 1


@pytest.mark.parametrize(
    ("query", "setting"),
    [
        ("no-such-file.sql", "{setting}"),
        ("{folder}", "{setting}"),
        ("{binary}", "{setting}"),
        ("{query}", "no-such-file.toml"),
        ("{query}", "{folder}"),
        ("{query}", "{binary}"),
        ("{starql}", "{setting}"),
    ],
)
def test_unreadable_input_is_a_diagnostic(
    capsys: Capture, tmp_path: Path, table_1: str, query: str, setting: str
) -> None:
    files = {
        "setting": table_1,
        "folder": str(tmp_path),
        "binary": str(tmp_path / "binary.sql"),
        "query": str(tmp_path / "query.sql"),
        "starql": str(tmp_path / "query.starql"),
    }
    Path(files["binary"]).write_bytes(b"\xff\xfe\x00SELECT")
    Path(files["query"]).write_text("SELECT S.A FROM S")
    Path(files["starql"]).write_text("SELECT")
    result = run_here(capsys, "check", query.format(**files), "--setting", setting.format(**files))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error[OBM")
    assert "hint: " in result.err


def test_theorem_2_is_refuted_by_a_witness(capsys: Capture, tmp_path: Path) -> None:
    setting = tmp_path / "four.toml"
    setting.write_text(FOUR_STREAMS)
    report = json.loads(check(capsys, tmp_path, STAIRCASE, str(setting), "--json").out)
    assert report["verdict"] == "unbounded"
    assert report["papers"] == {"arasu2002": None, "schiff2020": True}
    literal = next(r for r in report["reasons"] if r["source"] == "literal reading")
    assert literal["condition"] == "[S] Theorem 2"


def test_unknown_verbs_and_options_are_exit_2() -> None:
    assert run_process("chekc").code == 2
    assert run_process("check").code == 2
    assert run_process("check", "q.sql", "--semantics", "multiset").code == 2
    assert run_process("--version").code == 0
