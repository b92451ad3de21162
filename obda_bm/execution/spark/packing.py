"""Tables and parts of files as bytes."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.ipc

_MAGIC = b"obda-bm\0"
_LENGTH = 8


def pack(parts: Iterable[bytes]) -> bytes:
    """Parts one after another, each with its length.

    >>> unpack(pack([b"a", b"", b"bc"]))
    [b'a', b'', b'bc']
    """
    return b"".join(len(part).to_bytes(_LENGTH, "little") + part for part in parts)


def unpack(data: bytes) -> list[bytes]:
    source, parts = io.BytesIO(data), []
    while length := source.read(_LENGTH):
        parts.append(source.read(int.from_bytes(length, "little")))
    return parts


def seal(body: bytes) -> bytes:
    """`body` with a checksum."""
    return _MAGIC + hashlib.sha256(body).digest() + body


def unseal(data: bytes) -> bytes:
    """The body of what `seal` gave.

    Raises:
        ValueError: where it is damaged.
    """
    size = len(_MAGIC) + hashlib.sha256().digest_size
    digest, body = data[len(_MAGIC) : size], data[size:]
    if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != digest:
        raise ValueError("the file is damaged")
    return body


def to_ipc(table: pa.Table) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def from_ipc(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(pa.BufferReader(data)) as reader:
        return reader.read_all()


def in_order(table: pa.Table) -> pa.Table:
    """The rows in an order of their own: a database may give them in another one next time."""
    return table.sort_by([(name, "ascending") for name in table.column_names]).combine_chunks()


def digest(table: pa.Table) -> str:
    return hashlib.sha256(to_ipc(table)).hexdigest()
