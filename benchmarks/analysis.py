"""How long a decision takes: against columns, streams and constants, and for the whole command.

    python benchmarks/analysis.py            # table
    python benchmarks/analysis.py --markdown # the same for docs/benchmarks.md

Each query chains its streams by inequalities on every column, and compares columns with
constants, so that all columns are connected and every constant counts. "Certified" adds the states
or the executed witness, and the repairs. Beside the times stands the number of locally total orders
that [A] Theorem 4.3 would enumerate, and the time that closing that many would take, at the cost of
one closure measured in the same run.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import comb
from pathlib import Path

from obda_bm.analysis import assess, suggest_repairs
from obda_bm.analysis.assess import decide
from obda_bm.ir.catalog import Catalog, Column, Extent, Relation
from obda_bm.ir.spj import Occurrence, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import INTEGER
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Op
from obda_bm.order.closure import close_query

SIZES = [
    *((streams, 2, 2) for streams in (2, 3, 4, 5, 6)),
    *((2, columns, 2) for columns in (1, 3, 4, 6)),
    *((3, 2, constants) for constants in (0, 5, 10, 20)),
    (4, 4, 10),
]

TABLE_1 = """
[streams.S]
time = "ts"
columns = { A = "INTEGER", B = "INTEGER", C = "INTEGER", ts = "INTEGER" }
[streams.T]
time = "ts"
columns = { D = "INTEGER", E = "INTEGER", ts = "INTEGER" }
"""
Q9 = """
SELECT S.A FROM S, T
WHERE S.B < T.D AND S.C < T.E AND S.A > 10 AND S.A < 20 AND S.B < T.E AND S.C < 100 AND T.D > 50
"""


@dataclass(frozen=True)
class Row:
    streams: int
    columns: int
    constants: int
    semantics: Semantics
    bounded: bool
    seconds: float
    certified_seconds: float
    orders: int
    enumeration_seconds: float


def query(streams: int, columns: int, constants: int) -> SpjQuery:
    """`streams` streams in a chain, every column below the next stream's, constants around."""
    names = [f"A{i}" for i in range(columns)]
    schema = (*(Column(name, INTEGER) for name in names), Column("ts", INTEGER, nullable=False))
    relations = [Relation(f"S{i}", schema, Extent.INFINITE, "ts") for i in range(streams)]
    joins = [
        Comparison(ColumnRef(f"S{i}", a), Op.LT, ColumnRef(f"S{i + 1}", b))
        for i in range(streams - 1)
        for a, b in zip(names, [*names[1:], names[0]], strict=True)
    ]
    limits = [
        Comparison(
            ColumnRef(f"S{i % streams}", names[i % columns]),
            Op.GT if i % 2 else Op.LT,
            Constant(10 * (i if i % 2 else constants + i), INTEGER),
        )
        for i in range(constants)
    ]
    occurrences = tuple(Occurrence(relation.name, relation) for relation in relations)
    return SpjQuery(occurrences, (), (*joins, *limits))


@cache
def weak_orders(columns: int, constants: int) -> int:
    """Total preorders of `columns` columns together with a chain of `constants` constants."""
    if columns == 0:
        return 1
    # The lowest class holds `low` columns and the first constant, or columns alone.
    with_constant = sum(
        comb(columns, low) * weak_orders(columns - low, constants - 1)
        for low in range(columns + 1)
        if constants
    )
    alone = sum(
        comb(columns, low) * weak_orders(columns - low, constants) for low in range(1, columns + 1)
    )
    return with_constant + alone


def seconds(action: Callable[[], object], repeat: int = 5) -> float:
    """The best of several runs: the least disturbed one."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def certify(union: SpjUnion) -> object:
    catalog = Catalog(tuple(o.relation for o in union.branches[0].occurrences))
    return assess(union), decide(union).findings and suggest_repairs(union, catalog)


def measure() -> Iterator[Row]:
    for i, (streams, columns, constants) in enumerate(SIZES):
        print(f"\r{i + 1}/{len(SIZES)}", end="", file=sys.stderr, flush=True)
        built = query(streams, columns, constants)
        one_closure = seconds(lambda built=built: close_query(built))  # type: ignore[misc]
        orders = weak_orders(columns, constants) ** streams
        for semantics in Semantics:
            union = SpjUnion((built,), semantics)
            taken = seconds(lambda union=union: decide(union))  # type: ignore[misc]
            certified = seconds(lambda union=union: certify(union), 3)  # type: ignore[misc]
            bounded = not decide(union).findings
            times = taken, certified, orders, orders * one_closure
            yield Row(streams, columns, constants, semantics, bounded, *times)
    print(file=sys.stderr)


def command_ratio(runs: int = 15) -> tuple[float, float]:
    """Median seconds of `obda-bm check` on Q9 and of `import sqlglot`, run alternately."""
    with tempfile.TemporaryDirectory() as folder:
        setting, sql = Path(folder, "obda.toml"), Path(folder, "q9.sql")
        setting.write_text(TABLE_1)
        sql.write_text(Q9)
        check = [str(Path(sys.executable).with_name("obda-bm")), "check", str(sql)]
        check += ["--setting", str(setting)]
        imported = [sys.executable, "-c", "import sqlglot"]
        pairs = [(_process(check), _process(imported)) for _ in range(runs)]
    first, second = zip(*pairs, strict=True)
    return statistics.median(first), statistics.median(second)


def _process(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def lines(rows: list[Row], check: float, imported: float) -> Iterator[str]:
    yield (
        "| streams | columns each | constants | semantics | verdict | decided | certified "
        "| LTO queries | enumerating them |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for r in rows:
        verdict = "bounded" if r.bounded else "violated"
        yield (
            f"| {r.streams} | {r.columns} | {r.constants} | {r.semantics.value} | {verdict} "
            f"| {1000 * r.seconds:.1f} ms | {1000 * r.certified_seconds:.0f} ms "
            f"| {r.orders:.3g} | {_human(r.enumeration_seconds)} |"
        )
    yield ""
    yield (
        f"`obda-bm check` on Table 1's Q9: {1000 * check:.0f} ms from process start to exit; "
        f"`python -c 'import sqlglot'`: {1000 * imported:.0f} ms; ratio {check / imported:.2f}."
    )


def _human(value: float) -> str:
    for limit, unit, size in ((1, "ms", 1e-3), (3600, "s", 1), (86400 * 365, "h", 3600)):
        if value < limit:
            return f"{value / size:.3g} {unit}"
    return f"{value / 86400 / 365:.3g} years"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    args = parser.parse_args()
    rows = list(measure())
    text = "\n".join(lines(rows, *command_ratio()))
    print(text if args.markdown else text.replace("|", " "))


if __name__ == "__main__":
    main()
