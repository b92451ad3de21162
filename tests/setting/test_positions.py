"""The scanner against tomllib: what it finds, parsed alone, is what stands at that path."""

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obda_bm.diagnostics import SourceText, Span
from obda_bm.setting.positions import TomlPath, inside_quotes, locate

SCALARS = (
    "1",
    "-17",
    "1_000",
    "0xFF",
    "6.5e-3",
    "+inf",
    "true",
    "1979-05-27",
    "1979-05-27 07:32:00",
    "1979-05-27T07:32:00-07:00",
    "07:32:00.5",
    '""',
    "''",
    '"a # no comment"',
    '"]},[{"',
    r'"a \" b \\"',
    r'"A é"',
    "'a \\'",
    "'it is \"quoted\"'",
    "\"''\"",
    '""""""',
    '"""a\n"quoted" ""twice"" \\""" end"""',
    '"""ends in quotes"""""',
    '"""\\\n  trimmed"""',
    "''''''",
    "'''\nline [a]\n# b = 1\n'''",
    "''''quoted'''''",
)
KEYS = ("a", "b", "c-1", "1979", "'a'", '"b.c"', '""', r'"\u0061b"', "'d # e'", '"="')
GAPS = ("", " ", "\n", "\r\n\t", " # ], }\n", "\n\n# a = '\n  ")
BLANKS = ("", " ", "\t ")

keys = st.lists(st.sampled_from(KEYS), min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from(BLANKS).map(lambda b: f"{b}.{b}".join(parts))
)


def arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    gap = st.sampled_from(GAPS)
    element = st.builds("{}{}{}".format, gap, values, gap)
    return st.builds(
        lambda elements, comma, last: f"[{','.join(elements)}{comma if elements else ''}{last}]",
        st.lists(element, max_size=4),
        st.sampled_from(("", ",")),
        gap,
    )


def inline_tables(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.builds("{} = {}".format, keys, values)
    return st.lists(pair, max_size=3).map(lambda pairs: "{ " + " , ".join(pairs) + " }")


values = st.recursive(
    st.sampled_from(SCALARS), lambda inner: arrays(inner) | inline_tables(inner), max_leaves=6
)
statements = (
    st.builds("{}={} # = [x]".format, keys, values)
    | st.builds("\t{} = {}".format, keys, values)
    | keys.map("[{}]".format)
    | keys.map("[[ {} ]]".format)
)


def accepted(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Statements, less those that contradict the ones before."""
    text = draw(st.sampled_from(("", "# [x]\n\r\n")))
    for statement in draw(st.lists(statements, max_size=12)):
        longer = text + statement + draw(st.sampled_from(("\n", "\r\n")))
        text = longer if accepted(longer) else text
    return text


def walk(value: object, path: TomlPath = ()) -> Iterator[tuple[TomlPath, object]]:
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, (*path, index))


def check(text: str) -> None:
    found = locate(SourceText("obda.toml", text))
    expected = dict(walk(tomllib.loads(text)))
    assert found.keys() == expected.keys()
    spans = [located.value for located in found.values() if located.value]
    assert len({(span.start, span.end) for span in spans}) == len(spans)
    for path, located in found.items():
        if located.value is None:
            assert isinstance(expected[path], dict | list)
        else:
            assert tomllib.loads(f"x = {located.value.text}")["x"] == expected[path]
        if isinstance(path[-1], str):
            assert tomllib.loads(f"{located.key.text} = 1") == {path[-1]: 1}


@given(documents())
@settings(max_examples=400, deadline=None)
def test_every_value_is_found_where_it_stands(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing",
        "a = 1",
        "[a]\n[a.b.c]\nd = 2\n[a.b]\ne = 3",
        "[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3\n[[a.e]]\n[[a.e]]\nf = 4\n[[a]]\n[[a.e]]",
        "a = [[1, 2], [ ], [{ b = [ 3,\n4, # five\n] }]]\nc.d.e = 1\nc.d.f = { g.h = 1, g.i = {} }",
        "when = [1979-05-27 07:32:00, 1979-05-27]",
    ],
)
def test_documents_by_hand(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", ["[a]\n[a.b]\n", "[a.b]\n[a]\n"])
def test_a_table_is_where_its_own_header_names_it(text: str) -> None:
    key = locate(SourceText("obda.toml", text))[("a",)].key
    assert key.start == text.index("[a]") + 1


def test_nesting_that_tomllib_bears_is_no_recursion_here() -> None:
    # Deeper than any recursion; tomllib, which is recursive, need not see it.
    depth = 3000
    text = "a = " + "[" * depth + "]" * depth
    assert len(locate(SourceText("obda.toml", text))) == depth


@pytest.mark.parametrize(
    ("string", "inside"),
    [
        ("'a > 1'", "a > 1"),
        ('"a > 1"', "a > 1"),
        ("''", ""),
        ('""', ""),
        ("\"''\"", "''"),
        ("'''a > 1'''", "a > 1"),
        ('"""\r\na > 1\n"""', "a > 1\n"),
        ("''''a''''", "'a'"),
    ],
)
def test_inside_quotes(string: str, inside: str) -> None:
    source = SourceText("obda.toml", f"x = {string} # '")
    span = inside_quotes(Span(source, 4, 4 + len(string)))
    assert span.text == inside
    # Line breaks aside, a string without escapes says what stands between its quotes.
    assert tomllib.loads(source.text)["x"] == inside
