"""More than five hundred broken texts: a diagnostic for each, nearly always on the right line.

Every kind of mutation makes a good text wrong for certain, so parsing must fail. The right line is
the one that was changed, and only the first diagnostic is asked for it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from obda_bm.diagnostics import SourceText, StarqlError
from obda_bm.syntax import parse_starql
from tests.syntax.corpus import CORPUS

NEEDED = r"PREFIX|CREATE|SELECT|CONSTRUCT|NOW|FROM|STREAM|USING|PULSE|WHERE|SEQUENCE|BY|AS|HAVING"
NEEDED += r"|IN|THEN|GRAPH|AND|OR|START|FREQUENCY|WITH|GROUP"
Change = Callable[[random.Random, str], str]


@dataclass(frozen=True)
class Mutation:
    """Change a place that `pattern` matches."""

    pattern: str
    change: Change

    def everywhere(self, text: str) -> Iterator[tuple[str, int]]:
        """The broken texts, one for each place, and the line where each is broken."""
        for place in re.finditer(self.pattern, text):
            new = self.change(random.Random(place.start()), place[0])
            line = text.count("\n", 0, place.start()) + 1
            yield text[: place.start()] + new + text[place.end() :], line


def _garbled(generator: random.Random, word: str) -> str:
    at = generator.randrange(1, len(word))
    return word[:at] + generator.choice("qxz") * 2 + word[at:]


def _lost(_: random.Random, __: str) -> str:
    return ""


def _twice(_: random.Random, text: str) -> str:
    return f"{text} {text}"


MUTATIONS = {
    "misspelt keyword": Mutation(rf"\b(?:{NEEDED}|EXISTS|FORALL|IF|NOT|DISTINCT|DATA)\b", _garbled),
    "keyword lost": Mutation(rf"\b(?:{NEEDED})\b", _lost),
    "bracket lost": Mutation(r"[][(){}]", _lost),
    "bracket twice": Mutation(r"[][(){}]", _twice),
    "operand lost": Mutation(r"(?<=[<>] )(?:\?\w+|[ij]\b|\d+)", _lost),
    "operator twice": Mutation(r" (?:<=|>=|<|>) ", lambda _, op: f"{op}{op.strip()} "),
    "arrow lost": Mutation(r"->", _lost),
    "comma instead": Mutation(r" = (?=\")", lambda _, __: " , "),
    "undeclared prefix": Mutation(r"(?<= ):(?=\w)", lambda _, __: "zz:"),
    "property lost": Mutation(r"(?<=\?\w ):\w+(?= \?)", _lost),
    "class lost": Mutation(r"(?<= a ):\w+", _lost),
    "name twice": Mutation(r"(?<= ):\w+(?= )", _twice),
    "unknown sequence": Mutation(r"(?<=IN )\w+", _garbled),
    "unknown state": Mutation(r"(?<=GRAPH )[ijk]\b", lambda _, __: "zz"),
    "unknown pulse": Mutation(r"(?<=USING PULSE )(?!WITH)\w+", _garbled),
    "unknown duration": Mutation(r"(?<=\"PT)\d+[HMS]", lambda _, text: text[:-1] + "X"),
    "unknown zone": Mutation(r"(?<=\d\d)(?:CEST|CET|MEZ|UTC)", _garbled),
    "bad day": Mutation(r"(?<=2026-)\d\d-\d\d", lambda g, _: g.choice(["13-01", "02-30", "1-1"])),
    "quote lost": Mutation(r"\"", _lost),
    "stray character": Mutation(r" (?=[A-Z])", lambda g, _: f" {g.choice('€~§%')} "),
    "unbound in comparison": Mutation(r"\?[xyl](?= [<>])|(?<=[<>] )\?[xy]", lambda _, __: "?zz"),
    "unbound in output": Mutation(r"(?<=SELECT \{ )\?\w|(?<=NOW \{ )\?\w", lambda _, __: "?zz"),
}


CASES = [
    (kind, broken, line)
    for kind, mutation in MUTATIONS.items()
    for text in CORPUS
    for broken, line in mutation.everywhere(text)
]


def first_line(text: str) -> int:
    """The line of the first diagnostic; every one of them must have a place and a hint."""
    with pytest.raises(StarqlError) as caught:
        parse_starql(SourceText("q.starql", text))
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.code.startswith("OBM4")
        assert diagnostic.hint
        assert diagnostic.span is not None
        assert "^" in diagnostic.render()
    span = caught.value.diagnostics[0].span
    assert span is not None
    return span.line


def test_the_corpus_is_good() -> None:
    for text in CORPUS:
        parse_starql(SourceText("q.starql", text))


def test_there_are_enough_mutations() -> None:
    assert len(CASES) >= 500


def test_mutations_are_found_on_the_right_line() -> None:
    wrong = [(kind, line, text) for kind, text, line in CASES if first_line(text) != line]
    shown = "\n".join(f"{kind}, line {line}\n{text}" for kind, line, text in wrong[:3])
    assert len(wrong) <= 0.05 * len(CASES), f"{len(wrong)} of {len(CASES)} wrong\n{shown}"


def _shaken(text: str, generator: random.Random) -> str:
    """`text` with a few tokens deleted, doubled, exchanged or moved."""
    tokens = re.findall(r"\s+|\"[^\"\n]*\"|[\w?$:]+|.", text)
    for _ in range(generator.randrange(1, 6)):
        i, j = generator.randrange(len(tokens)), generator.randrange(len(tokens))
        match generator.randrange(4):
            case 0:
                tokens[i] = ""
            case 1:
                tokens[i] += tokens[i]
            case 2:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case _:
                tokens[i] = tokens[j]
    return "".join(tokens)


@pytest.mark.parametrize("text", CORPUS, ids=["rising", "grouped", "failing", "chained"])
def test_whatever_happens_to_a_text_it_is_parsed_or_refused(text: str) -> None:
    for seed in range(500):
        shaken = SourceText("q.starql", _shaken(text, random.Random(seed)))
        try:
            document = parse_starql(shaken)
        except StarqlError as error:
            rendered = [d.render() for d in error.diagnostics if d.span is not None]
            complete = len(rendered) == len(error.diagnostics) > 0
        else:
            complete = parse_starql(SourceText("again", str(document))) == document
        assert complete, shaken.text


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 3000,
        "NOT " * 3000,
        "- " * 3000,
        "EXISTS i IN seq (" * 3000,
        "abs(" * 3000,
        "IF " * 3000,
        "GRAPH i { FILTER " * 3000,
    ],
)
def test_nesting_has_a_limit(condition: str) -> None:
    text = f"SELECT ?s FROM STREAM m SEQUENCE BY StdSeq AS seq\nHAVING {condition}"
    with pytest.raises(StarqlError, match="nested too deeply"):
        parse_starql(SourceText("q.starql", text))


def test_aggregates_do_not_explode() -> None:
    rest = "".join(f"CREATE AGGREGATE a{n} () AS a{n + 1}() AND a{n + 1}()\n" for n in range(60))
    text = rest + "CREATE AGGREGATE a60 () AS 1 = 1\nSELECT ?s FROM STREAM m HAVING a0()"
    with pytest.raises(StarqlError, match="more than 50 calls"):
        parse_starql(SourceText("q.starql", text))
