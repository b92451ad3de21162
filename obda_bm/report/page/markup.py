"""HTML and SVG that cannot be built wrong: text is escaped, only `Markup` is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


VOID = frozenset({"meta", "br"})
"""Elements of HTML that have no end tag."""


def element(
    tag: str, *children: str, attributes: Mapping[str, str | float] | None = None, **more: str
) -> Markup:
    """One element; `class_` and the like lose their underscore, `_` becomes `-`.

    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    named = {name.strip("_").replace("_", "-"): value for name, value in more.items()}
    given = {**named, **(attributes or {})}
    listed = "".join(f' {name}="{escape(_number(value))}"' for name, value in given.items())
    if tag in VOID:
        return Markup(f"<{tag}{listed}>")
    return Markup(f"<{tag}{listed}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str]) -> Markup:
    """The parts one after another, those escaped that are plain text."""
    return Markup("".join(p if isinstance(p, Markup) else escape(p, quote=False) for p in parts))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Markup:
    """A table whose first column names its rows."""
    heads = [element("th", text, scope="col") for text in head]
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", *heads)),
            element("tbody", *(_row(list(row)) for row in rows)),
        ),
        class_="scroll",
        tabindex="0",
    )


def _row(cells: list[str]) -> Markup:
    first, *rest = cells
    return element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in rest))


def lines(parts: Iterable[str]) -> Markup:
    """Each part on a line of its own."""
    return joined(element("div", part) for part in parts)


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
