"""A Spark session of our own, for the command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from obda_bm.execution.mistakes import Mistake

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
        from pyspark.sql import SparkSession
    except ImportError:
        hint = "Install it: pip install 'obda-bm[spark]'. Or use --engine local."
        raise Mistake.NO_SPARK.error("pyspark is not installed", hint) from None
    check_java(java)
    builder = SparkSession.builder.appName("obda-bm").master(os.environ.get("MASTER", "local[*]"))
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "OFF",
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
