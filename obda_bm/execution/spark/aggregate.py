"""The executors' share of the aggregated placement: fewer rows that do the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from obda_bm.execution.conform import Origin, conform
from obda_bm.execution.markers import Pending, ticks_of
from obda_bm.execution.spark.keyed import gathered
from obda_bm.execution.spark.packing import from_ipc, to_ipc
from obda_bm.execution.spark.snapshot import Arrived, Seen
from obda_bm.execution.spark.tagged import Lane, own_rows
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.kernel import reduce

_SHARES = "stream int, seen long, newest long, rows binary, late binary"


@dataclass(frozen=True, slots=True)
class Aggregation:
    """Reduces a batch on the executors; late rows stay as they are, to be written down."""

    plan: SynopsisPlan
    lanes: tuple[Lane, ...]

    def gather(self, frame: DataFrame, pending: Pending) -> Arrived:
        share = reducer(self.plan, self.lanes, pending.closed)
        shares = frame.mapInArrow(share, _SHARES).toArrow().to_pylist()
        rows: dict[str, list[pa.Table]] = {lane.relation.name: [] for lane in self.lanes}
        seen = {lane.relation.name: Seen(0, None) for lane in self.lanes}
        for part in shares:
            name = self.lanes[part["stream"]].relation.name
            seen[name] = seen[name].and_then(Seen(part["seen"], part["newest"]))
            rows[name] += [from_ipc(part[kind]) for kind in ("rows", "late") if part[kind]]
        return Arrived(rows, seen)


def reducer(
    plan: SynopsisPlan, lanes: tuple[Lane, ...], closed: int | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Rows of all streams -> per stream what is left of them."""

    def share(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            for i, lane in enumerate(lanes):
                rows = conform(lane.relation, own_rows(lane, i, table), Origin(lane.relation.name))
                if len(rows):
                    yield _share(plan, lane, i, rows, closed)

    return share


def _share(
    plan: SynopsisPlan, lane: Lane, index: int, rows: pa.Table, closed: int | None
) -> pa.RecordBatch:
    name, ticks = lane.relation.name, ticks_of(lane.relation, rows)
    old = ticks < ticks.min() if closed is None else ticks < closed
    late = to_ipc(rows.filter(pa.array(old))) if old.any() else None
    left = to_ipc(reduce(plan, name, rows.filter(pa.array(~old))))
    return pa.RecordBatch.from_arrays(
        [
            pa.array([index], pa.int32()),
            pa.array([len(rows)], pa.int64()),
            pa.array([int(ticks.max())], pa.int64()),
            pa.array([left], pa.binary()),
            pa.array([late], pa.binary()),
        ],
        names=["stream", "seen", "newest", "rows", "late"],
    )
