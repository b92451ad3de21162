"""A thousand malformed settings and queries: exit 2 and a diagnostic with a caret for each.

Every mutation is one that makes a good text wrong for certain, so exit 2 is the only right answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import run_here

SETTING = """\
[streams.temperature]
time = "ts"
columns = { sensor = "INTEGER", value = "DECIMAL(5,1)", label = "VARCHAR(20)", ts = "TIMESTAMP" }
check = ["value BETWEEN -50 AND 150", "sensor > 0"]
key = ["sensor", "ts"]
source = { format = "parquet", path = "data/temperature" }

[streams.alarm]
time = "ts"
columns = { sensor = "INTEGER", severity = "INTEGER", day = "DATE", ts = "TIMESTAMP" }
end = "2026-01-01T00:00:00"

[relations.sensor]
columns = { id = "INTEGER", turbine = "INTEGER" }
key = ["id"]
rows = 1200
"""

QUERIES = [
    "SELECT t.sensor, a.severity FROM temperature t, alarm a "
    "WHERE t.sensor = a.sensor AND t.ts < a.ts AND t.value > 90.5",
    "SELECT DISTINCT a.severity FROM alarm AS a JOIN sensor AS s ON a.sensor = s.id "
    "WHERE s.turbine BETWEEN 1 AND 5 AND a.severity IN (1, 2, 3)",
    "SELECT t.value FROM temperature t JOIN alarm a ON t.sensor = a.sensor\n"
    "WHERE a.ts <= t.ts + INTERVAL '5' MINUTE AND t.ts <= a.ts AND t.label = 'hot'",
    "WITH hot AS (SELECT sensor, ts FROM temperature WHERE value > 90)\n"
    "SELECT a.severity FROM hot h, alarm a WHERE h.sensor = a.sensor AND a.day > DATE '2025-01-01'",
    "SELECT s.id FROM sensor s WHERE s.id > 3 UNION ALL SELECT a.sensor FROM alarm a",
]

Mutation = Callable[[random.Random, str], str]


def _at(text: str, match: re.Match[str], replacement: str) -> str:
    return text[: match.start()] + replacement + text[match.end() :]


def _one(pattern: str, change: Callable[[random.Random, str], str]) -> Mutation:
    """Change one place that `pattern` matches."""

    def mutate(generator: random.Random, text: str) -> str:
        match = generator.choice(list(re.finditer(pattern, text)))
        return _at(text, match, change(generator, match[0]))

    return mutate


def _swapped(generator: random.Random, word: str) -> str:
    i = generator.randrange(len(word))
    return word[:i] + generator.choice("qxz7_") * 2 + word[i:]


SETTING_MUTATIONS: dict[str, Mutation] = {
    "misspelt key": _one(r"(?m)^(time|columns|check|key|source|end|rows)(?= =)", _swapped),
    "misspelt table": _one(r"(?<=\[)(streams|relations)(?=\.)", _swapped),
    "unknown type": _one(r"INTEGER|DECIMAL|VARCHAR|TIMESTAMP(?=\")|DATE(?=\")", _swapped),
    "unknown time column": _one(r'(?<=time = ")ts', _swapped),
    "unknown key column": _one(r'(?<=key = \[")\w+', _swapped),
    "bracket lost": _one(r"[\[\]{}]", lambda _, __: ""),
    "quote lost": _one(r'(?<== )"|"(?=[\n,\]])', lambda _, __: ""),
    "equals sign lost": _one(r" = ", lambda _, __: " "),
    "value lost": _one(r"(?m)(?<== ).+$", lambda _, __: ""),
    "wrong TOML type": _one(
        r'(?m)(?<=^time = )".*"$|(?<=^rows = )1200|(?<=^end = )".*"$',
        lambda g, _: g.choice(["true", "1.5", "[[1]]", "{ a = 1 }"]),
    ),
    "wrong type of a column": _one(r'"INTEGER"', lambda g, _: g.choice(["1", "true", "[]", "{}"])),
    "bad check": _one(
        r"(?<=check = \[\").*?(?=\")",
        lambda g, _: g.choice(
            [
                "value >",
                "valeu > 1",
                "value > 'x'",
                "COUNT(value) > 1",
                "value BETWEEN 1",
                "(",
                "value",
            ]
        ),
    ),
    "bad end": _one(
        r"(?<=end = \").*?(?=\")", lambda g, _: g.choice(["soon", "2026-13-01", "-1", ""])
    ),
    "bad rows": _one(r"(?<=rows = )1200", lambda g, _: g.choice(["0", "-3", '"many"', "12.0"])),
    "two tables of one name": lambda g, text: (
        text + g.choice(["[streams.alarm]", "[relations.alarm]\n"])
    ),
    "duplicate key": _one(r"(?m)^time = .*$", lambda _, line: f"{line}\n{line}"),
    "control character": _one(r"[a-z]", lambda g, _: chr(g.choice([0, 1, 7, 11]))),
    "missing columns": _one(r"(?m)^columns = .*\n", lambda _, __: ""),
    "missing time": _one(r"(?m)^time = .*\n", lambda _, __: ""),
}

QUERY_MUTATIONS: dict[str, Mutation] = {
    "misspelt column": _one(r"(?<=[tash]\.)[a-z]+", _swapped),
    "misspelt table": _one(r"(?<=FROM |JOIN )[a-z]{3,}", _swapped),
    "unknown alias": _one(r"\b[tash](?=\.)", lambda g, _: g.choice(["q", "tt", "nobody"])),
    "keyword lost": _one(r"\b(FROM|WHERE) ", lambda _, __: ""),
    "misspelt keyword": _one(r"\bSELECT\b|\bFROM\b|\bINTERVAL\b", _swapped),
    "operand lost": _one(r"(?<=[=<>] )[a-z]\.\w+|(?<=[=<>] )\d[\d.]*", lambda _, __: ""),
    "two operators": _one(r" (=|<|>) ", lambda _, __: " = < "),
    "quote lost": _one(r"'", lambda _, __: ""),
    "bracket added": _one(r" (?=AND|FROM)", lambda g, _: g.choice([" ( ", " ) ", " )) "])),
    "text against number": _one(r"(?<=> )[\d.]+", lambda _, __: "'many'"),
    "number against text": lambda _, text: (
        text + (" AND t.label = 3" if "t.label" in text else " ((")
    ),
    "truth against number": _one(r"(?<=> )[\d.]+", lambda _, __: "TRUE"),
    "no text at all": lambda g, _: g.choice(["", " ", "\n\n", "-- nothing\n", ";", "/* */"]),
    "trailing junk": lambda g, text: text + g.choice([" AND", " WHERE", " ) x", " = 1 = 2 ="]),
    "bad date": lambda _, text: (
        re.sub(r"DATE '[^']*'|90(\.5)?", "DATE '2025-99-99'", text) + " AND ("
    ),
    "alias twice": lambda _, text: re.sub(r"\bFROM ", "FROM alarm x, sensor x, ", text, count=1),
    "ambiguous column": lambda _, text: re.sub(
        r"^.*?SELECT( DISTINCT)?",
        "SELECT sensor FROM temperature v, alarm w UNION ALL SELECT",
        text,
        count=1,
        flags=re.S,
    ),
}

EACH_SETTING = 28
EACH_QUERY = 30


def _mutations(table: dict[str, Mutation], each: int) -> list[tuple[str, int]]:
    return [(name, seed) for name in table for seed in range(each)]


def test_a_thousand_mutations_are_tried() -> None:
    assert len(SETTING_MUTATIONS) * EACH_SETTING + len(QUERY_MUTATIONS) * EACH_QUERY >= 1000


@pytest.mark.parametrize("name", SETTING_MUTATIONS)
def test_malformed_settings(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, setting = tmp_path / "query.sql", tmp_path / "obda.toml"
    query.write_text("SELECT s.id FROM sensor s")
    for seed in range(EACH_SETTING):
        text = SETTING_MUTATIONS[name](random.Random(seed), SETTING)
        setting.write_text(text)
        result = run_here(capsys, "check", str(query), "--setting", str(setting))
        _is_a_diagnostic(result.code, result.out, result.err, text)
        assert "obda.toml:" in result.err, text


@pytest.mark.parametrize("name", QUERY_MUTATIONS)
def test_malformed_queries(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, setting = tmp_path / "query.sql", tmp_path / "obda.toml"
    setting.write_text(SETTING)
    for seed in range(EACH_QUERY):
        generator = random.Random(seed)
        good = generator.choice([q for q in QUERIES if _applies(QUERY_MUTATIONS[name], q)])
        text = QUERY_MUTATIONS[name](generator, good)
        query.write_text(text)
        result = run_here(capsys, "check", str(query), "--setting", str(setting))
        _is_a_diagnostic(result.code, result.out, result.err, text)


def _applies(mutation: Mutation, text: str) -> bool:
    try:
        return mutation(random.Random(0), text) != text
    except IndexError:  # there is no such place in this query
        return False


def _is_a_diagnostic(code: int, out: str, err: str, text: str) -> None:
    assert code == 2, f"{text}\n{err}"
    assert out == "", text
    assert err.startswith("error[OBM"), text
    assert "Traceback" not in err, text
    assert re.search(r"^ +\| .*\^", err, re.MULTILINE), f"no caret:\n{text}\n{err}"


def test_the_unmutated_texts_are_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, setting = tmp_path / "query.sql", tmp_path / "obda.toml"
    setting.write_text(SETTING)
    for good in QUERIES:
        query.write_text(good)
        result = run_here(capsys, "check", str(query), "--setting", str(setting))
        assert result.code in (0, 1), result.err
