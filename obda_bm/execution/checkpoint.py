"""What a run of the local engine needs to go on after it was stopped or killed.

Sources are files, so rows that wait for others need not be kept: they are read again. What is kept
is the synopses, how many rows of each source were read, and which timestamps are closed.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from obda_bm.execution.local import RunReport
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.kernel import KernelState, deserialise, initial_state, serialise, state_units

VERSION = 1


@dataclass(frozen=True, slots=True)
class Position:
    """How far a source was read."""

    source: str
    rows: int
    late: int
    newest: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """All that a run needs to go on; rows before `closed` are done with."""

    kernel: KernelState
    report: RunReport
    closed: int | None = None
    positions: tuple[Position, ...] = ()


def begin(plan: SynopsisPlan, static: Mapping[str, pa.Table]) -> Checkpoint:
    """Nothing was read yet."""
    kernel = initial_state(plan, static)
    return Checkpoint(kernel, RunReport(plan.bound.units, peak_units=state_units(kernel)))


def fingerprint(plan: SynopsisPlan, static: Mapping[str, pa.Table]) -> str:
    """What must be the same for a run to go on: the plan, and the rows that never change."""
    digest = hashlib.sha256(repr((VERSION, plan)).encode())
    for name, table in sorted(static.items()):
        out = io.BytesIO()
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        digest.update(name.encode() + out.getvalue())
    return digest.hexdigest()


def as_bytes(checkpoint: Checkpoint, notes: Mapping[str, Any]) -> bytes:
    """The checkpoint, with notes of whoever writes it, and a checksum."""
    head = {
        "version": VERSION,
        "notes": notes,
        "report": asdict(checkpoint.report),
        "closed": checkpoint.closed,
        "positions": [asdict(position) for position in checkpoint.positions],
    }
    text = json.dumps(head).encode()
    body = len(text).to_bytes(8, "little") + text + serialise(checkpoint.kernel)
    return hashlib.sha256(body).digest() + body


def notes_of(data: bytes) -> dict[str, Any]:
    """The notes in a checkpoint.

    Raises:
        ValueError: where the bytes are damaged, or of another version.
    """
    notes: dict[str, Any] = _head(data)["notes"]
    return notes


def from_bytes(plan: SynopsisPlan, data: bytes, static: Mapping[str, pa.Table]) -> Checkpoint:
    head = _head(data)
    size = int.from_bytes(data[32:40], "little")
    return Checkpoint(
        deserialise(plan, data[40 + size :], static),
        RunReport(**{**head["report"], "bound_units": plan.bound.units}),
        head["closed"],
        tuple(Position(**position) for position in head["positions"]),
    )


def _head(data: bytes) -> dict[str, Any]:
    if len(data) < 40 or hashlib.sha256(data[32:]).digest() != data[:32]:
        raise ValueError("it is damaged")
    head: dict[str, Any] = json.loads(data[40 : 40 + int.from_bytes(data[32:40], "little")])
    if head["version"] != VERSION:
        raise ValueError(f"it has version {head['version']}, this program writes {VERSION}")
    return head
