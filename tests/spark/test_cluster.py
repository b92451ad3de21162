"""A real cluster on loopback: one master, two workers; one of them is killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.servers import free_port, is_open, wait_for
from tests.spark.jobs import child, complete, copy_job, environment, reap, write_job, written

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


@contextmanager
def started(role: str, *options: str, directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A master or a worker, with all that it starts in one group of processes."""
    log = (directory / f"{role}-{options[0].replace('/', '_')}.log").open("wb")
    process = subprocess.Popen(
        [str(SPARK_CLASS), f"org.apache.spark.deploy.{role.lower()}.{role}", *options],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        env=environment() | {"SPARK_LOCAL_IP": "127.0.0.1"},
        cwd=directory,
    )
    try:
        yield process
    finally:
        kill(process)
        log.close()


def kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def cluster(directory: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of the master, and the workers."""
    port, address = free_port(), "127.0.0.1"
    url = f"spark://{address}:{port}"
    with ExitStack() as running:
        running.enter_context(
            started("Master", "--host", address, "--port", str(port), "--webui-port", "0",
                    directory=directory)
        )  # fmt: skip
        wait_for(lambda: is_open(port))
        workers = []
        for i in range(2):
            place = directory / f"worker{i}"
            place.mkdir()
            options = (url, "--host", address, "--cores", "1", "--memory", "1g")
            options += ("--work-dir", str(place), "--webui-port", "0")
            workers.append(running.enter_context(started("Worker", *options, directory=place)))
        yield url, workers


@pytest.mark.parametrize("placement", ["OnDriver", "Keyed"])
def test_killed_worker_changes_nothing(tmp_path: Path, placement: str) -> None:
    straight, job = tmp_path / "straight", tmp_path / "job"
    write_job(straight, 8)
    copy_job(straight, job)
    complete(straight, "OnDriver")
    with cluster(tmp_path) as (url, workers):
        process = child(job, placement, master=url)
        wait_for(lambda: any((job / "output").glob("part-*")) or process.poll() is not None, 240)
        assert process.poll() is None, "done before a worker could be killed"
        kill(workers[0])
        assert reap(process) == 0
    assert written(job) == written(straight)
