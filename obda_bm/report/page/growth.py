"""A picture of why no constant suffices, and the tuples that show it."""

from __future__ import annotations

from collections.abc import Iterable

from obda_bm.ir.witness import Evidence, Tuple, Witness
from obda_bm.report.page.markup import Markup, element, joined, lines, table

WIDTH, HEIGHT = 460.0, 220.0
LEFT, BOTTOM, TOP = 46.0, 176.0, 16.0
SHOWN = 12
"""As far as the picture goes, in candidates."""


def growth(evidence: Evidence, identifier: str) -> Markup:
    """What N candidates force any engine to remember, against a memory that does not grow."""
    title = "Memory that this query needs"
    said = (
        "After N candidates an engine must tell 2 to the power of N subsets apart, so it needs at "
        "least N bits; a constant memory, wherever it lies, is exceeded."
    )
    return element(
        "svg",
        element("title", title, id_=f"{identifier}-title"),
        element("desc", said, id_=f"{identifier}-desc"),
        _axes(),
        _line((0, SHOWN / 2), (SHOWN, SHOWN / 2), "flat"),
        _line((0, 0), (SHOWN, SHOWN), "grows"),
        *(_dot(n, "executed" if n <= evidence.n else "to-come") for n in range(1, SHOWN + 1)),
        _text(SHOWN * 0.99, SHOWN / 2 - 0.9, "any constant memory", "flat-label"),
        _text(SHOWN * 0.72, SHOWN * 0.9, "at least N bits", "grows-label"),
        attributes={
            "viewBox": f"0 0 {WIDTH:g} {HEIGHT:g}",
            "width": WIDTH,
            "height": HEIGHT,
            "role": "img",
            "class": "growth",
            "aria-labelledby": f"{identifier}-title {identifier}-desc",
        },
    )


def _at(n: float, bits: float) -> tuple[float, float]:
    x = LEFT + n * (WIDTH - LEFT - 16) / SHOWN
    return round(x, 1), round(BOTTOM - bits * (BOTTOM - TOP) / SHOWN, 1)


def _line(start: tuple[float, float], end: tuple[float, float], kind: str) -> Markup:
    (x1, y1), (x2, y2) = _at(*start), _at(*end)
    return element("line", attributes={"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": kind})


def _dot(n: int, kind: str) -> Markup:
    x, y = _at(n, n)
    return element("circle", attributes={"cx": x, "cy": y, "r": 4, "class": kind})


def _text(n: float, bits: float, text: str, kind: str) -> Markup:
    x, y = _at(n, bits)
    return element("text", text, attributes={"x": x, "y": y, "class": kind})


def _axes() -> Markup:
    ticks = (
        element("text", str(n), attributes={"x": _at(n, 0)[0], "y": BOTTOM + 17, "class": "tick"})
        for n in range(0, SHOWN + 1, 2)
    )
    middle: dict[str, str | float] = {
        "x": (LEFT + WIDTH - 16) / 2,
        "y": BOTTOM + 36,
        "class": "tick",
    }
    upright = {"class": "tick", "transform": f"translate(16 {(BOTTOM + TOP) / 2:g}) rotate(-90)"}
    return joined(
        [
            _line((0, 0), (SHOWN, 0), "axis"),
            _line((0, 0), (0, SHOWN), "axis"),
            *ticks,
            element("text", "candidates received (N)", attributes=middle),
            element("text", "memory needed", attributes=upright),
        ]
    )


def witness_table(witness: Witness) -> Markup:
    """Each candidate beside the continuation whose answer tells whether it was received."""
    pairs = zip(witness.candidates, witness.continuations, strict=True)
    rows = ((str(k), _tuples(c), _tuples(n)) for k, (c, n) in enumerate(pairs, 1))
    return table(("k", "candidate k, received or not", "continuation k, asks for it"), rows)


def _tuples(tuples: Iterable[Tuple]) -> Markup:
    return lines(element("code", str(item)) for item in tuples)
