"""obda-bm witness: streams that any SQL engine can be fed with."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import duckdb
import pytest

from tests.cli.command import FOUR_STREAMS, STAIRCASE, TABLE_1, run_here

Capture = pytest.CaptureFixture[str]


def sections(script: str) -> tuple[list[str], dict[str, list[str]]]:
    """CREATE statements, and the INSERT statements under each comment."""
    tables = re.findall(r"^CREATE TABLE .*;$", script, re.MULTILINE)
    parts: dict[str, list[str]] = {}
    name = ""
    for line in script.splitlines():
        if line.startswith("-- "):
            name = line.removeprefix("-- ")
            parts.setdefault(name, [])
        elif line.startswith("INSERT"):
            parts[name].append(line)
    return tables, parts


def answers(
    script: str, sql: str, n: int, subset: tuple[int, ...]
) -> tuple[frozenset[object], ...]:
    """What is new in DuckDB's answer after each continuation, if `subset` came before it."""
    tables, parts = sections(script)
    before = parts.get("common", []) + [i for k in subset for i in parts[f"candidate {k}"]]
    new = []
    for k in range(1, n + 1):
        with duckdb.connect() as db:
            for statement in (*tables, *before):
                db.execute(statement)
            old = Counter(db.execute(sql).fetchall())
            for statement in parts[f"continuation {k}"]:
                db.execute(statement)
            new.append(frozenset((Counter(db.execute(sql).fetchall()) - old).items()))
    return tuple(new)


@pytest.mark.parametrize(
    ("setting", "sql"),
    [
        (FOUR_STREAMS, STAIRCASE),
        (TABLE_1, "SELECT S.A FROM S, T WHERE S.B < T.D AND S.A > 10 AND S.A < 20"),
        (TABLE_1, "SELECT DISTINCT S.A FROM S WHERE S.A > 10"),
    ],
    ids=["S3", "B2", "S0"],
)
def test_duckdb_tells_the_subsets_apart(
    capsys: Capture, tmp_path: Path, setting: str, sql: str
) -> None:
    n = 3
    (tmp_path / "obda.toml").write_text(setting)
    (tmp_path / "q.sql").write_text(sql)
    result = run_here(
        capsys,
        "witness",
        str(tmp_path / "q.sql"),
        "--setting",
        str(tmp_path / "obda.toml"),
        "--n",
        str(n),
    )
    assert result.code == 0
    subsets = [s for size in range(n + 1) for s in combinations(range(1, n + 1), size)]
    vectors = [answers(result.out, sql, n, subset) for subset in subsets]
    assert len(set(vectors)) == 2**n


def test_the_staircase_tells_256_subsets_apart(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "obda.toml").write_text(FOUR_STREAMS)
    (tmp_path / "q.sql").write_text(STAIRCASE)
    result = run_here(
        capsys,
        "witness",
        str(tmp_path / "q.sql"),
        "--setting",
        str(tmp_path / "obda.toml"),
        "--json",
    )
    report = json.loads(result.out)
    assert report["n"] == 8
    assert report["evidence"] == {"subsets": 256, "exact": True}
    assert [[t["relation"] for t in c] for c in report["candidates"]] == [["X", "Y"]] * 8


def test_a_bounded_query_has_none(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "obda.toml").write_text(TABLE_1)
    (tmp_path / "q.sql").write_text("SELECT S.A FROM S")
    arguments = (str(tmp_path / "q.sql"), "--setting", str(tmp_path / "obda.toml"))
    result = run_here(capsys, "witness", *arguments)
    assert (result.code, result.out) == (1, "")
    assert "the query is bounded" in result.err
