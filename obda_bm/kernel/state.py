"""What survives between batches: plain arrays, of stable layout."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.ipc

from obda_bm.ir.plan import Memory, SynopsisPlan
from obda_bm.kernel.emit import result_table
from obda_bm.kernel.encoding import TextPool
from obda_bm.kernel.scan import codec
from obda_bm.kernel.sharing import signature
from obda_bm.kernel.stores import Store, as_table, empty_store, from_table

VERSION = 2


@dataclass(frozen=True, slots=True, eq=False)
class KernelState:
    """One store per synopsis of each branch, the static tables, and what was emitted.

    Synopses that always hold the same have one store, the very same object.
    """

    synopses: tuple[tuple[Store, ...], ...]
    emitted: pa.Table | None
    static: Mapping[str, pa.Table]
    started: bool = False

    def stores(self) -> list[Store]:
        """The different stores."""
        return list({id(store): store for branch in self.synopses for store in branch}.values())


def initial_state(plan: SynopsisPlan, static: Mapping[str, pa.Table]) -> KernelState:
    """Nothing has arrived yet."""
    stores: dict[Hashable, Store] = {}
    synopses = tuple(
        tuple(
            stores.setdefault(signature(branch, i), empty_store(s, codec(branch, TextPool())))
            for i, s in enumerate(branch.synopses)
        )
        for branch in plan.branches
    )
    emitted = result_table(plan).drop(["time", "count"]) if plan.emitted is Memory.STORED else None
    return KernelState(synopses, emitted, dict(static))


def shared(before: KernelState, after: Sequence[Sequence[Store]]) -> tuple[tuple[Store, ...], ...]:
    """The stores `after` a batch, with one for all synopses that had one `before`."""
    first: dict[int, Store] = {}
    return tuple(
        tuple(first.setdefault(id(a), b) for a, b in zip(old, new, strict=True))
        for old, new in zip(before.synopses, after, strict=True)
    )


def state_units(state: KernelState) -> int:
    """The units in use: a counter, a presence or an extreme value is one."""
    kept = sum(len(store) * max(1, len(store.extremes)) for store in state.stores())
    return kept + (0 if state.emitted is None else int(state.emitted.num_rows))


def serialise(state: KernelState) -> bytes:
    """The state as bytes; static relations are not part of it, they are read again."""
    stores = state.stores()
    tables = [*map(as_table, stores), *([] if state.emitted is None else [state.emitted])]
    head = {
        "version": VERSION,
        "synopses": [[_index(stores, s) for s in branch] for branch in state.synopses],
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


def _index(stores: Sequence[Store], wanted: Store) -> int:
    return next(i for i, store in enumerate(stores) if store is wanted)


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
    indexes = head["synopses"]
    if [len(branch) for branch in indexes] != [len(branch.synopses) for branch in plan.branches]:
        raise ValueError("the state belongs to another plan")
    many = 1 + max((i for branch in indexes for i in branch), default=-1)
    stores = [from_table(_read(source)) for _ in range(many)]
    synopses = tuple(tuple(stores[i] for i in branch) for branch in indexes)
    emitted = _read(source) if head["emitted"] else None
    return KernelState(synopses, emitted, dict(static or {}), head["started"])


def _read(source: io.BytesIO) -> pa.Table:
    size = int.from_bytes(source.read(8), "little")
    with pa.ipc.open_stream(io.BytesIO(source.read(size))) as reader:
        return reader.read_all()
