"""What survives between batches: plain arrays, of stable layout."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.ipc

from obda_bm.ir.plan import SynopsisPlan

VERSION = 1


@dataclass(frozen=True, slots=True)
class KernelState:
    """One Arrow table per synopsis of each branch, the static tables, and what was emitted.

    A synopsis has its key columns k0, k1, …, and `count` (text of a whole number of any size) or
    extremes e0, e1, …
    """

    synopses: tuple[tuple[pa.Table, ...], ...]
    emitted: pa.Table | None
    static: Mapping[str, pa.Table]
    started: bool = False

    def tables(self) -> Sequence[pa.Table]:
        return [table for branch in self.synopses for table in branch]


def state_units(state: KernelState) -> int:
    """The units in use: a counter, a presence or an extreme value is one."""
    kept = sum(int(table.num_rows) * _each(table) for table in state.tables())
    return kept + (0 if state.emitted is None else int(state.emitted.num_rows))


def _each(table: pa.Table) -> int:
    return max(1, len([name for name in table.column_names if name.startswith("e")]))


def serialise(state: KernelState) -> bytes:
    """The state as bytes; static relations are not part of it, they are read again."""
    tables = [*state.tables(), *([] if state.emitted is None else [state.emitted])]
    head = {
        "version": VERSION,
        "synopses": [len(branch) for branch in state.synopses],
        "emitted": state.emitted is not None,
        "started": state.started,
    }
    out = io.BytesIO()
    text = json.dumps(head).encode()
    out.write(len(text).to_bytes(8, "little") + text)
    for table in tables:
        buffer = io.BytesIO()
        with pa.ipc.new_stream(buffer, table.schema) as writer:
            writer.write_table(table)
        out.write(len(buffer.getvalue()).to_bytes(8, "little") + buffer.getvalue())
    return out.getvalue()


def deserialise(
    plan: SynopsisPlan, data: bytes, static: Mapping[str, pa.Table] | None = None
) -> KernelState:
    """The state that `serialise` wrote; `static` are the static relations, as at the start.

    Raises:
        ValueError: where the bytes are of another version, or of another plan.
    """
    source = io.BytesIO(data)
    head = json.loads(source.read(int.from_bytes(source.read(8), "little")))
    if head["version"] != VERSION:
        raise ValueError(f"the state has version {head['version']}, this program {VERSION}")
    if head["synopses"] != [len(branch.synopses) for branch in plan.branches]:
        raise ValueError("the state belongs to another plan")
    counts = head["synopses"]
    synopses = tuple(tuple(_read(source) for _ in range(count)) for count in counts)
    emitted = _read(source) if head["emitted"] else None
    return KernelState(synopses, emitted, dict(static or {}), head["started"])


def _read(source: io.BytesIO) -> pa.Table:
    size = int.from_bytes(source.read(8), "little")
    with pa.ipc.open_stream(io.BytesIO(source.read(size))) as reader:
        return reader.read_all()
