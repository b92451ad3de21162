"""A run in a process of its own: `python -m tests.spark.child DIR PLACEMENT [POINT]`.

DIR has the setting, the query and the data; state and output go there, too. POINT names a file,
by its folder and the beginning of its name, and when to die: before, amid or after writing it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from obda_bm.execution.spark.files import UNFINISHED, Write, write_atomically
from obda_bm.execution.spark.run import Once, run_spark
from obda_bm.execution.spark.session import open_session
from obda_bm.pipeline import compile_sql, load_setting
from obda_bm.planning.placement import placements


def killing(folder: str, name: str, moment: str) -> Write:
    def write(path: Path, data: bytes) -> None:
        chosen = path.parent.name == folder and path.name.startswith(name)
        if chosen and moment == "before":
            die()
        if chosen and moment == "amid":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}{UNFINISHED}").write_bytes(data[: len(data) // 2])
            die()
        write_atomically(path, data)
        if chosen and moment == "after":
            die()

    return write


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(directory: Path, placement: str, point: str | None) -> None:
    compiled = compile_sql(
        (directory / "query.sql").read_text(), load_setting(directory / "s.toml")
    )
    assert compiled.plan is not None
    places = {type(p).__name__: p for p in placements(compiled.plan)}
    spark = open_session()
    print("started", flush=True)
    write = write_atomically if point is None else killing(*point.split(":"))
    run = run_spark(
        compiled,
        spark,
        state=directory / "state",
        output=directory / "output",
        trigger=Once(),
        placement=places[placement],
        write=write,
    )
    run.awaitTermination()
    print("done", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
