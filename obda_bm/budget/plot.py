"""Figures as tables of text and as SVG."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from obda_bm.budget.figures import Figure


def as_table(figure: Figure) -> str:
    """The figure as a table, one line of it per row.

    >>> from obda_bm.budget.figures import Line
    >>> print(as_table(Figure(9, "TOWER", "memory", "results", ("1", "10"),
    ...                       (Line("HEEB", (403.0, 4023.5)),))))
    Figure 9: TOWER (results by memory)
    <BLANKLINE>
    | memory | 1 | 10 |
    |---|---|---|
    | HEEB | 403.0 | 4023.5 |
    """
    by = f" by {figure.across}" if figure.across else ""
    head = f"Figure {figure.number}: {figure.title} ({figure.upward}{by})"
    rows = [
        f"| {figure.across or ' '} | " + " | ".join(figure.abscissae) + " |",
        "|" + "---|" * (len(figure.abscissae) + 1),
        *(
            f"| {line.name} | " + " | ".join(map(_number, line.heights)) + " |"
            for line in figure.lines
        ),
    ]
    return "\n".join([head, "", *rows])


def _number(height: float) -> str:
    if isnan(height):
        return "–"
    return f"{height:.3f}" if abs(height) < 10 else f"{height:.1f}"


def write_svg(figure: Figure, directory: Path) -> Path:
    """Plot the figure into a file of `directory`, which is made if need be."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"figure-{figure.number:02}.svg"
    drawing, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for line in figure.lines:
        dashes = "--" if line.name in ("OPT", "LFD", "ceiling") else "-"
        axes.plot(figure.abscissae, line.heights, dashes, marker=".", label=line.name)
    axes.set(title=figure.title, xlabel=figure.across, ylabel=figure.upward)
    axes.legend(fontsize="small")
    drawing.savefig(path, metadata={"Date": None})
    pyplot.close(drawing)
    return path
