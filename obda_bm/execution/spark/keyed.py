"""The kernel on the executors, once per bucket of keys, with its state in Spark's state store.

Executors cut each stream into packets, one per bucket; a packet is Arrow, and so is the state.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from obda_bm.execution.conform import Origin, conform
from obda_bm.execution.markers import ticks_of
from obda_bm.execution.spark.bucket import (
    Bucket,
    Work,
    close_bucket,
    earliest,
    new_bucket,
    offer_rows,
    read_bucket,
    write_bucket,
)
from obda_bm.execution.spark.clock import Clock, clock_of
from obda_bm.execution.spark.output import late_lines
from obda_bm.execution.spark.packing import from_ipc, to_ipc
from obda_bm.execution.spark.tagged import Lane
from obda_bm.planning.placement import Keyed

if TYPE_CHECKING:
    import pandas as pd

BUCKETS = 16
"""More buckets than cores even out the load; each costs a call per batch.

Another number puts keys into other buckets: states need another `snapshot.VERSION` then.
"""

PACKET_ROWS = 65_536
STATE = "bucket"
_PACKETS = "stream int, bucket int, rows binary, newest long"
NEWS = "bucket int, results binary, late binary, told string"


def keyed_stream(
    work: Work, lanes: tuple[Lane, ...], frames: Mapping[str, DataFrame], key: Keyed
) -> DataFrame:
    """News of the buckets: per batch and bucket its results, its late rows and its figures."""
    clock = clock_of(work.streams)
    parts = [
        frames[lane.relation.name]
        .select(*(F.col(f"`{name}`") for name in lane.names))
        .mapInArrow(packer(lane, i, key.column(lane.relation.name), clock), _PACKETS)
        .withColumn("newest", F.timestamp_millis("newest"))
        # The watermark is only read: without its column, Spark drops no late rows behind our back.
        .withWatermark("newest", "0 seconds")
        .select("stream", "bucket", "rows")
        for i, lane in enumerate(lanes)
    ]
    packets = reduce(DataFrame.union, parts)
    return packets.groupBy("bucket").transformWithStateInPandas(
        Processor(work, clock), NEWS, "Append", "EventTime"
    )


def packer(
    lane: Lane, index: int, column: str, clock: Clock
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Cuts the rows of one stream into packets."""

    def pack_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for given in gathered(batches):
            named = given.rename_columns([c.name for c in lane.relation.columns])
            rows = conform(lane.relation, named, Origin(lane.relation.name))
            newest = clock.milliseconds(int(ticks_of(lane.relation, rows).max()))
            packets = list(_packets(rows, column))
            count = len(packets)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array([index] * count, pa.int32()),
                    pa.array([bucket for bucket, _ in packets], pa.int32()),
                    pa.array([packet for _, packet in packets], pa.binary()),
                    pa.array([newest] * count, pa.int64()),
                ],
                names=["stream", "bucket", "rows", "newest"],
            )

    return pack_rows


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Fewer and larger batches."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= PACKET_ROWS:
            yield pa.Table.from_batches(held)
            held = []
    if sum(map(len, held)):
        yield pa.Table.from_batches(held)


def _packets(rows: pa.Table, column: str) -> Iterator[tuple[int, bytes]]:
    buckets = bucket_of(rows.column(column))
    order = np.argsort(buckets, kind="stable")
    sorted_rows = rows.take(pa.array(order))
    starts = np.searchsorted(buckets[order], np.arange(BUCKETS + 1))
    for bucket in range(BUCKETS):
        size = int(starts[bucket + 1] - starts[bucket])
        if size:
            yield bucket, to_ipc(sorted_rows.slice(int(starts[bucket]), size))


def bucket_of(keys: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The bucket of each key; the same one in every process, whatever Python's hash does."""
    coded = keys.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.unify_dictionaries().combine_chunks()
    values = coded.dictionary.to_pylist()
    codes = np.array([zlib.crc32(str(v).encode()) % BUCKETS for v in values] or [0], np.int64)
    # NULL is equal to nothing, so it may be anywhere.
    return np.asarray(codes[coded.indices.fill_null(0).to_numpy()], np.int64)


@dataclass(frozen=True, slots=True)
class Told:
    """The figures of a bucket after a call; `offered` and `late` count the rows of this call."""

    units: int
    waiting: int
    offered: int
    late: int
    closed: int | None
    newest: Mapping[str, int]


class Processor(StatefulProcessor):
    """Keeps one bucket per key of Spark's state store."""

    def __init__(self, work: Work, clock: Clock) -> None:
        self._work, self._clock = work, clock

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._state = handle.getValueState(STATE, "bytes binary")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        arrived: dict[str, list[pa.Table]] = defaultdict(list)
        for frame in rows:
            for stream, packet in zip(frame["stream"], frame["rows"], strict=True):
                arrived[self._work.streams[int(stream)].name].append(from_ipc(packet))
        return self._step(key, arrived, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        return self._step(key, {}, timerValues)

    def close(self) -> None:
        pass

    def _step(
        self, key: Any, rows: Mapping[str, list[pa.Table]], timer_values: Any
    ) -> Iterator[pd.DataFrame]:
        """Close first: the watermark is that of the batches before, so it makes rows late."""
        bucket, results = self._load(), None
        frontier = self._clock.frontier(timer_values.getCurrentWatermarkInMs())
        if frontier is not None:
            bucket, results = close_bucket(self._work, bucket, frontier)
        bucket, late = offer_rows(self._work, bucket, rows)
        self._state.update((write_bucket(bucket),))
        waits = earliest(self._work, bucket)
        if waits is not None:
            self._handle.registerTimer(self._clock.due(waits))
        yield _news(int(key[0]), results, late, told_of(self._work, bucket, rows, late))

    def _load(self) -> Bucket:
        if not self._state.exists():
            return new_bucket(self._work)
        return read_bucket(self._work, bytes(self._state.get()[0]))


def told_of(
    work: Work,
    bucket: Bucket,
    rows: Mapping[str, list[pa.Table]],
    late: Mapping[str, pa.Table],
) -> Told:
    newest = {
        s.name: max(int(ticks_of(s, part).max()) for part in rows[s.name] if len(part))
        for s in work.streams
        if any(map(len, rows.get(s.name, ())))
    }
    offered = sum(len(part) for parts in rows.values() for part in parts)
    waiting = sum(map(len, bucket.waiting.values()))
    return Told(bucket.units, waiting, offered, sum(map(len, late.values())), bucket.closed, newest)


def _news(
    bucket: int, results: pa.Table | None, late: Mapping[str, pa.Table], told: Told
) -> pd.DataFrame:
    import pandas as pd

    columns = {
        "bucket": [bucket],
        "results": [None if results is None else to_ipc(results)],
        "late": [late_lines(late) if late else None],
        "told": [json.dumps(told_as_json(told))],
    }
    return pd.DataFrame(columns)


def told_as_json(told: Told) -> dict[str, Any]:
    return {
        "units": told.units,
        "waiting": told.waiting,
        "offered": told.offered,
        "late": told.late,
        "closed": told.closed,
        "newest": dict(told.newest),
    }


def finisher(
    work: Work, until: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Closes stored buckets for good, for the end of input; the stored ones stay as they are."""

    def finish(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for key, data in zip(batch["bucket"], batch["bytes"], strict=True):
                bucket, results = close_bucket(work, read_bucket(work, data.as_py()), until)
                news = _news(key.as_py(), results, {}, told_of(work, bucket, {}, {}))
                schema = pa.schema(
                    [
                        ("bucket", pa.int32()),
                        ("results", pa.binary()),
                        ("late", pa.binary()),
                        ("told", pa.string()),
                    ]
                )
                yield pa.RecordBatch.from_pandas(news, schema, preserve_index=False)

    return finish
