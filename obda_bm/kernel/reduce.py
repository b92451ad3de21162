"""Rows of one stream -> fewer rows that do the same, each with a weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from obda_bm.ir.plan import BranchPlan, Scan, Side, Synopsis, SynopsisPlan
from obda_bm.ir.spj import Semantics
from obda_bm.kernel.contribution import contribution
from obda_bm.kernel.counts import WIDE, count_column, ones, sums
from obda_bm.kernel.encoding import Array, TextPool
from obda_bm.kernel.groups import Index, row_codes, segments, sort_order
from obda_bm.kernel.rows import Mask, Rows
from obda_bm.kernel.scan import (
    WEIGHT,
    Codec,
    carried_columns,
    codec,
    encode_scan,
    needed_columns,
    passing,
)


@dataclass(frozen=True, slots=True)
class Use:
    """One occurrence of a stream in a plan."""

    branch: BranchPlan
    input: int
    scan: Scan

    @property
    def own(self) -> Synopsis | None:
        """The synopsis that keeps all that matters of a tuple, where there is one."""
        arriving = self.branch.inputs[self.input]
        if len(arriving.scans) > 1 or arriving.statics:
            return None
        return next((s for s in self.branch.synopses if s.inputs == (self.input,)), None)


def uses(plan: SynopsisPlan, stream: str) -> Iterator[Use]:
    for branch in plan.branches:
        for i, arriving in enumerate(branch.inputs):
            for scan in arriving.scans:
                if scan.relation.name == stream:
                    yield Use(branch, i, scan)


def is_stored(plan: SynopsisPlan, stream: str) -> bool:
    """Whether tuples of `stream` wait for others; if not, they only probe."""
    return any(use.input in s.inputs for use in uses(plan, stream) for s in use.branch.synopses)


def needed(plan: SynopsisPlan, stream: str, rows: pa.Table) -> pa.Table:
    """The columns of `rows` that the plan looks at."""
    wanted = {c.column for u in uses(plan, stream) for c in needed_columns(u.scan, u.branch)}
    if not wanted:
        return rows  # an occurrence that adds nothing: the plan does without it
    return rows.select([name for name in rows.column_names if name in {WEIGHT, *wanted}])


def reduce(plan: SynopsisPlan, stream: str, rows: pa.Table) -> pa.Table:
    """`rows` of `stream` without what no filter lets pass, and equal ones once with their weight.

    Rows are equal where they have the same timestamp and the plan cannot tell them apart. `advance`
    takes them as it takes the rows themselves.
    """
    rows = needed(plan, stream, rows)
    match [_read(use, rows) for use in uses(plan, stream)]:
        case []:
            return _grouped(plan, rows, [], ones(len(rows)), np.arange(0))
        case [Read(use=Use(own=Synopsis() as synopsis)) as only]:
            return _by_synopsis(plan, only, synopsis, rows)
        case several:
            index = np.flatnonzero(np.logical_or.reduce([read.passing for read in several]))
            keys = [trait[index] for read in several for trait in read.traits()]
            return _grouped(plan, rows, keys, several[0].rows.weight, index)


def stack(tables: Sequence[pa.Table]) -> pa.Table:
    """Rows of one stream below each other; those without a weight count once beside others."""
    if not any(WEIGHT in table.column_names for table in tables):
        return pa.concat_tables(tables)
    weighted = [
        table
        if WEIGHT in table.column_names
        else table.append_column(WEIGHT, pa.array(ones(len(table))))
        for table in tables
    ]
    wide = any(table.schema.field(WEIGHT).type == WIDE for table in weighted)
    schema = weighted[0].schema
    at = schema.get_field_index(WEIGHT)
    field = pa.field(WEIGHT, WIDE if wide else pa.int64())
    return pa.concat_tables([table.cast(schema.set(at, field)) for table in weighted])


@dataclass(frozen=True, slots=True)
class Read:
    """Rows as one occurrence sees them, and which of them it lets pass."""

    use: Use
    how: Codec
    rows: Rows
    passing: Mask

    def traits(self) -> list[Array]:
        """Rows that agree on these are alike: in whether they pass, and in what is carried on."""
        carried = self.rows.only(carried_columns(self.use.branch)).columns
        return [self.rows.rank, self.passing.astype(np.int64), *carried.values()]


def _read(use: Use, rows: pa.Table) -> Read:
    how = codec(use.branch, TextPool())
    read = encode_scan(use.scan, use.branch, rows, how)
    return Read(use, how, read, passing(use.scan, use.branch, rows, read, how))


def _by_synopsis(plan: SynopsisPlan, read: Read, synopsis: Synopsis, rows: pa.Table) -> pa.Table:
    """Whatever a row will meet, it meets it as its contribution to its own synopsis would.

    So of rows with equal keys the one with the best extreme does for all.
    """
    index = np.flatnonzero(read.passing)
    kept = contribution(synopsis, read.rows.take(index), read.how)
    keys = [kept.rank, *(kept.columns[c] for c in synopsis.key)]
    match synopsis.extremes:
        case (extreme,):
            values = kept.columns[extreme]
            best = np.argsort(values if extreme.side is Side.MIN else -values, kind="stable")
            index, keys = index[best], [k[best] for k in keys]
        case several:
            keys += [kept.columns[e] for e in several]
    return _grouped(plan, rows, keys, read.rows.weight, index)


def _grouped(
    plan: SynopsisPlan, rows: pa.Table, keys: list[Array], weight: Array, index: Index
) -> pa.Table:
    """Of the rows at `index` the first of each key, in order of time, with the weight of all."""
    codes, span = row_codes(keys, len(index))
    order = sort_order(codes, span)
    starts = segments(codes[order])
    total = sums(weight[index[order]], starts)
    chosen = index[order[starts]]
    if plan.semantics is Semantics.SET:
        total = ones(len(chosen))
    kept = rows.take(chosen)
    if WEIGHT in kept.column_names:
        kept = kept.drop([WEIGHT])
    return kept.append_column(WEIGHT, count_column(total))
