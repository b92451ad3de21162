"""The sources of the catalog -> streaming DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from glob import has_magic
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.ir.catalog import Relation, Source
from obda_bm.kernel import arrow_schema

MAX_BYTES = 128 << 20
"""So many bytes of files go into a batch, unless the source says otherwise."""

Reader = Callable[[SparkSession, Relation, Source, Path], DataFrame]


def read_stream(spark: SparkSession, relation: Relation, directory: Path) -> DataFrame:
    """The rows of a stream as they arrive; paths are relative to `directory`.

    Raises:
        ExecutionError: where there is no such source.
    """
    if relation.source is None:
        message = f"{relation.name!r} has no source"
        hint = 'Write source = { format = "parquet", path = "…" }, or give a DataFrame.'
        raise Mistake.NO_ROWS_GIVEN.error(message, hint, relation.span)
    read = READERS.get(relation.source.format.lower(), _read_other)
    try:
        return read(spark, relation, relation.source, directory)
    except AnalysisException as error:
        raise _unread(relation, relation.source, error) from None


def _unread(relation: Relation, source: Source, error: AnalysisException) -> ExecutionError:
    reason = str(error).strip().partition("\n")[0]
    message = f"Spark cannot read {source.format!r}, the source of {relation.name!r}: {reason}"
    hint = "Check the options; a connector such as Kafka's must be in your Spark session."
    return Mistake.UNREAD_FORMAT.error(message, hint, relation.span)


def _read_files(
    spark: SparkSession, relation: Relation, source: Source, directory: Path
) -> DataFrame:
    format_ = _FILE_FORMATS[source.format.lower()]
    given = _texts(source)
    where, only = _place(relation, given.pop("path", None), directory)
    options = {**_FILE_OPTIONS[format_], **only, **given}
    if not given.keys() & {"maxFilesPerTrigger", "maxBytesPerTrigger"}:
        options["maxBytesPerTrigger"] = str(MAX_BYTES)
    schema = _schema(spark, relation, format_, where, options)
    return spark.readStream.schema(schema).format(format_).options(**options).load(where)


def _schema(
    spark: SparkSession, relation: Relation, format_: str, where: str, options: Mapping[str, str]
) -> StructType:
    """The columns of the files that are there; without any file, those of the setting."""
    try:
        found = spark.read.format(format_).options(**options).load(where).schema
        if found.names:
            return found
    except AnalysisException as error:
        if error.getCondition() not in ("UNABLE_TO_INFER_SCHEMA", "PATH_NOT_FOUND"):
            raise
    if format_ == "parquet":
        return from_arrow_schema(arrow_schema(relation), prefer_timestamp_ntz=True)
    return _as_text(relation)


def _as_text(relation: Relation) -> StructType:
    """Everything as text: only `conform` knows types, and says which row does not fit."""
    return StructType([StructField(c.name, StringType()) for c in relation.columns])


def _place(relation: Relation, path: str | None, directory: Path) -> tuple[str, dict[str, str]]:
    """A directory or pattern, and which files of it: Spark streams no single file."""
    if path is None:
        message = f"the source of {relation.name!r} names no path"
        raise Mistake.NO_SUCH_FILE.error(message, 'Write path = "…".', relation.span)
    if "://" in path:
        return path, {}
    full = (directory / path).resolve()
    if full.is_file():
        return str(full.parent), {"pathGlobFilter": _escaped(full.name)}
    if not full.exists() and not has_magic(path):
        message = f"there is no file {str(full)!r} for {relation.name!r}"
        hint = "Paths are relative to the setting: a file, a directory, or a pattern with *."
        raise Mistake.NO_SUCH_FILE.error(message, hint, relation.span)
    return str(full), {} if has_magic(path) else {"recursiveFileLookup": "true"}


def _escaped(name: str) -> str:
    return "".join(f"\\{c}" if c in "*?[]{}\\" else c for c in name)


def _read_rate(
    spark: SparkSession, relation: Relation, source: Source, _directory: Path
) -> DataFrame:
    """Spark's generator: the column called after the time is `timestamp`, another one `value`."""
    frame = spark.readStream.format(source.format).options(**_texts(source)).load()
    names = {c.name: "timestamp" if c.name == relation.time else "value" for c in relation.columns}
    return frame.select(*(F.col(given).alias(name) for name, given in names.items()))


def _read_kafka(
    spark: SparkSession, relation: Relation, source: Source, _directory: Path
) -> DataFrame:
    frame = spark.readStream.format("kafka").options(**_texts(source)).load()
    return parse_messages(frame, relation)


def parse_messages(frame: DataFrame, relation: Relation) -> DataFrame:
    """Messages whose `value` is a JSON object, as rows; all columns are texts."""
    parsed = F.from_json(F.col("value").cast("string"), _as_text(relation), {"mode": "FAILFAST"})
    return frame.select(parsed.alias("message")).select("message.*")


def _read_redis(
    spark: SparkSession, relation: Relation, source: Source, _directory: Path
) -> DataFrame:
    """A Redis stream whose entries have the columns as fields."""
    from obda_bm.execution.spark.redis_streams import NAME, RedisStreams

    options = _texts(source)
    if missing := {"url", "stream"} - options.keys():
        message = f"the source of {relation.name!r} has no {min(missing)!r}"
        hint = 'Write source = { format = "redis", url = "redis://host:6379", stream = "…" }.'
        raise Mistake.NO_SUCH_FILE.error(message, hint, relation.span)
    spark.dataSource.register(RedisStreams)
    return spark.readStream.format(NAME).schema(_as_text(relation)).options(**options).load()


def _read_other(
    spark: SparkSession, _relation: Relation, source: Source, _directory: Path
) -> DataFrame:
    return spark.readStream.format(source.format).options(**_texts(source)).load()


def _texts(source: Source) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in source.options
    }


_FILE_FORMATS = {"parquet": "parquet", "csv": "csv", "json": "json", "jsonl": "json"}
_FILE_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "parquet": {},
    "csv": {"header": "true", "multiLine": "true", "escape": '"', "mode": "FAILFAST"},
    "json": {"primitivesAsString": "true", "mode": "FAILFAST"},
}
READERS: Mapping[str, Reader] = {
    **dict.fromkeys(_FILE_FORMATS, _read_files),
    "rate": _read_rate,
    "rate-micro-batch": _read_rate,
    "kafka": _read_kafka,
    "redis": _read_redis,
}
