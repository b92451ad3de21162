"""obda-bm plan: states of bounded queries; the verdict of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import obda_bm
from tests.cli.command import FOUR_STREAMS, STAIRCASE, TABLE_1, run_process

Q4 = "SELECT DISTINCT S.A FROM S, T WHERE S.B < T.D AND S.A > 10 AND S.A < 20"


@pytest.fixture
def table_1(tmp_path: Path) -> str:
    path = tmp_path / "obda.toml"
    path.write_text(TABLE_1)
    return str(path)


def test_text_is_that_of_the_plan(table_1: str) -> None:
    result = run_process("plan", "-", "--setting", table_1, stdin=Q4)
    plan = obda_bm.compile_sql(Q4, obda_bm.load_setting(table_1)).plan
    assert (result.code, result.out, result.err) == (
        0,
        f"{plan}\non Spark: aggregated or driver\n",
        "",
    )
    assert result.out.startswith("plan (set): at most 10 units = 9 + 1\n")


def test_json_tells_states_steps_and_bounds(table_1: str) -> None:
    result = run_process("plan", "-", "--setting", table_1, "--json", stdin=Q4)
    report = json.loads(result.out)
    assert set(report) == {"semantics", "bound", "branches", "emitted", "placements"}
    assert report["bound"] == {"units": 10, "formula": "9 + 1"}
    assert report["emitted"] == {"memory": "derived", "bound": {"units": 0, "formula": "0"}}
    (branch,) = report["branches"]
    assert [given["name"] for given in branch["inputs"]] == ["S", "T"]
    first, second = branch["states"]
    assert first["key"] == [{"column": "S.A", "in": "11..19", "values": 9, "stored_as": None}]
    assert first["filled"] == [{"new": ["S"], "states": [], "joins": []}]
    assert first["read_by"] == second["read_by"] == ["emit"]
    assert [state["bound"]["units"] for state in branch["states"]] == [9, 1]
    assert {"new": ["T"], "states": [1], "joins": ["S.B < T.D"]} in branch["emit"]["when"]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_unbounded_query_has_no_plan(table_1: str, options: tuple[str, ...]) -> None:
    arguments = ("plan", "-", "--setting", table_1, "--semantics", "bag", *options)
    result = run_process(*arguments, stdin=Q4)
    assert result.code == 1
    assert result.err.startswith("unbounded (bag)")
    if options:
        assert json.loads(result.out)["verdict"] == "unbounded"
    else:
        assert result.out == ""


def test_what_the_papers_call_bounded_and_is_not(tmp_path: Path) -> None:
    (tmp_path / "obda.toml").write_text(FOUR_STREAMS)
    result = run_process("plan", "-", "--setting", str(tmp_path / "obda.toml"), stdin=STAIRCASE)
    assert (result.code, result.out) == (1, "")


@pytest.mark.parametrize(
    ("sql", "code"), [("SELECT COUNT(S.A) FROM S", 3), ("SELECT S.Z FROM S", 2), ("SELECT", 2)]
)
def test_exit_codes_are_those_of_check(sql: str, code: int, table_1: str) -> None:
    planned = run_process("plan", "-", "--setting", table_1, stdin=sql)
    checked = run_process("check", "-", "--setting", table_1, stdin=sql)
    assert planned == checked
    assert planned.code == code
