"""Pages: well-formed, on their own, escaped, legible, and true to the plan."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest

import obda_bm
from obda_bm.diagnostics import OutsideFragment
from obda_bm.ir.plan import BranchPlan
from obda_bm.pipeline import Compiled
from tests.golden.test_golden import FILES, read

VOID = {"meta", "br"}
CSS = (files("obda_bm.report.page") / "page.css").read_text("utf-8")


class Reader(HTMLParser):
    """Reads a page as a browser does, and refuses what a browser would silently repair."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert len({name for name, _ in attrs}) == len(attrs)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


@cache
def golden(path: Path) -> list[Compiled]:
    head, cases = read(path)
    with TemporaryDirectory() as folder:
        toml = Path(folder) / "obda.toml"
        toml.write_text(head.split("setting\n", 1)[1])
        setting = obda_bm.load_setting(toml)
    found = []
    for case in cases:
        override = case.command.removeprefix("check").strip()
        semantics = obda_bm.Semantics(override) if override else None
        try:
            found.append(obda_bm.compile_sql(case.sql, setting, semantics))
        except OutsideFragment:
            continue
    return found


def check_page(page: str) -> Reader:
    reader = Reader(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(reader.tags)
    for tag, name, value in reader.attributes:
        assert not name.startswith("on"), f"{tag} {name}"
        if name in ("href", "src", "xlink:href", "action", "srcset"):
            assert value.startswith("#"), value
        assert "url(" not in value or value.startswith("url(#"), value
    ids = reader.values("id")
    assert len(set(ids)) == len(ids)
    used = [i for value in reader.values("aria-labelledby") for i in value.split()]
    used += [value[1:] for value in reader.values("href")]
    assert set(used) <= set(ids)
    assert len(re.findall(r"<svg.*?<title.*?<desc", page, re.DOTALL)) == reader.tags.count("svg")
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(svg)
    return reader


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_pages_are_well_formed_and_need_nothing_else(path: Path) -> None:
    for compiled in golden(path):
        page = compiled.page()
        reader = check_page(page)
        assert reader.tags.count("h1") == 1
        assert re.sub(r"\s", "", compiled.source.text) in re.sub(r"\s", "", reader.text)
        assert page == compiled.page()
        check_page(compiled._repr_html_())


def test_the_style_fetches_nothing() -> None:
    assert "url(" not in CSS
    assert "@import" not in CSS


def drawn(page: str) -> list[tuple[set[str], set[str]]]:
    """Nodes and edges of each picture of states."""
    pictures = [s for s in re.findall(r"<svg.*?</svg>", page, re.DOTALL) if "states-" in s]
    return [
        (
            {
                g.attrib["data-node"]
                for g in ElementTree.fromstring(s).iter()
                if "data-node" in g.attrib
            },
            {
                g.attrib["data-edge"]
                for g in ElementTree.fromstring(s).iter()
                if "data-edge" in g.attrib
            },
        )
        for s in pictures
    ]


def expected(branch: BranchPlan, first: int) -> tuple[set[str], set[str]]:
    inputs = [f"input {'⋈'.join(s.alias for s in given.scans)}" for given in branch.inputs]
    states = [f"state {first + i}" for i in range(len(branch.synopses))]
    edges = set()
    for step in branch.steps:
        target = "emit" if step.target is None else states[step.target]
        edges |= {f"{inputs[i]} → {target}" for i in step.new}
        edges |= {f"{states[i]} → {target}" for i in step.old}
    return {*inputs, *states, "emit"}, edges


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_pictures_show_the_plan(path: Path) -> None:
    for compiled in golden(path):
        plan = compiled.plan
        first, wanted = 1, []
        for branch in plan.branches if plan else ():
            wanted.append(expected(branch, first))
            first += len(branch.synopses)
        assert drawn(compiled.page()) == wanted, str(plan)


HOSTILE = """
[streams.'<script>alert(1)</script>']
time = "ts"
columns = { 'a"onload="x' = "INTEGER", "]]>&amp;" = "INTEGER", ts = "INTEGER" }
[streams."</svg>'"]
time = "ts"
columns = { b = "INTEGER", ts = "INTEGER" }
"""

HOSTILE_SQL = """-- </code></style><script>alert(2)</script> <!--
SELECT x."a""onload=""x" FROM "<script>alert(1)</script>" x, "</svg>'" y
WHERE x."a""onload=""x" < y.b AND x."]]>&amp;" = 1"""


@pytest.mark.parametrize("bound", ["", " AND y.b BETWEEN 1 AND 5 AND x.ts < y.ts"])
@pytest.mark.parametrize("distinct", ["", "DISTINCT "])
def test_hostile_names_stay_text(bound: str, distinct: str, tmp_path: Path) -> None:
    (tmp_path / "obda.toml").write_text(HOSTILE)
    setting = obda_bm.load_setting(tmp_path / "obda.toml")
    sql = HOSTILE_SQL.replace("SELECT ", f"SELECT {distinct}") + bound
    compiled = obda_bm.compile_sql(sql, setting)
    for page in (compiled.page(), compiled._repr_html_()):
        reader = check_page(page)
        assert "<script" not in page
    assert "alert(2)" in check_page(compiled.page()).text
    assert reader.tags.count("style") == 1


def test_reasons_are_underlined_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "obda.toml").write_text(HOSTILE)
    setting = obda_bm.load_setting(tmp_path / "obda.toml")
    sql = """SELECT 1 FROM "</svg>'" x, "</svg>'" y\nWHERE x.b =\n  y.b AND x.ts < y.ts"""
    page = obda_bm.compile_sql(sql, setting).page()
    marked = re.findall(r"<mark><a href=\"#reason-1\"[^>]*>(.*?)</a></mark>", page)
    assert marked == ["x.b =", "  y.b"]
    assert 'id="reason-1"' in page


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(scheme: str) -> None:
    light, dark = CSS.split("@media (prefers-color-scheme: dark)")
    found = re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light if scheme == "light" else dark)
    colours = dict(found)
    grounds = {
        "ink": ("paper", "raised", "input", "state", "emission", "bad-back"),
        "soft": ("paper", "raised", "input", "state", "emission"),
        "ok": ("paper", "ok-back"),
        "bad": ("paper", "bad-back"),
        "open": ("open-back",),
    }
    for text, backs in grounds.items():
        for back in backs:
            assert contrast(colours[text], colours[back]) >= 4.5, (text, back)
    for edge in ("input-edge", "state-edge", "emission-edge", "arrow"):
        assert contrast(colours[edge], colours["paper"]) >= 3, edge
