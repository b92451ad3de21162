"""How long the thirty queries of the standard rewriting benchmark take.

    python benchmarks/rewriting.py            # table
    python benchmarks/rewriting.py --markdown # the same for docs/benchmarks.md

The benchmark (ontologies A, P1, P5, S, U, V with five queries each) is found through
OBDA_BM_REFERENCE or ../shared/data. "Minimal" is the flat union of conjunctive queries, "compiled"
leaves hierarchies folded; their ratio is that of one run.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from obda_bm.diagnostics import SourceText
from obda_bm.ontology import read_ontology
from obda_bm.rewriting import Form, rewrite_ucq
from obda_bm.syntax.datalog import parse_datalog

REFERENCE = Path(os.environ.get("OBDA_BM_REFERENCE", Path(__file__).parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Row:
    name: str
    published: int
    size: int
    compiled_size: int
    seconds: float
    compiled_seconds: float


def best(action: Callable[[], object], repeat: int = 5) -> float:
    """The best of several runs: the least disturbed one."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(repeat: int) -> Iterator[Row]:
    folder = REFERENCE / "rewriting"
    with (folder / "expected_sizes.csv").open() as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        print(f"\r{number + 1}/{len(rows)}", end="", file=sys.stderr, flush=True)
        name = row["ontology"]
        tbox = read_ontology([folder / "ontologies" / f"{name}.owl"]).tbox
        queries = folder / "queries" / ("P1" if name == "P5" else name)
        text = (queries / f"Q{row['query']}.txt").read_text()
        query = parse_datalog(SourceText(name, text), tbox.vocabulary)

        def flat(query=query, tbox=tbox):  # type: ignore[no-untyped-def]
            return rewrite_ucq(query, tbox)

        def compiled(query=query, tbox=tbox):  # type: ignore[no-untyped-def]
            return rewrite_ucq(query, tbox, Form.COMPILED)

        yield Row(
            f"{name}/Q{row['query']}",
            int(row["minimal_ucq"]),
            len(flat()),
            len(compiled()),
            best(flat, repeat),
            best(compiled, repeat),
        )
    print(file=sys.stderr)


def lines(rows: list[Row]) -> Iterator[str]:
    yield "| query | published minimal size | size | time | compiled size | time |"
    yield "|---|---|---|---|---|---|"
    for r in rows:
        yield (
            f"| {r.name} | {r.published} | {r.size} | {1000 * r.seconds:.1f} ms "
            f"| {r.compiled_size} | {1000 * r.compiled_seconds:.1f} ms |"
        )
    agree = sum(r.published == r.size for r in rows)
    total, compiled = sum(r.seconds for r in rows), sum(r.compiled_seconds for r in rows)
    yield ""
    yield (
        f"{agree} of {len(rows)} sizes agree. All together: {total:.2f} s, "
        f"compiled {compiled:.2f} s ({total / compiled:.0f} times less)."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    args = parser.parse_args()
    if not REFERENCE.is_dir():
        sys.exit(f"no reference data: {REFERENCE} does not exist; set OBDA_BM_REFERENCE")
    text = "\n".join(lines(list(measure(args.repeat))))
    print(text if args.markdown else text.replace("|", " "))


if __name__ == "__main__":
    main()
