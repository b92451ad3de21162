"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

Write = Callable[[Path, bytes], None]
"""Puts bytes under a path; a crash at any time leaves the old file or the new one."""

UNFINISHED = ".unfinished"


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` beside `path`, then rename; both survive a power failure in this order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}{UNFINISHED}")
    with beside.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(beside, path)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make renames and removals in `directory` durable."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
