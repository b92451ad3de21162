"""obda-bm bench stochastic: rerun the experiments of [X]; tables to stdout, plots to files."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from obda_bm.diagnostics import BudgetError, Diagnostic
from obda_bm.interfaces.cli import ExitCode

if TYPE_CHECKING:
    from obda_bm.budget.figures import Figure
    from obda_bm.budget.pmf import Ints

REAL = 13
NUMBERS = (8, 9, 10, 11, 12, REAL, 14, 17, 18, 19)
NEEDED = ("scipy", "ortools")
SERIES = "Give a CSV file with a header, and a date and a number on each line."


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("suite", choices=["stochastic"], help="which experiments")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="few, short runs (the default)")
    effort.add_argument("--full", action="store_true", help="50 runs of 5000 steps, as in [X]")
    add("--figure", type=int, choices=NUMBERS, action="append", help="only this one; repeatable")
    add("--seed", type=int, default=1, help="of the random streams (default: 1)")
    add("--plots", metavar="DIR", type=Path, help="a directory for plots, as SVG")
    add("--series", metavar="CSV", type=Path, help="the series of REAL: a date and a number each")
    add("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> ExitCode:
    missing = [name for name in NEEDED if find_spec(name) is None]
    missing += ["matplotlib"] if args.plots and find_spec("matplotlib") is None else []
    if missing:
        message = f"{', '.join(missing)} is not installed"
        return _complain(Diagnostic("OBM801", message, hint="Install obda-bm[budget]."))
    if args.figure == [REAL] and _series(args) is None:
        message = "figure 13 needs a series"
        return _complain(Diagnostic("OBM802", message, hint="Name a file with --series."))
    from obda_bm.budget.plot import as_table, write_svg

    try:
        for figure in _figures(args):
            print(json.dumps(asdict(figure)) if args.json else f"{as_table(figure)}\n", flush=True)
            if args.plots:
                print(f"wrote {write_svg(figure, args.plots)}", file=sys.stderr)
    except BudgetError as error:
        return _complain(*error.diagnostics)
    except OSError as error:
        message = f"cannot write plots to {str(args.plots)!r}: {error.strerror}"
        return _complain(Diagnostic("OBM805", message, hint="Name a directory to write to."))
    return ExitCode.BOUNDED


def _figures(args: Namespace) -> Iterator[Figure]:
    from obda_bm.budget.figures import FIGURES, FULL, QUICK, figure_13

    effort = FULL if args.full else QUICK
    for number in args.figure or NUMBERS:
        path = _series(args)
        if number != REAL:
            yield FIGURES[number](effort, args.seed, _tell)
        elif path is None:
            _tell("figure 13 is left out: it needs --series")
        else:
            yield figure_13(_read(path), _tell)


def _series(args: Namespace) -> Path | None:
    """The file given, or the one in the reference data."""
    if args.series is not None:
        return Path(args.series)
    reference = os.environ.get("OBDA_BM_REFERENCE")
    path = Path(reference or "", "melbourne", "daily-max-temperatures.csv")
    return path if reference and path.is_file() else None


def _read(path: Path) -> Ints:
    """Tenths of the second column.

    Raises:
        BudgetError: where the file cannot be read, or holds something else.
    """
    import numpy as np

    try:
        column = np.loadtxt(path, delimiter=",", skiprows=1, usecols=1)
    except OSError:
        message = f"cannot read {str(path)!r}"
        raise BudgetError(Diagnostic("OBM803", message, hint=SERIES)) from None
    except (ValueError, IndexError):
        message = f"{str(path)!r} holds no series"
        raise BudgetError(Diagnostic("OBM804", message, hint=SERIES)) from None
    return np.rint(column * 10).astype(np.int64)


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def _complain(*diagnostics: Diagnostic) -> ExitCode:
    print("\n".join(map(Diagnostic.render, diagnostics)), file=sys.stderr)
    return ExitCode.ERROR
