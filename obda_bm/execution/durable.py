"""Runs of the local engine with a state directory: output first, then the checkpoint, atomically.

A checkpoint says how many bytes of output belong to it. What a killed run has written beyond is cut
off by the next one, so every result is there exactly once.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pyarrow as pa

from obda_bm.execution.checkpoint import (
    Checkpoint,
    as_bytes,
    begin,
    fingerprint,
    from_bytes,
    notes_of,
)
from obda_bm.execution.local import Progress
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.execution.resume import go_on
from obda_bm.execution.sinks import CsvSink, Format, JsonlSink, Sink, json_rows
from obda_bm.ir.catalog import Relation
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.sqltypes import SqlType

EVERY = 1.0
"""Seconds between checkpoints; one more is written at the end."""

_FILE = "checkpoint"


@dataclass(frozen=True, slots=True)
class Destination:
    """Where results and late rows go; None is standard output, or nowhere for late rows."""

    format: Format
    time: SqlType
    output: Path | None
    late: Path | None

    def notes(self, plan: str) -> dict[str, str | None]:
        """What a run must have in common with the one that it continues."""
        return {
            "plan": plan,
            "format": self.format.value,
            "output": None if self.output is None else str(self.output.resolve()),
            "late": None if self.late is None else str(self.late.resolve()),
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """What a plan reads: streams from their beginning, and static relations as a whole."""

    streams: Mapping[Relation, Iterator[pa.Table]]
    static: Mapping[str, pa.Table]
    max_pending: int


def run_durably(
    plan: SynopsisPlan,
    reading: Reading,
    directory: Path,
    destination: Destination,
    stdout: TextIO,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[Progress]:
    """Run `plan`, or go on with it, and keep `directory` up to date.

    Raises:
        ExecutionError: where the directory belongs to another run, is in use, or cannot be used.
    """
    _check_format(destination.format)
    with ExitStack() as opened:
        store = opened.enter_context(_hold(directory))
        notes = destination.notes(fingerprint(plan, reading.static))
        saved = store.load(notes)
        checkpoint = _last(plan, saved, reading.static)
        outputs = _open_outputs(destination, saved, stdout, opened)
        due = clock() + EVERY
        moves = go_on(plan, checkpoint, reading.streams, outputs.late_rows, reading.max_pending)
        for progress, checkpoint in moves:
            if progress.results is not None:
                outputs.sink.write(progress.results)
            if clock() >= due:
                store.save(checkpoint, notes, outputs)
                due = clock() + EVERY
            try:
                yield progress
            except GeneratorExit:  # the caller has seen enough
                break
        store.save(checkpoint, notes, outputs)


def _last(plan: SynopsisPlan, saved: Saved | None, static: Mapping[str, pa.Table]) -> Checkpoint:
    return begin(plan, static) if saved is None else from_bytes(plan, saved.data, static)


def _check_format(format_: Format) -> None:
    if format_ not in (Format.JSONL, Format.CSV):
        message = f"a run with a state directory cannot go on with a {format_.value}"
        raise Mistake.NOT_RESUMABLE.error(message, "Choose --format jsonl or csv.")


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint as it was found, and the sizes of the files that it speaks of."""

    data: bytes
    output: int
    late: int


@dataclass(frozen=True, slots=True)
class Outputs:
    """A place for results, and the files that are written; None where there is none."""

    sink: Sink
    stdout: TextIO
    results: io.TextIOWrapper | None
    late: io.TextIOWrapper | None

    def settle(self) -> dict[str, int]:
        """The sizes of the files, now that everything is on disk."""
        self.stdout.flush()
        return {"output_bytes": _settled(self.results), "late_bytes": _settled(self.late)}

    def late_rows(self, stream: str, rows: pa.Table) -> None:
        if self.late is not None:
            lines = ({"stream": stream, "row": row} for row in json_rows(rows))
            self.late.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _open_outputs(
    destination: Destination, saved: Saved | None, stdout: TextIO, opened: ExitStack
) -> Outputs:
    results = late = None
    if destination.output is not None:
        size = 0 if saved is None else saved.output
        results = opened.enter_context(_open_at(destination.output, size))
    if destination.late is not None:
        size = 0 if saved is None else saved.late
        late = opened.enter_context(_open_at(destination.late, size))
    return Outputs(_sink(destination, results or stdout, saved), stdout, results, late)


def _sink(destination: Destination, stream: TextIO, saved: Saved | None) -> Sink:
    if destination.format is Format.JSONL:
        return JsonlSink(stream, destination.time)
    begun = saved is not None and (destination.output is None or saved.output > 0)
    return CsvSink(stream, destination.time, header=not begun)


def _open_at(path: Path, size: int) -> io.TextIOWrapper:
    """The file, cut to `size` bytes, to be written on."""
    try:
        raw = path.open("r+b") if size else path.open("wb")
    except OSError as error:
        message = f"cannot write {str(path)!r}: {error.strerror}"
        hint = "It must be where the last run has left it." if size else "Name another file."
        raise Mistake.UNWRITABLE_FILE.error(message, hint) from None
    if raw.seek(0, os.SEEK_END) < size:
        raw.close()
        message = f"{str(path)!r} is shorter than what was written to it"
        raise Mistake.BROKEN_STATE.error(message, "Begin again with a new state directory.")
    raw.truncate(size)
    raw.seek(size)
    return io.TextIOWrapper(raw, encoding="utf-8", newline="")


def _settled(file: io.TextIOWrapper | None) -> int:
    """The size of a file once it is on disk; 0 where there is none."""
    if file is None:
        return 0
    file.flush()
    os.fsync(file.fileno())
    return os.fstat(file.fileno()).st_size


@dataclass(frozen=True, slots=True)
class StateDirectory:
    directory: Path

    def load(self, notes: Mapping[str, str | None]) -> Saved | None:
        """The newest checkpoint, if there is one; it must be of the same command."""
        try:
            data = (self.directory / _FILE).read_bytes()
            found = notes_of(data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise _broken(self.directory, str(error)) from None
        for name, value in notes.items():
            if found[name] != value:
                raise _foreign(self.directory, name)
        return Saved(data, found["output_bytes"], found["late_bytes"])

    def save(
        self, checkpoint: Checkpoint, notes: Mapping[str, str | None], outputs: Outputs
    ) -> None:
        data = as_bytes(checkpoint, {**notes, **outputs.settle()})
        beside = self.directory / f".{_FILE}.unfinished"
        with beside.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, self.directory / _FILE)


@contextmanager
def _hold(directory: Path) -> Iterator[StateDirectory]:
    """The directory, made if need be, for one run at a time."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / ".lock").open("a")
    except OSError as error:
        message = f"cannot use the state directory {str(directory)!r}: {error.strerror}"
        raise Mistake.UNWRITABLE_FILE.error(message, "Name a directory.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"the state directory {str(directory)!r} is in use"
            hint = "Stop the other run, or name another directory."
            raise Mistake.STATE_IN_USE.error(message, hint) from None
        yield StateDirectory(directory)


def _foreign(directory: Path, what: str) -> ExecutionError:
    names = {"plan": "another query, plan or static relation"}
    other = names.get(what, f"a run with another --{what}")
    message = f"the state in {str(directory)!r} belongs to {other}"
    hint = "Give every query its own directory, and a new one after every change."
    return Mistake.FOREIGN_STATE.error(message, hint)


def _broken(directory: Path, problem: str) -> ExecutionError:
    message = f"cannot go on with the state in {str(directory)!r}: {problem}"
    return Mistake.BROKEN_STATE.error(message, "Begin again with a new state directory.")
