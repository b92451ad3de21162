"""The user's text, with what the verdict is about underlined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from obda_bm.diagnostics import SourceText, Span
from obda_bm.ir.verdict import Reason
from obda_bm.report.page.markup import Markup, element, joined


def listing(source: SourceText, reasons: Sequence[Reason]) -> Markup:
    """Numbered lines; each underlined part links to its first reason."""
    spans = [(i, r.span) for i, r in enumerate(reasons, 1) if _is_in(r.span, source)]
    start = 0
    rows = []
    for line in source.text.rstrip("\n").split("\n"):
        rows.append(
            element("li", element("code", _marked(source, start, start + len(line), spans)))
        )
        start += len(line) + 1
    return element("ol", *rows, class_="listing")


def _is_in(span: Span | None, source: SourceText) -> bool:
    return span is not None and span.source == source


def _marked(
    source: SourceText, start: int, end: int, spans: Sequence[tuple[int, Span | None]]
) -> Markup:
    """One line, cut where a reason begins or ends."""
    inside = [(i, s) for i, s in spans if s is not None and s.start < end and s.end > start]
    cuts = {start, end}
    for _, span in inside:
        cuts |= {max(start, span.start), min(end, span.end)}
    return joined(
        _piece(source.text[a:b], [i for i, s in inside if s.start <= a and b <= s.end])
        for a, b in pairwise(sorted(cuts))
    )


def _piece(text: str, reasons: list[int]) -> str:
    if not reasons:
        return text
    said = ", ".join(f"reason {i}" for i in reasons)
    link = element("a", text, href=f"#reason-{reasons[0]}", title=f"see {said}")
    return element("mark", link)
