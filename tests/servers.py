"""Real servers of Debian's packages, on loopback, for as long as a test needs them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(ready: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "the server does not start"
        time.sleep(0.1)


def is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(command: list[str], ready: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """The process, once it is ready."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(ready)
        yield process
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def redis_server() -> Iterator[str]:
    """The address of a new, empty Redis."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no Redis: apt-get install redis-server")
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with running([program, *options], lambda: is_open(port)):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address, as JDBC has it, of a new, empty PostgreSQL."""
    folders = [p.parent for p in sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))]
    if not folders:
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    # It refuses to run as root; its own user needs a directory that it may enter.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="pg-") as directory:
        as_user: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(directory, "postgres")
            as_user = ["runuser", "-u", "postgres", "--"]
        data, port = f"{directory}/data", free_port()
        initdb = [*as_user, str(folders[-1] / "initdb"), "-D", data, "-U", "test", "-A", "trust"]
        subprocess.run(initdb, check=True, capture_output=True)
        options = ["-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", directory]
        asking = [str(folders[-1] / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]

        def answers() -> bool:
            return subprocess.run(asking, capture_output=True, check=False).returncode == 0

        with running([*as_user, str(folders[-1] / "postgres"), *options], answers):
            yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=test"
