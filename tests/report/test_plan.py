"""The text and the JSON of plans: golden files, and sizes that add up to the bound."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import obda_bm
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.plan_outline import outline
from obda_bm.ir.spj import Semantics
from obda_bm.ir.verdict import Bound
from obda_bm.planning import build_plan
from obda_bm.report.as_json import Json
from obda_bm.report.plan_as_json import plan_as_json
from tests.golden.test_golden import FILES, Case, read
from tests.kernel.test_golden_queries import bounded_queries

PLANS = Path(__file__).parents[1] / "golden" / "plans" / "plans.golden"


def planned(case: Case, setting: obda_bm.Setting) -> str:
    semantics = Semantics(case.command.removeprefix("plan").strip())
    return str(obda_bm.compile_sql(case.sql, setting, semantics).plan)


def test_golden(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    head, cases = read(PLANS, "plan")
    (tmp_path / "obda.toml").write_text(head.split("setting\n", 1)[1])
    setting = obda_bm.load_setting(tmp_path / "obda.toml")
    actual = [planned(case, setting) for case in cases]
    if request.config.getoption("--update-golden"):
        blocks = [case.text(text) for case, text in zip(cases, actual, strict=True)]
        PLANS.write_text("\n".join([head + "\n", *blocks]))
        return
    for case, text in zip(cases, actual, strict=True):
        assert text == case.expected, f"{case.comment}\n{case.sql}"


def printed_units(text: str) -> int:
    """What the bounds of all states come to, as a reader adds them up."""
    return sum(int(units) for units in re.findall(r"^ +bound (\d+) units?\b", text, re.MULTILINE))


def json_units(value: Json) -> int:
    """The same in JSON."""
    match value:
        case dict():
            own = value.get("bound")
            here = own["units"] or 0 if isinstance(own, dict) else 0
            assert isinstance(here, int)
            return here + sum(json_units(item) for item in value.values())
        case list():
            return sum(json_units(item) for item in value)
    return 0


def golden_plans(path: Path, folder: Path) -> list[SynopsisPlan]:
    return [build_plan(query, verdict) for _, query, verdict in bounded_queries(path, folder)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_sizes_add_up_to_the_bound(path: Path, tmp_path: Path) -> None:
    for plan in golden_plans(path, tmp_path):
        outlined = outline(plan)
        if plan.bound.units is not None:
            report = plan_as_json(outlined)
            assert printed_units(str(plan)) == plan.bound.units, str(plan)
            assert json_units([report["branches"], report["emitted"]]) == plan.bound.units


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_state_is_filled_and_read(path: Path, tmp_path: Path) -> None:
    for plan in golden_plans(path, tmp_path):
        for branch in outline(plan).branches:
            for state in branch.states:
                assert branch.filling(state), str(plan)
                assert branch.reading(state), str(plan)
            assert branch.emitting, str(plan)


def test_a_stream_called_emitted_is_not_the_memory(tmp_path: Path) -> None:
    (tmp_path / "obda.toml").write_text(
        '[streams.emitted]\ntime = "ts"\ncolumns = { a = "INTEGER", ts = "INTEGER" }\n'
        '[streams.T]\ntime = "ts"\ncolumns = { b = "INTEGER", ts = "INTEGER" }\n'
    )
    setting = obda_bm.load_setting(tmp_path / "obda.toml")
    sql = "SELECT 1 FROM emitted, T WHERE emitted.ts < T.ts"
    plan = obda_bm.compile_sql(sql, setting).plan
    assert plan is not None
    assert outline(plan).emitted == ()
    assert Bound(outline(plan).branches[0].states[0].size).units == 1
