"""A damaged setting is read or refused with diagnostics; nothing else may happen."""

import random
import re
from pathlib import Path

import pytest

from obda_bm.diagnostics import Diagnostic, SettingError
from obda_bm.setting import read_setting

TURBINES = """\
[ontology]
file = "turbines.ttl"                  # any RDF syntax
[mapping]
file = ["turbines.r2rml.ttl", 'b.ttl']

[streams.temperature]
time = "ts"
columns = { sensor = "INTEGER", value = "DECIMAL(5,1)", ts = "TIMESTAMP NOT NULL" }
check = ["value BETWEEN -50 AND 150"]
key = ["sensor", "ts"]
end = "2026-01-01T00:00:00"
source = { format = "parquet", path = "data/temperature" }

[relations.sensor]
columns = { id = "INTEGER", turbine = "INTEGER" }
key = ["id"]
rows = 1200
source = { format = "jdbc", url = "…", table = "sensor" }
"""
TICKS = '''\
ontology.file = []
[streams."a.b"]
time = "n"
check = """
n > 0"""
key = [["n"],
  ['m', "n"], # two
]
end = 1_000
[streams."a.b".columns]
n = "BIGINT"
m = "ENUM('on', 'off')"
[streams.dated]
time = "day"
end = 2026-01-01 00:00:00
columns.day = "DATE"
[relations]
r = { columns = { "x y" = "VARCHAR(20)" }, rows = 0x1F, source.format = 'csv', source.wide = true }
'''
INSERTED = (
    *"[]{}\"'=.,#\n\r\\\0 019-_aé\ufeff\u2028",
    *('"""', "'''", "[[", "]]", "= {}", "= []", "true", "1e9", "\\u0000", "streams", "[relations]"),
    *("9" * 5000, "[" * 2000, "07:32:00", "2026-01-01", "nan", '""', "NOT NULL", "a." * 50),
)
TOKEN = re.compile(r"\w+|\s+|.")


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 2, 5))):
        tokens = rng.choice((list, TOKEN.findall))(text)
        at = rng.randrange(len(tokens))
        match rng.choice(("delete", "insert", "replace", "copy", "cut")):
            case "delete":
                del tokens[at]
            case "insert":
                tokens.insert(at, rng.choice(INSERTED))
            case "replace":
                tokens[at] = rng.choice(INSERTED)
            case "copy":
                tokens[at] = rng.choice(tokens)
            case "cut":
                del tokens[at : at + rng.randrange(1, 40)]
        text = "".join(tokens) or " "
    return text


def refusal(path: Path) -> tuple[Diagnostic, ...] | None:
    try:
        read_setting(path)
    except SettingError as error:
        return error.diagnostics
    return None


@pytest.mark.parametrize("good", [TURBINES, TICKS], ids=["turbines", "ticks"])
def test_mutations(good: str, tmp_path: Path) -> None:
    rng = random.Random(20260101)
    path = tmp_path / "obda.toml"
    path.write_text(good, encoding="utf-8")
    assert refusal(path) is None
    codes: set[str] = set()
    for _ in range(500):
        path.write_bytes(mutated(good, rng).encode())
        diagnostics = refusal(path)
        assert diagnostics != ()
        for diagnostic in diagnostics or ():
            assert f"--> {path}:" in diagnostic.render()
            assert diagnostic.hint
            codes.add(diagnostic.code)
    # The mutations are of use only if they reach beyond the syntax of TOML.
    assert {"OBM103", "OBM104", "OBM105", "OBM106", "OBM111", "OBM112"} <= codes
