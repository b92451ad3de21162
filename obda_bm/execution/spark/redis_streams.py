"""A Redis stream as a source; the ids of its entries are the offsets, which survive a restart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

NAME = "obda-bm-redis"
MAX_ROWS = 100_000
_CHUNK = 10_000
_FIRST = "0-0"

Offset = dict[str, str]


class RedisStreams(DataSource):
    """Options: `url` (redis://host:port/db), `stream` (the key), `maxRowsPerTrigger`."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def streamReader(self, schema: StructType) -> RedisReader:  # noqa: N802
        place = Place(self.options["url"], self.options["stream"])
        limit = int(self.options.get("maxRowsPerTrigger", MAX_ROWS))
        return RedisReader(place, tuple(schema.names), limit)


@dataclass(frozen=True, slots=True)
class Place:
    url: str
    stream: str

    def connect(self) -> Any:
        import redis

        return redis.Redis.from_url(self.url, decode_responses=True)


class Entries(InputPartition):
    """The entries after `start`, up to and including `end`."""

    def __init__(self, start: str, end: str) -> None:
        super().__init__(None)
        self.start, self.end = start, end


class RedisReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, place: Place, columns: tuple[str, ...], max_rows: int) -> None:
        self._place, self._columns, self._max_rows = place, columns, max_rows
        self._target: str | None = None

    def initialOffset(self) -> Offset:  # noqa: N802
        return {"id": _FIRST}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._max_rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self._newest()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        """As many entries after `start` as the limit allows."""
        last = self._newest() if self._target is None else self._target
        if not _before(start["id"], last):
            return start
        if not isinstance(limit, ReadMaxRows):
            return {"id": last}
        left, at = limit.max_rows, start["id"]
        while left > 0:
            ids = [i for i, _ in _range(self._place.connect(), self._place, at, last, left)]
            if not ids:
                break
            left, at = left - len(ids), ids[-1]
        return {"id": at}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        return [Entries(start["id"], end["id"])] if start != end else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """All values as texts.

        Raises:
            RuntimeError: where entries are gone that were there when the batch was planned.
        """
        assert isinstance(partition, Entries)
        connection, at = self._place.connect(), partition.start
        while entries := _range(connection, self._place, at, partition.end, _CHUNK):
            at = entries[-1][0]
            yield _batch([fields for _, fields in entries], self._columns)
        if at != partition.end:
            raise RuntimeError(
                f"entry {partition.end} of the Redis stream {self._place.stream!r} was removed "
                "before it was read: trim it later"
            )

    def _newest(self) -> str:
        found = self._place.connect().xrevrange(self._place.stream, count=1)
        return str(found[0][0]) if found else _FIRST


def _range(
    connection: Any, place: Place, after: str, last: str, count: int
) -> list[tuple[str, Mapping[str, str]]]:
    found: list[tuple[str, Mapping[str, str]]] = connection.xrange(
        place.stream, min=f"({after}", max=last, count=min(count, _CHUNK)
    )
    return found


def _before(one: str, other: str) -> bool:
    """Whether an entry is older than another.

    >>> _before("9-0", "10-0"), _before("10-1", "10-1")
    (True, False)
    """
    return tuple(map(int, one.split("-"))) < tuple(map(int, other.split("-")))


def _batch(rows: list[Mapping[str, str]], columns: tuple[str, ...]) -> pa.RecordBatch:
    arrays = [pa.array([row.get(column) for row in rows], pa.string()) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))
