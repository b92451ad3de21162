"""The command, as a process and in this one."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from obda_bm.interfaces.cli import main

COMMAND = Path(sys.executable).with_name("obda-bm")

TABLE_1 = """
[streams.S]
time = "ts"
columns = { A = "INTEGER", B = "INTEGER", C = "INTEGER", ts = "INTEGER" }
[streams.T]
time = "ts"
columns = { D = "INTEGER", E = "INTEGER", ts = "INTEGER" }
"""

FOUR_STREAMS = """
[streams.X]
time = "ts"
columns = { A = "INTEGER", ts = "INTEGER" }
[streams.Y]
time = "ts"
columns = { C = "INTEGER", ts = "INTEGER" }
[streams.Z1]
time = "ts"
columns = { D = "INTEGER", ts = "INTEGER" }
[streams.Z2]
time = "ts"
columns = { E = "INTEGER", ts = "INTEGER" }
"""

STAIRCASE = """SELECT DISTINCT 1 AS found FROM X, Y, Z1, Z2
WHERE X.ts < Y.ts AND Y.ts < Z1.ts AND Y.ts < Z2.ts AND X.A < Z1.D AND Y.C < Z2.E
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


def run_process(*arguments: str, stdin: str = "") -> Result:
    """`obda-bm ARGUMENTS` as the user runs it."""
    done = subprocess.run(
        [COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def run_here(capsys: pytest.CaptureFixture[str], *arguments: str) -> Result:
    """The same without a process, for tests that run it very often."""
    code = main(arguments)
    captured = capsys.readouterr()
    return Result(code, captured.out, captured.err)
