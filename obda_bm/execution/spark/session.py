"""A Spark session of our own, for the command line."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.execution.spark.java import use_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_session() -> SparkSession:
    """A session on this machine's cores, quiet on the terminal.

    Raises:
        ExecutionError: naming what is missing.
    """
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        hint = "Install it: pip install 'obda-bm[spark]'. Or use --engine local."
        raise Mistake.NO_SPARK.error("pyspark is not installed", hint) from None
    use_java()
    builder = SparkSession.builder.appName("obda-bm").master(os.environ.get("MASTER", "local[*]"))
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    with tempfile.TemporaryFile() as words:
        try:
            with _standard_error_to(words.fileno()):
                return builder.getOrCreate()
        except (PySparkException, Py4JError) as error:
            raise _not_started(error, words) from None


def _not_started(error: Exception, words: IO[bytes]) -> ExecutionError:
    words.seek(0)
    said = words.read().decode(errors="replace").strip().rpartition("\n")[2]
    first = str(error).partition("\n")[0]
    hint = f"Java's last words were: {said}" if said else "Try pyspark alone."
    return Mistake.SPARK_FAILED.error(f"Spark does not start: {first}", hint)


@contextmanager
def _standard_error_to(target: int) -> Iterator[None]:
    """Java inherits `target` for good, so that its log does not end up among our diagnostics."""
    sys.stderr.flush()
    ours = os.dup(2)
    os.dup2(target, 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "OFF",
    # Only the keyed placement uses it.
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state"
    ".RocksDBStateStoreProvider",
}
