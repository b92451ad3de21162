"""A Spark session of our own, for the command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from obda_bm.execution.mistakes import ExecutionError, Mistake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17


def open_session() -> SparkSession:
    """A session on this machine's cores, quiet on the terminal.

    Raises:
        ExecutionError: naming what is missing.
    """
    java = find_java()
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        hint = "Install it: pip install 'obda-bm[spark]'. Or use --engine local."
        raise Mistake.NO_SPARK.error("pyspark is not installed", hint) from None
    check_java(java)
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


def find_java() -> Path | None:
    """The `java` that Spark will start: that of JAVA_HOME, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        candidate = Path(home) / "bin" / "java"
        return candidate if os.access(candidate, os.X_OK) else None
    found = shutil.which("java")
    return None if found is None else Path(found)


def check_java(java: Path | None) -> None:
    """Raise where `java` is missing, does not start, or is too old."""
    if java is None:
        home = os.environ.get("JAVA_HOME")
        where = f"JAVA_HOME is {home!r}, without bin/java" if home else "there is no java on PATH"
        raise Mistake.NO_JAVA.error(f"Spark needs Java {OLDEST_JAVA}: {where}", _INSTALL)
    version = java_version(java)
    if version is None or version < OLDEST_JAVA:
        found = "does not start" if version is None else f"is Java {version}"
        message = f"Spark needs Java {OLDEST_JAVA}, but {str(java)!r} {found}"
        raise Mistake.NO_JAVA.error(message, _INSTALL)


_INSTALL = (
    "Install a Java, e.g. apt-get install openjdk-17-jre-headless, or pip install 'obda-bm[java]'; "
    "or use --engine local, which needs none."
)


def java_version(java: Path) -> int | None:
    """The feature release of a Java, None where it does not start."""
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return read_java_version(done.stderr + done.stdout)


def read_java_version(text: str) -> int | None:
    """The feature release that `java -version` prints.

    >>> read_java_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> read_java_version('java version "1.8.0_392"')
    8
    """
    found = re.search(r'version "(\d+)(?:\.(\d+))?', text)
    if found is None:
        return None
    major = int(found[1])
    return int(found[2]) if major == 1 and found[2] else major
