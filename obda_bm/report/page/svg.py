"""Graphs as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from obda_bm.report.page.layout import COLUMN_GAP, Box, Drawing, Place, layered
from obda_bm.report.page.markup import Markup, element, joined

CHARACTER = 7.3
LINE = 18.0
PAD = 12.0
LONGEST = 38
"""Characters of a line that are shown; the whole text is in the title of its node."""


@dataclass(frozen=True, slots=True)
class Node:
    """A box with a heading and some lines; `kind` is how it is coloured."""

    name: str
    kind: str
    heading: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    source: str
    target: str
    label: str = ""
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class Graph:
    """What is drawn, and what is read out to those who do not see it."""

    title: str
    description: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    last: str | None = None


def draw(graph: Graph, identifier: str) -> Markup:
    """The graph as an SVG element; `identifier` tells it from the others on a page."""
    edges = list(dict.fromkeys((a.source, a.target) for a in graph.arrows))
    gap = max(COLUMN_GAP, *(len(a.label) * CHARACTER + 2 * PAD for a in graph.arrows), 0)
    drawing = layered({n.name: _box(n) for n in graph.nodes}, edges, graph.last, gap)
    above = LINE if _labelled(graph) else 1  # labels stand above their arrows
    width, height = drawing.width + 2, drawing.height + 1 + above
    return element(
        "svg",
        element("title", graph.title, id_=f"{identifier}-title"),
        element("desc", graph.description, id_=f"{identifier}-desc"),
        element("defs", *(_arrowhead(identifier, kind) for kind in _kinds(graph))),
        joined(_arrow(a, drawing, identifier) for a in graph.arrows),
        joined(_node(n, drawing.places[n.name]) for n in graph.nodes),
        attributes={
            "viewBox": f"-1 {-above:g} {width:g} {height:g}",
            "width": width,
            "height": height,
            "role": "img",
            "aria-labelledby": f"{identifier}-title {identifier}-desc",
        },
    )


def _kinds(graph: Graph) -> list[str]:
    return list(dict.fromkeys(arrow.kind for arrow in graph.arrows))


def _labelled(graph: Graph) -> bool:
    return any(arrow.label for arrow in graph.arrows)


def _box(node: Node) -> Box:
    longest = max(len(_short(line)) for line in (node.heading, *node.lines))
    return Box(longest * CHARACTER + 2 * PAD, (1 + len(node.lines)) * LINE + PAD)


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _node(node: Node, place: Place) -> Markup:
    lines = (node.heading, *node.lines)
    box = element(
        "rect",
        attributes={
            "x": place.x,
            "y": place.y,
            "width": place.box.width,
            "height": place.box.height,
            "rx": 7,
        },
    )
    texts = [_text(line, place, i) for i, line in enumerate(lines)]
    whole = element("title", "\n".join(lines))
    return element("g", whole, box, *texts, class_=f"node {node.kind}", data_node=node.name)


def _text(line: str, place: Place, index: int) -> Markup:
    y = place.y + PAD / 2 + LINE * (index + 0.7)
    kind = "detail" if index else "heading"
    return element(
        "text", _short(line), attributes={"x": place.x + PAD, "y": round(y, 1)}, class_=kind
    )


def _arrow(arrow: Arrow, drawing: Drawing, identifier: str) -> Markup:
    route = drawing.routes[arrow.source, arrow.target]
    path = element(
        "path",
        attributes={"d": _curve(route), "marker-end": f"url(#{identifier}-{arrow.kind})"},
    )
    return element(
        "g",
        element("title", f"{arrow.source} → {arrow.target} {arrow.label}".rstrip()),
        path,
        *_label(arrow.label, route),
        class_=f"arrow {arrow.kind}",
        data_edge=f"{arrow.source} → {arrow.target}",
    )


def _label(label: str, route: Sequence[tuple[float, float]]) -> list[Markup]:
    if not label:
        return []
    (x1, y1), (x2, y2) = route[1], route[2]
    at: dict[str, str | float] = {"x": round((x1 + x2) / 2, 1), "y": round((y1 + y2) / 2 - 6, 1)}
    return [element("text", label, attributes=at, class_="label")]


def _curve(route: Sequence[tuple[float, float]]) -> str:
    """A smooth line through the points, level where it leaves and where it arrives."""
    x, y = route[0]
    parts = [f"M{x:.1f} {y:.1f}"]
    for (x1, y1), (x2, y2) in pairwise(route):
        bend = (x2 - x1) / 2
        parts.append(f"C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}")
    return " ".join(parts)


def _arrowhead(identifier: str, kind: str) -> Markup:
    return element(
        "marker",
        element("path", attributes={"d": "M0 0 L8 4 L0 8 z"}),
        attributes={
            "id": f"{identifier}-{kind}",
            "viewBox": "0 0 8 8",
            "refX": 8,
            "refY": 4,
            "markerWidth": 10,
            "markerHeight": 10,
            "markerUnits": "userSpaceOnUse",
            "orient": "auto",
            "class": f"head {kind}",
        },
    )
