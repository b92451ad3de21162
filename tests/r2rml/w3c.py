"""The W3C R2RML test cases: their databases, mappings and expected graphs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    name: str
    folder: Path
    mapping: Path
    expected: Path | None

    @property
    def create(self) -> str:
        return (self.folder / "create.sql").read_text("utf-8")


def cases(reference: Path) -> list[Case]:
    """The cases of all manifests; the variants that allow for other float formats are left out."""
    found = []
    for manifest in sorted((reference / "w3c-rdb2rdf").glob("*/manifest.ttl")):
        for block in re.split(r"\n(?=<)", manifest.read_text("utf-8")):
            name = re.match(r"<tc(\w+)> a rdb2rdftest:R2RML", block)
            if name is None:
                continue
            mapping = re.search(r'mappingDocument "(.*?)"', block)
            output = re.search(r'rdb2rdftest:output "(.*?)"', block)
            succeeds = "hasExpectedOutput true" in block
            assert mapping is not None
            folder = manifest.parent
            expected = folder / output[1] if succeeds and output else None
            found.append(Case(name[1], folder, folder / mapping[1], expected))
    return found


def for_duckdb(script: str) -> str:
    """DuckDB's types take no length, and a constraint cannot be added later."""
    script = re.sub(r"VARBINARY\(\d+\)", "BLOB", script)
    return re.sub(r"ALTER TABLE[^;]*;", "", script)


def for_postgresql(script: str) -> str:
    script = re.sub(r"VARBINARY\(\d+\)", "BYTEA", script)
    return re.sub(r"X'([0-9A-F]+)'", r"'\\x\1'", script)
