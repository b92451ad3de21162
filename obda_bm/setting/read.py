"""The setting file -> Setting."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from obda_bm.diagnostics import Diagnostic, SettingError, SourceText
from obda_bm.ir.catalog import Catalog
from obda_bm.setting.document import (
    Node,
    elements,
    known_members,
    members,
    parse,
    read_source,
    string,
)
from obda_bm.setting.foreign_keys import with_foreign_keys
from obda_bm.setting.mistakes import Mistake
from obda_bm.setting.tables import CheckText, check_names, read_checks, read_relation, read_stream

_TABLES = ("ontology", "mapping", "streams", "relations")


@dataclass(frozen=True, slots=True)
class Setting:
    """What queries range over, and where the ontologies and mappings lie.

    The relations of `catalog` have no checks yet: those are SQL, which is not read here.
    """

    catalog: Catalog
    checks: tuple[CheckText, ...]
    ontologies: tuple[Path, ...]
    mappings: tuple[Path, ...]
    directory: Path
    source: SourceText = field(repr=False)


def read_setting(path: Path) -> Setting:
    """The setting in the TOML file `path`; whether the files it names exist is not checked.

    Raises:
        SettingError: with every mistake in the file, in the order of the text.
    """
    source = read_source(path)
    mistakes: list[Diagnostic] = []
    setting = _setting(parse(source), path.parent, source, mistakes)
    if mistakes:
        raise SettingError(*sorted(mistakes, key=_start))
    return setting


def _start(mistake: Diagnostic) -> tuple[int, str]:
    return (mistake.span.start if mistake.span else 0, mistake.message)


def _setting(
    root: Node, directory: Path, source: SourceText, mistakes: list[Diagnostic]
) -> Setting:
    tables = known_members(root, _TABLES, (), mistakes)
    streams = _declared(tables, "streams", mistakes)
    relations = _declared(tables, "relations", mistakes)
    # A misspelt top-level key explains well enough why nothing is declared.
    if not streams and not relations and not mistakes:
        hint = "Declare what queries range over: [streams.NAME] or [relations.NAME]."
        message = "there are no streams and no relations"
        mistakes.append(Mistake.NOTHING_DECLARED.at(root.place, message, hint))
    check_names((*streams, *relations), mistakes)
    read = (
        *(read_stream(node, mistakes) for node in streams),
        *(read_relation(node, mistakes) for node in relations),
    )
    checks = (read_checks(node, mistakes) for node in (*streams, *relations))
    catalog = Catalog(tuple(relation for relation in read if relation is not None))
    return Setting(
        catalog=with_foreign_keys(catalog, (*streams, *relations), mistakes),
        checks=tuple(check for group in checks for check in group),
        ontologies=_files(tables, "ontology", directory, mistakes),
        mappings=_files(tables, "mapping", directory, mistakes),
        directory=directory,
        source=source,
    )


def _declared(tables: dict[str, Node], kind: str, mistakes: list[Diagnostic]) -> tuple[Node, ...]:
    if kind not in tables:
        return ()
    return tuple(members(tables[kind], f"Write [{kind}.NAME].", mistakes).values())


def _files(
    tables: dict[str, Node], table: str, directory: Path, mistakes: list[Diagnostic]
) -> tuple[Path, ...]:
    if table not in tables:
        return ()
    entries = known_members(tables[table], ("file",), ("file",), mistakes)
    names = (_file_name(e, mistakes) for node in entries.values() for e in elements(node))
    return tuple(directory / name for name in names if name is not None)


def _file_name(node: Node, mistakes: list[Diagnostic]) -> str | None:
    name = string(node, 'Write file = "path", or a list of paths.', mistakes)
    if name is not None and (not name.strip() or "\0" in name):
        hint = "Name a file, relative to this one."
        mistakes.append(Mistake.BAD_FILE_NAME.at(node.place, "not a file name", hint))
        return None
    return name
