"""Drawings of random graphs: nothing overlaps, arrows go from left to right."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from obda_bm.report.page.layout import Box, Drawing, layered

Graph = tuple[dict[str, Box], list[tuple[str, str]]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    names = [f"n{i}" for i in range(draw(st.integers(1, 9)))]
    sizes = st.builds(Box, st.integers(10, 200), st.integers(10, 90))
    boxes = {name: draw(sizes) for name in names}
    pairs = list(combinations(names, 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return boxes, chosen


def overlap(drawing: Drawing, one: str, other: str) -> bool:
    a, b = drawing.places[one], drawing.places[other]
    apart = a.right <= b.x or b.right <= a.x
    return not apart and abs(a.middle - b.middle) < (a.box.height + b.box.height) / 2 - 1e-6


@given(graphs())
def test_boxes_do_not_overlap_and_stay_inside(graph: Graph) -> None:
    boxes, edges = graph
    drawing = layered(boxes, edges)
    assert set(drawing.places) == set(boxes)
    assert not [pair for pair in combinations(boxes, 2) if overlap(drawing, *pair)]
    for place in drawing.places.values():
        assert place.x >= 0
        assert place.y >= -1e-6
        assert place.right <= drawing.width + 1e-6
        assert place.y + place.box.height <= drawing.height + 1e-6


@given(graphs())
def test_arrows_go_from_left_to_right_around_boxes(graph: Graph) -> None:
    boxes, edges = graph
    drawing = layered(boxes, edges)
    assert set(drawing.routes) == set(edges)
    for (source, target), route in drawing.routes.items():
        start, end = drawing.places[source], drawing.places[target]
        assert route[0] == (start.right, start.middle)
        assert route[-1] == (end.x, end.middle)
        assert all(x1 <= x2 for (x1, _), (x2, _) in pairwise(route))
        for x, y in route[1:-1]:
            inside = [
                p
                for p in drawing.places.values()
                if p.x < x < p.right and p.y < y < p.y + p.box.height
            ]
            assert not inside


@given(graphs())
def test_what_is_last_is_last(graph: Graph) -> None:
    boxes, edges = graph
    names = list(boxes)
    drawing = layered({**boxes, "end": Box(50, 20)}, [*edges, (names[0], "end")], last="end")
    assert all(p.x <= drawing.places["end"].x for p in drawing.places.values())
