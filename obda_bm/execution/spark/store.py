"""The state directory: whose it is, its snapshots, and whether they fit Spark's checkpoint."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.execution.spark.files import UNFINISHED, Write, sync_directory
from obda_bm.execution.spark.snapshot import Epoch, Stored, open_snapshot

KEPT = 3
"""So many snapshots stay: the newest, the one before, and one for the eye."""

_OWNER = "query.json"
_SUFFIX = ".state"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a state directory is: a plan, the query as text, and its static relations' digests."""

    plan: str
    query: str
    static: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Store:
    """A state directory that belongs to one plan."""

    directory: Path
    plan: str
    write: Write

    @property
    def checkpoint(self) -> Path:
        return self.directory / "checkpoint"

    @property
    def checkpoint_url(self) -> str:
        """As Spark wants it: not percent-encoded, whatever the path has in it."""
        return f"file://{self.checkpoint.resolve()}"

    @property
    def snapshots(self) -> Path:
        return self.directory / "state"

    def save(self, epoch: Epoch, data: bytes) -> None:
        """Write a snapshot, then forget the oldest ones."""
        self.write(self.snapshots / f"{epoch.name}{_SUFFIX}", data)
        for old in snapshot_files(self.directory)[:-KEPT]:
            old.unlink()

    def latest(self) -> Stored | None:
        """The newest snapshot, if it is this plan's and Spark's checkpoint goes with it.

        Raises:
            ExecutionError: where going on would lose rows or count some twice.
        """
        files = snapshot_files(self.directory)
        if not files:
            if (done := newest_number(self.checkpoint / "commits")) is not None:
                raise _broken(self.directory, f"batch {done} was done, but its synopsis is missing")
            return None
        stored = read_snapshot(files[-1])
        if problem := self._mismatch(stored):
            raise _broken(self.directory, problem)
        return stored

    def _mismatch(self, stored: Stored) -> str | None:
        batch, query = stored.epoch.batch, self.query_id()
        if stored.head["plan"] != self.plan:
            return "its synopsis is of another plan"
        if query is None:
            return "it has a synopsis, but Spark's checkpoint is missing"
        if stored.head["query"] != query:
            return "its synopsis and Spark's checkpoint are of different runs"
        done = newest_number(self.checkpoint / "commits")
        if done is not None and done > batch:
            return f"batch {done} was done, but the newest synopsis is of batch {batch}"
        planned = newest_number(self.checkpoint / "offsets")
        if batch >= 0 and (planned is None or planned < batch):
            return f"the synopsis is of batch {batch}, which Spark's checkpoint does not know"
        return None

    def query_id(self) -> str | None:
        """The name that Spark gave to the query when it was first started."""
        try:
            text = (self.checkpoint / "metadata").read_text("utf-8")
        except FileNotFoundError:
            return None
        return str(json.loads(text)["id"])


@contextmanager
def hold_store(directory: Path, owner: Owner, write: Write) -> Iterator[Store]:
    """The state directory of `owner`, made if need be, and held by one process at a time.

    Raises:
        ExecutionError: where it belongs to another query or plan, or is in use.
    """
    _make(directory)
    _check_foreign(directory)
    with (directory / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"the state directory {str(directory)!r} is in use"
            hint = "Stop the other run, or name another directory."
            raise Mistake.STATE_IN_USE.error(message, hint) from None
        _own(directory, owner, write)
        yield Store(directory, owner.plan, write)


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        sync_directory(directory.parent)
    except OSError as error:
        message = f"cannot make the state directory {str(directory)!r}: {error.strerror}"
        raise Mistake.UNWRITABLE_FILE.error(message, "Name a directory.") from None


def _check_foreign(directory: Path) -> None:
    others = [p.name for p in directory.iterdir() if not _is_ours(p)]
    if others and _OWNER not in others:
        message = f"{str(directory)!r} is no state directory: it has {min(others)!r}"
        raise Mistake.FOREIGN_STATE.error(message, "Name an empty or a new directory.")


def _own(directory: Path, owner: Owner, write: Write) -> None:
    if (directory / _OWNER).exists():
        _check_owner(directory, owner)
    else:
        write(directory / _OWNER, json.dumps(asdict(owner)).encode())


def _is_ours(path: Path) -> bool:
    return path.name == ".lock" or path.name.endswith(UNFINISHED)


def _check_owner(directory: Path, owner: Owner) -> None:
    known = _owner(directory)
    if known.plan != owner.plan:
        first = " ".join(known.query.split())
        message = f"the state in {str(directory)!r} belongs to another query or plan: {first[:80]}"
        hint = "Give every query its own directory, and a new one after every change."
        raise Mistake.FOREIGN_STATE.error(message, hint)
    changed = [name for name, digest in owner.static.items() if known.static.get(name) != digest]
    if changed:
        # The state knows static rows by their place, and matches that they were part of.
        message = f"the static relation {changed[0]!r} is not the one that {str(directory)!r} knows"
        hint = "Begin with a new directory, or restore the relation."
        raise Mistake.FOREIGN_STATE.error(message, hint)


def _broken(directory: Path, problem: str) -> ExecutionError:
    hint = "Restore the whole directory from one backup, or begin with a new one."
    message = f"cannot go on with {str(directory)!r}: {problem}"
    return Mistake.BROKEN_STATE.error(message, hint)


def snapshot_files(directory: Path) -> list[Path]:
    """The snapshots, the newest last."""
    return sorted((directory / "state").glob(f"[0-9]*{_SUFFIX}"), key=lambda p: p.stem)


def read_snapshot(path: Path) -> Stored:
    try:
        return open_snapshot(path.read_bytes())
    except ValueError as error:
        raise _broken(path.parent.parent, f"{path.name}: {error}") from None


def _owner(directory: Path) -> Owner:
    return Owner(**json.loads((directory / _OWNER).read_text("utf-8")))


def read_owner(directory: Path) -> str:
    """The query that a state directory belongs to."""
    try:
        return _owner(directory).query
    except OSError:
        message = f"{str(directory)!r} is no state directory"
        hint = "Name the directory that --state was given to."
        raise Mistake.FOREIGN_STATE.error(message, hint) from None


def inspect_store(directory: Path) -> dict[str, Any]:
    """What a state directory holds, as JSON has it.

    Raises:
        ExecutionError: where it is none, or damaged.
    """
    files = snapshot_files(directory)
    query = read_owner(directory)
    newest = _described(files[-1]) if files else None
    names = [path.stem for path in files]
    return {"query": query, "plan": _owner(directory).plan, "newest": newest, "snapshots": names}


def _described(path: Path) -> dict[str, Any]:
    stored = read_snapshot(path)
    shown = {name: stored.head[name] for name in ("units", "closed", "report", "sources")}
    epoch = {"batch": stored.epoch.batch, "ended": stored.epoch.ended}
    return {**epoch, "bytes": path.stat().st_size, **shown}


def newest_number(directory: Path) -> int | None:
    """The newest batch in one of Spark's logs."""
    if not directory.is_dir():
        return None
    return max((int(p.name) for p in directory.iterdir() if p.name.isdigit()), default=None)
