"""How quick the kernel is, beside what else could be done with the same rows.

    python benchmarks/kernel.py            # tables, and the plot docs/figures/kernel.svg
    python benchmarks/kernel.py --markdown # the same for docs/benchmarks.md
    python benchmarks/kernel.py --rows 200000 --long 0   # a quick look, without the long run

Two queries: Schiff's example (bag, 5 units), and three streams under set semantics with a minimum
per sensor twice. Beside the kernel stand

- the floor: reading the same rows from Arrow files and sorting them by time, all streams together;
- DuckDB once over everything, and again over the whole prefix after each batch, on SQL that is
  rewritten by hand with running sums and minima;
- DuckDB on the query as written, with as many rows as it can join in a few seconds.

Executing again after each batch is measured on ten evenly spaced prefixes, whose mean stands for
the others. Times are CPU seconds, and everything has one thread: other programs disturb little.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.ipc

import obda_bm
from obda_bm.execution.local import Limits
from obda_bm.ir.plan import SynopsisPlan

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "kernel.svg"
SCHIFF_SETTING = """
[streams.S]
time = "I"
columns = { A = "INTEGER", I = "INTEGER" }
[streams.T]
time = "J"
columns = { B = "INTEGER", J = "INTEGER" }
[streams.U]
time = "K"
columns = { C = "INTEGER", K = "INTEGER" }
"""
SCHIFF = """
SELECT S.A, T.B FROM S, T, U
WHERE S.I > T.J AND T.J > U.K AND S.A > T.B AND 0 < T.B AND T.B < 5
"""
SCHIFF_BY_HAND = """
WITH us AS (SELECT K, sum(count(*)) OVER (ORDER BY K) AS n FROM U GROUP BY K),
tu AS (SELECT B, J, sum(n) AS n FROM T ASOF JOIN us ON T.J > us.K
       WHERE B BETWEEN 1 AND 4 GROUP BY B, J),
total AS (SELECT B, J, sum(n) OVER (PARTITION BY B ORDER BY J) AS n FROM tu),
sb AS (SELECT A, I, B FROM S, (VALUES (1), (2), (3), (4)) AS b(B) WHERE A > B)
SELECT sb.I, sb.A, sb.B, sum(total.n) AS n
FROM sb ASOF JOIN total ON sb.B = total.B AND sb.I > total.J GROUP BY ALL
"""
MINIMA_SETTING = """
[streams.X]
time = "ts"
columns = { id = "INTEGER", v = "INTEGER", ts = "INTEGER" }
[streams.Y]
time = "ts"
columns = { id = "INTEGER", v = "INTEGER", w = "INTEGER", ts = "INTEGER" }
[streams.Z]
time = "ts"
columns = { id = "INTEGER", v = "INTEGER", k = "INTEGER", ts = "INTEGER" }
"""
MINIMA = """
SELECT DISTINCT Z.id, Z.k FROM X, Y, Z
WHERE X.ts < Y.ts AND Y.ts < Z.ts AND X.id = Y.id AND Y.id = Z.id AND X.id BETWEEN 1 AND 100
  AND X.v < Y.v AND Y.w < Z.v AND Z.k BETWEEN 1 AND 20
"""
MINIMA_BY_HAND = """
WITH lowest AS (
  SELECT id, ts, min(min(v)) OVER (PARTITION BY id ORDER BY ts) AS v
  FROM X WHERE id BETWEEN 1 AND 100 GROUP BY id, ts),
xy AS (SELECT Y.id, Y.ts, min(Y.w) AS w
       FROM Y ASOF JOIN lowest ON Y.id = lowest.id AND Y.ts > lowest.ts
       WHERE lowest.v < Y.v GROUP BY ALL),
best AS (SELECT id, ts, min(w) OVER (PARTITION BY id ORDER BY ts) AS w FROM xy)
SELECT DISTINCT Z.id, Z.k FROM Z ASOF JOIN best ON Z.id = best.id AND Z.ts > best.ts
WHERE best.w < Z.v AND Z.k BETWEEN 1 AND 20
"""

Batches = Callable[[int, int], Iterator[pa.Table]]


@dataclass(frozen=True)
class Example:
    """A query, the streams it reads, and how someone who knows the answer would write it in SQL."""

    name: str
    setting: str
    sql: str
    by_hand: str
    streams: Mapping[str, Batches]
    small: int  # rows with which DuckDB finishes the query as written


def _drawn(columns: Mapping[str, tuple[int, int]], time: str, seed: int) -> Batches:
    """Streams of uniform values, about three rows of each stream per tick of time."""

    def batches(rows: int, size: int) -> Iterator[pa.Table]:
        rng = np.random.default_rng(seed)
        for start in range(0, rows, size):
            count = min(size, rows - start)
            values = {c: rng.integers(low, high, count) for c, (low, high) in columns.items()}
            yield pa.table({**values, time: np.arange(start, start + count) // 3})

    return batches


EXAMPLES = (
    Example(
        "Schiff's example (bag)",
        SCHIFF_SETTING,
        SCHIFF,
        SCHIFF_BY_HAND,
        {
            "S": _drawn({"A": (-50, 50)}, "I", 1),
            "T": _drawn({"B": (-20, 80)}, "J", 2),
            "U": _drawn({"C": (0, 10)}, "K", 3),
        },
        12_000,
    ),
    Example(
        "minima of three streams (set)",
        MINIMA_SETTING,
        MINIMA,
        MINIMA_BY_HAND,
        {
            "X": _drawn({"id": (1, 201), "v": (0, 1_000)}, "ts", 4),
            "Y": _drawn({"id": (1, 201), "v": (0, 1_000), "w": (0, 100_000)}, "ts", 5),
            "Z": _drawn({"id": (1, 201), "v": (0, 2_000), "k": (1, 21)}, "ts", 6),
        },
        1_000_000,
    ),
)


@dataclass(frozen=True)
class Planned:
    """A query that is compiled before the clock starts."""

    plan: SynopsisPlan | None


def compiled(example: Example) -> Planned:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "obda.toml")
        path.write_text(example.setting)
        return Planned(obda_bm.compile_sql(example.sql, obda_bm.load_setting(path)).plan)


def stored(example: Example, rows: int, size: int) -> dict[str, list[pa.Table]]:
    """The batches of each stream, made before the clock starts."""
    each = rows // len(example.streams)
    return {name: list(make(each, size)) for name, make in example.streams.items()}


def run_kernel(query: Planned, tables: Mapping[str, Iterable[pa.Table]], size: int) -> int:
    """The number of batches of results, after the last one."""
    return sum(1 for _ in obda_bm.run_local(query, tables, limits=Limits(batch_rows=size)))


def seconds(action: Callable[[], object], repeat: int = 3) -> float:
    """The best of several runs: the least disturbed one."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def write_arrow(tables: Mapping[str, Sequence[pa.Table]], folder: Path) -> list[Path]:
    """A file for each stream; its time column is the last, and called `time`."""
    paths = []
    for name, batches in tables.items():
        columns = [*batches[0].column_names[:-1], "time"]
        paths.append(folder / f"{name}.arrow")
        with pa.ipc.new_file(str(paths[-1]), batches[0].rename_columns(columns).schema) as writer:
            for batch in batches:
                writer.write_table(batch.rename_columns(columns))
    return paths


def read_and_sort(paths: Sequence[Path]) -> pa.Table:
    """The floor: all rows of all streams in one order of time."""
    tables = []
    for path in paths:
        with pa.ipc.open_file(str(path)) as reader:
            tables.append(reader.read_all())
    return pa.concat_tables(tables, promote_options="default").sort_by("time")


@dataclass(frozen=True)
class Prefixes:
    """Streams in DuckDB, and the SQL over what has arrived after `rows` of them."""

    database: duckdb.DuckDBPyConnection
    streams: int

    def execute(self, sql: str, rows: int) -> None:
        self.database.execute("SET VARIABLE seen = ?", [rows // self.streams])
        self.database.sql(sql).to_arrow_table()


def loaded(example: Example, tables: Mapping[str, Sequence[pa.Table]]) -> Prefixes:
    """Each stream as a view of a prefix; all streams have equally many rows per timestamp."""
    database = duckdb.connect()
    database.execute("SET threads = 1")  # the kernel has one, too
    for name, batches in tables.items():
        table = pa.concat_tables(batches)
        number = pa.array(np.arange(len(table)))
        database.register("arrived", table.append_column("arrival", number))
        database.execute(f'CREATE TABLE "{name}_all" AS FROM arrived')
        database.execute(
            f'CREATE VIEW "{name}" AS SELECT * EXCLUDE (arrival) FROM "{name}_all" '
            "WHERE arrival < getvariable('seen')"
        )
    return Prefixes(database, len(example.streams))


@dataclass(frozen=True)
class Figures:
    """Seconds, unless the name says otherwise."""

    name: str
    rows: int
    batch: int
    kernel: float
    kernel_small_batches: float
    small_batch: int
    floor: float
    once: float
    again: float
    written_rows: int
    written_kernel: float
    written_once: float
    written_again: float
    tenths: list[float]


def measure(example: Example, rows: int, batch: int, small_batch: int) -> Figures:
    query = compiled(example)
    tables = stored(example, rows, batch)
    kernel = seconds(lambda: run_kernel(query, tables, batch))
    small = stored(example, rows, small_batch)
    in_small = seconds(lambda: run_kernel(query, small, small_batch), 1)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_arrow(tables, Path(folder))
        floor = seconds(lambda: read_and_sort(paths))
    prefixes = loaded(example, tables)
    once = seconds(lambda: prefixes.execute(example.by_hand, rows))
    again = re_executed(prefixes, example.by_hand, rows, len(example.streams) * small_batch)
    few = min(example.small, rows)
    # As many batches as above, whatever the number of rows.
    few_batch = max(few * small_batch // rows, 1)
    few_tables = stored(example, few, few_batch)
    few_prefixes = loaded(example, few_tables)
    return Figures(
        example.name,
        rows,
        batch,
        kernel,
        in_small,
        small_batch,
        floor,
        once,
        again,
        few,
        seconds(lambda: run_kernel(query, few_tables, few_batch), 1),
        seconds(lambda: few_prefixes.execute(counted(example), few), 1),
        re_executed(few_prefixes, counted(example), few, few_batch * len(example.streams)),
        tenths(example, rows, batch // 8),
    )


def counted(example: Example) -> str:
    """The query as written; bags with a count, so that DuckDB need not list equal rows."""
    if "DISTINCT" in example.sql:
        return example.sql
    return example.sql.replace("T.B FROM", "T.B, count(*) FROM") + "GROUP BY ALL"


def re_executed(prefixes: Prefixes, sql: str, rows: int, step: int, sample: int = 10) -> float:
    """Seconds for executing `sql` after every `step` rows: the mean of a sample, times how many."""
    ends = np.arange(step, rows + 1, step)
    chosen = ends[np.linspace(0, len(ends) - 1, min(sample, len(ends))).astype(int)]
    times = [seconds(partial(prefixes.execute, sql, int(end)), 1) for end in chosen]
    return statistics.mean(times) * len(ends)


def tenths(example: Example, rows: int, batch: int) -> list[float]:
    """Nanoseconds per row in each tenth of the input, the best of three runs."""
    query, each = compiled(example), rows // len(example.streams)
    runs = []
    for _ in range(3):
        marks: list[float] = []
        tables = {
            name: _marked(list(make(each, batch)), marks if i == 0 else [])
            for i, (name, make) in enumerate(example.streams.items())
        }
        run_kernel(query, tables, batch)
        marks.append(time.process_time())
        cuts = np.interp(np.linspace(0, len(marks) - 1, 11), np.arange(len(marks)), marks)
        runs.append(np.diff(cuts) / (rows / 10) * 1e9)
    return [float(v) for v in np.min(runs, axis=0)]


def _marked(batches: Sequence[pa.Table], marks: list[float]) -> Iterator[pa.Table]:
    for batch in batches:
        marks.append(time.process_time())
        yield batch


def peak_memory(index: int, rows: int, batch: int) -> float:
    """Megabytes of a fresh process that runs `rows` rows, made as they are read."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak, (index, rows, batch))


def _peak(index: int, rows: int, batch: int) -> float:
    example = EXAMPLES[index]
    each = rows // len(example.streams)
    tables = {name: make(each, batch) for name, make in example.streams.items()}
    run_kernel(compiled(example), tables, batch)
    # Not getrusage: its peak survives the start of a new program.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def speed_lines(figures: Sequence[Figures]) -> Iterator[str]:
    yield (
        "| query | rows | kernel | floor | kernel / floor | DuckDB once | kernel, small batches "
        "| DuckDB again after each | slower | last tenth / first |"
    )
    yield "|---" * 10 + "|"
    for f in figures:
        yield (
            f"| {f.name} | {f.rows:,} | {_speed(f.rows / f.kernel)} | {_speed(f.rows / f.floor)} "
            f"| {f.floor / f.kernel:.2f} | {_speed(f.rows / f.once)} "
            f"| {_speed(f.rows / f.kernel_small_batches)} | {_speed(f.rows / f.again)} "
            f"| {f.again / f.kernel_small_batches:.0f}× | {f.tenths[-1] / f.tenths[0]:.2f} |"
        )


def _speed(rows_per_second: float) -> str:
    return f"{rows_per_second / 1e6:.2f} M/s"


def written_lines(figures: Sequence[Figures]) -> Iterator[str]:
    head = "kernel, small batches | DuckDB once | DuckDB again after each | slower"
    yield f"| query as written | rows | {head} |"
    yield "|---|---|---|---|---|---|"
    for f in figures:
        yield (
            f"| {f.name} | {f.written_rows:,} | {f.written_kernel:.2f} s "
            f"| {f.written_once:.2f} s | {f.written_again:.2f} s "
            f"| {f.written_again / f.written_kernel:.0f}× |"
        )


def memory_lines(sizes: Sequence[int], peaks: Sequence[Sequence[float]]) -> Iterator[str]:
    shown = " | ".join(f"{size / 1e6:g} M rows" for size in sizes)
    yield f"| peak resident memory | {shown} |"
    yield "|---" * (len(sizes) + 1) + "|"
    for example, row in zip(EXAMPLES, peaks, strict=True):
        yield f"| {example.name} | {' | '.join(f'{peak:.0f} MB' for peak in row)} |"


def plot(
    figures: Sequence[Figures], sizes: Sequence[int], peaks: Sequence[Sequence[float]]
) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "kernel"
    from matplotlib import pyplot

    drawing, (speed, flat, memory) = pyplot.subplots(1, 3, figsize=(13, 3.6))
    labels = ("kernel", "floor", "DuckDB once", "DuckDB per batch")
    for i, f in enumerate(figures):
        per_second = [f.rows / t for t in (f.kernel, f.floor, f.once, f.again)]
        speed.bar(np.arange(4) + 0.4 * i, per_second, 0.38, label=f.name)
        flat.plot(range(1, 11), f.tenths, marker="o", label=f.name)
    speed.set(yscale="log", title="rows per second", xticks=np.arange(4) + 0.2, xticklabels=labels)
    speed.tick_params(axis="x", labelrotation=20)
    flat.set(title="nanoseconds per row, by tenth of the input", ylim=(0, None), xlabel="tenth")
    for example, row in zip(EXAMPLES, peaks, strict=True):
        memory.plot([size / 1e6 for size in sizes], row, marker="o", label=example.name)
    memory.set(title="peak resident memory, MB", ylim=(0, None), xlabel="million rows")
    flat.legend(fontsize=8)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    drawing.tight_layout()
    drawing.savefig(FIGURE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--long", type=int, default=10_000_000, help="rows of the memory run")
    parser.add_argument("--batch", type=int, default=65_536, help="rows of a batch of a stream")
    parser.add_argument("--small-batch", type=int, default=1_000, help="where DuckDB starts again")
    args = parser.parse_args()
    pa.set_cpu_count(1)
    figures = [measure(e, args.rows, args.batch, args.small_batch) for e in EXAMPLES]
    sizes = [args.rows, *([args.long] if args.long else [])]
    peaks = [[peak_memory(i, n, args.batch) for n in sizes] for i in range(len(EXAMPLES))]
    parts = (speed_lines(figures), written_lines(figures), memory_lines(sizes, peaks))
    text = "\n\n".join("\n".join(lines) for lines in parts)
    print(text if args.markdown else text.replace("|", " "))
    plot(figures, sizes, peaks)
    print(f"wrote {FIGURE.relative_to(Path.cwd())}", file=sys.stderr)


if __name__ == "__main__":
    main()
