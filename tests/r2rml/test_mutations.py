"""Damaged mappings: a diagnostic on the damaged line, and never anything but diagnostics."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import obda_bm
from obda_bm.diagnostics import Diagnostic
from obda_bm.ir.tbox import TBox
from obda_bm.mediation import check_mappings
from obda_bm.ontology import read_ontology

MAPPINGS = Path(__file__).parents[2] / "mappings"

Edit = Callable[[re.Match[str], random.Random], str]
"""The new text of a match, of which group 1 is what is damaged."""


def misspelt(found: re.Match[str], rng: random.Random) -> str:
    word = found[1]
    at = rng.randrange(len(word))
    return word[:at] + word[at + 1 :] + rng.choice("qz7")


def removed(_found: re.Match[str], _rng: random.Random) -> str:
    return ""


def becomes(text: str) -> Edit:
    return lambda _found, _rng: text


R2RML: dict[str, tuple[str, Edit]] = {
    "table": (r'rr:tableName "(\w+)"', misspelt),
    "column": (r'rr:column "(\w+)"', misspelt),
    "column in a template": (r'rr:template "[^"]*\{(\w+)\}', misspelt),
    "class": (r"rr:class :(\w+)", misspelt),
    "property": (r"rr:predicate :(\w+)", misspelt),
    "vocabulary": (r"rr:(\w{6,}) ", misspelt),
    "closing quote": (r'rr:\w+ "[^"\n]*(")', removed),
    "closing bracket": (r"\[[^\[\]\n]*(\]) [;.]", removed),
    "semicolon": (r"\](?: \])* (;)\n", removed),
    "full stop": (r"\](?: \])* (\.)\n", removed),
    "prefix": (r" (rr):\w", becomes("r2")),
    "column in SQL": (r"SELECT (\w+)", misspelt),
    "table in SQL": (r"FROM (\w+)", misspelt),
    "keyword in SQL": (r"(FROM) \w+", becomes("FORM")),
    "parent": (r"rr:parentTriplesMap <(\w+)>", misspelt),
    "child column": (r'rr:child "(\w+)"', misspelt),
    "parent column": (r'rr:parent "(\w+)"', misspelt),
    "closing brace": (r'rr:template "[^"]*\{\w+(\})', removed),
    "datatype": (r"rr:datatype xsd:(double)", becomes("date")),
    "language": (r'rr:language "(en)"', becomes("english")),
    "template": (r'rr:objectMap \[ rr:template "[^"]*example/(\w+)/', becomes("thing")),
    "chance": (r"kind = '\w+'()\"", becomes(" AND random() < 0.5")),
    "aggregate": (r"SELECT (id) FROM", becomes("max(id) AS id")),
    "two values": (r'rr:column "\w+"()', becomes(' ; rr:template "http://e/{id}"')),
    "a literal for an individual": (
        r'assembly/\{assembly\}"()',
        becomes(" ; rr:termType rr:Literal"),
    ),
    "two streams": (r"FROM (event)", becomes("event, vibration")),
}
OBDA: dict[str, tuple[str, Edit]] = {
    "column in a target": (r"target .*\{(\w+)\}", misspelt),
    "class": (r" a :(\w+)", misspelt),
    "property": (r" :(has\w+)", misspelt),
    "prefix": (r"target +(data):", becomes("dta")),
    "key word": (r"\n(target|source) ", misspelt),
    "closing brace": (r"target .*\{\w+(\})", removed),
    "column in SQL": (r"SELECT (\w+)", misspelt),
    "table in SQL": (r"FROM (\w+)", misspelt),
    "keyword in SQL": (r"(FROM) \w+", becomes("FORM")),
    "datatype": (r"\^\^xsd:(double)", becomes("dateTime")),
    "aggregate": (r"SELECT (id) FROM", becomes("count(*) AS id")),
}


def damaged(text: str, edit: tuple[str, Edit], rng: random.Random) -> tuple[str, int]:
    """The text with one match edited, and the line of the damage."""
    found = rng.choice(list(re.finditer(edit[0], text)))
    new = text[: found.start(1)] + edit[1](found, rng) + text[found.end(1) :]
    return new, text[: found.start(1)].count("\n") + 1


def lines_of(diagnostics: list[Diagnostic]) -> set[int]:
    return {d.span.line for d in diagnostics if d.span is not None}


@pytest.mark.parametrize(
    ("domain", "file", "edits", "count"),
    [("turbines", "turbines.r2rml.ttl", R2RML, 220), ("fitness", "fitness.obda", OBDA, 110)],
)
def test_mutations(
    domain: str,
    file: str,
    edits: dict[str, tuple[str, Edit]],
    count: int,
    tmp_path: Path,
) -> None:
    rng = random.Random(20261118)
    setting = obda_bm.load_setting(MAPPINGS / f"{domain}.toml")
    tbox = read_ontology(setting.ontologies).tbox
    good = (MAPPINGS / file).read_text("utf-8")
    path = tmp_path / file
    changed = replace(setting, mappings=(path,))
    path.write_text(good, encoding="utf-8")
    assert check_mappings(changed, tbox) == []
    missed: Counter[str] = Counter()
    for name in [rng.choice(list(edits)) for _ in range(count)]:
        text, line = damaged(good, edits[name], rng)
        path.write_text(text, encoding="utf-8")
        found = [finding.diagnostic for finding in check_mappings(changed, tbox)]
        missed[name] += line not in lines_of(found)
        assert all(d.render() for d in found)
    assert missed.total() <= 0.05 * count, {name: n for name, n in missed.items() if n}


INSERTED = (
    *"[]{}()<>\"';,.^@#\n\\\0 é_:",
    *('"""', "'''", "<>", "_:b", "a", "@prefix", "rr:", "^^", "[[", "]]", "{}", "\\u00", "1e5"),
    *("[" * 300, "(" * 300, "SELECT", "--", "/*", "target", "mappingId x", "xsd:double"),
)
TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)


def scrambled(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 2, 5))):
        tokens = TOKEN.findall(text)
        at = rng.randrange(len(tokens))
        match rng.choice(("delete", "insert", "copy", "cut")):
            case "delete":
                del tokens[at]
            case "insert":
                tokens.insert(at, rng.choice(INSERTED))
            case "copy":
                tokens[at] = rng.choice(tokens)
            case "cut":
                del tokens[at : at + rng.randrange(1, 60)]
        text = "".join(tokens) or " "
    return text


@pytest.mark.parametrize("file", ["turbines.r2rml.ttl", "fitness.obda"])
def test_whatever_the_text_only_diagnostics(file: str, tmp_path: Path) -> None:
    rng = random.Random(7)
    setting = obda_bm.load_setting(MAPPINGS / f"{file.partition('.')[0]}.toml")
    good = (MAPPINGS / file).read_text("utf-8")
    path = tmp_path / file
    for _ in range(150):
        path.write_text(scrambled(good, rng), encoding="utf-8")
        for finding in check_mappings(replace(setting, mappings=(path,)), TBox(())):
            assert finding.diagnostic.render()
