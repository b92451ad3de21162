"""Golden files: queries and their verdicts, as a domain expert reads them.

A file starts with a `setting` (TOML). Each case is a comment that says why it exists, the line
`check` (or `check set`, `check bag` to override DISTINCT), the SQL, `----`, and what is expected.
`pytest --update-golden` rewrites the expectations; review the diff line by line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import obda_bm
from obda_bm.diagnostics import OutsideFragment
from obda_bm.ir.verdict import Bounded, PaperAnswer, Unbounded, Undecided, Verdict

FILES = sorted((Path(__file__).parent / "analysis").glob("*.golden"))


@dataclass(frozen=True)
class Case:
    comment: str
    command: str
    sql: str
    expected: str

    def text(self, expected: str) -> str:
        return f"{self.comment}\n{self.command}\n{self.sql}\n----\n{expected}\n"


def read(path: Path, verb: str = "check") -> tuple[str, list[Case]]:
    """The setting block as written, and the cases."""
    head, *blocks = re.split(rf"\n\n(?=(?:#[^\n]*\n)+{verb})", path.read_text())
    return head, [_case(block, verb) for block in blocks]


def _case(block: str, verb: str) -> Case:
    before, _, expected = block.partition("\n----")
    lines = before.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(verb))
    return Case(
        "\n".join(lines[:start]), lines[start], "\n".join(lines[start + 1 :]), expected.strip()
    )


def summary(verdict: Verdict) -> str:
    return "\n".join(_summary(verdict))


def _summary(verdict: Verdict) -> list[str]:
    papers = (
        f"papers: [A] {_answer(verdict.papers.arasu2002)}, [S] {_answer(verdict.papers.schiff2020)}"
    )
    match verdict:
        case Bounded():
            size = "?" if verdict.bound.units is None else str(verdict.bound.units)
            title = verdict.name.replace("_", " ")
            states = [f"keeps {state}: {state.formula}" for state in verdict.bound.states]
            empty = [r.message for r in verdict.reasons if r.condition == "satisfiability"]
            return [f"{title}, {size} units", *states, *empty, papers]
        case Unbounded():
            exact = "exactly its candidate" if verdict.evidence.exact else "the subset together"
            repairs = [f"repair: {r.edit} -> {r.verdict}" for r in verdict.repairs[:2]]
            return ["unbounded", *_violated(verdict), f"witness: {exact}", papers, *repairs]
        case Undecided():
            return ["undecided", *_violated(verdict), papers]


def _violated(verdict: Unbounded | Undecided) -> list[str]:
    named = [r for r in verdict.reasons if r.columns]
    return [f"{r.condition}: {', '.join(map(str, r.columns))}" for r in named]


def _answer(answer: PaperAnswer) -> str:
    if answer.bounded is None:
        return "silent"
    clause = answer.clause.rsplit(", ", 1)[-1] if not answer.bounded else ""
    return "bounded" if answer.bounded else f"not bounded ({clause})"


def decide(setting: obda_bm.Setting, case: Case) -> str:
    override = case.command.removeprefix("check").strip()
    semantics = obda_bm.Semantics(override) if override else None
    try:
        return summary(obda_bm.compile_sql(case.sql, setting, semantics).verdict)
    except OutsideFragment as error:
        return "\n".join(f"outside {d.code}: {d.message}" for d in error.diagnostics)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    head, cases = read(path)
    toml = tmp_path / "obda.toml"
    toml.write_text(head.split("setting\n", 1)[1])
    setting = obda_bm.load_setting(toml)
    actual = [decide(setting, case) for case in cases]
    if request.config.getoption("--update-golden"):
        blocks = [case.text(text) for case, text in zip(cases, actual, strict=True)]
        path.write_text("\n".join([head + "\n", *blocks]))
        return
    for case, text in zip(cases, actual, strict=True):
        assert text == case.expected, f"{path.name}: {case.comment}\n{case.sql}"


def test_there_are_enough_cases() -> None:
    assert sum(len(read(path)[1]) for path in FILES) >= 60
