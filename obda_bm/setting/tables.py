"""The tables [streams.NAME] and [relations.NAME] of a setting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from obda_bm.diagnostics import Diagnostic, Span, cover, did_you_mean
from obda_bm.ir.catalog import Column, Extent, Relation, Source
from obda_bm.ir.sqltypes import DAY, FIRST_INSTANT, Family, SqlType, instant
from obda_bm.setting.document import (
    Node,
    elements,
    integer,
    known_members,
    members,
    missing,
    string,
    wrong_type,
)
from obda_bm.setting.mistakes import Mistake
from obda_bm.setting.positions import inside_quotes
from obda_bm.setting.sql_types import TypeMistake, read_sql_type

STREAM_KEYS = ("time", "columns", "check", "key", "foreign_key", "end", "rows", "source")
RELATION_KEYS = ("columns", "check", "key", "foreign_key", "rows", "source")

_LAST_INSTANT = instant("9999-12-31T23:59:59.999999")

Columns = dict[str, Column | None]
"""By name; None where the name is declared but its type cannot be read."""


@dataclass(frozen=True, slots=True)
class CheckText:
    """The SQL of a constraint on `relation`.

    `span` is what stands between the quotes. Offsets in `text` are offsets in the span unless the
    TOML string contains escapes, so that `span.text` differs from `text`.
    """

    relation: str
    text: str
    span: Span


def read_relation(node: Node, mistakes: list[Diagnostic]) -> Relation:
    entries = known_members(node, RELATION_KEYS, ("columns",), mistakes)
    return _static(node, entries, _columns(entries, mistakes), mistakes)


def read_stream(node: Node, mistakes: list[Diagnostic]) -> Relation | None:
    """The stream; None, and a mistake, where its time column is in doubt."""
    entries = known_members(node, STREAM_KEYS, ("time", "columns"), mistakes)
    columns = _columns(entries, mistakes)
    time = _time(entries, columns, mistakes)
    end = _end(entries, time.type if time else None, mistakes)
    relation = _static(node, entries, columns, mistakes)
    if time is None:
        return None
    return replace(
        relation,
        columns=tuple(
            replace(c, nullable=False) if c.name == time.name else c for c in relation.columns
        ),
        extent=Extent.INFINITE if end is None else Extent.FINITE,
        time=time.name,
        end=end,
    )


def read_checks(node: Node, mistakes: list[Diagnostic]) -> tuple[CheckText, ...]:
    """The texts under `check` in a stream or relation; one string is a list of one."""
    if not isinstance(node.value, dict) or "check" not in node.value:
        return ()
    hint = 'Write a condition in SQL, such as check = ["value > 0"].'
    checks = []
    for element in elements(node.child("check", node.value["check"])):
        text = _text(element, hint, mistakes)
        if text is not None:
            checks.append(CheckText(node.name, text, inside_quotes(element.place)))
    return tuple(checks)


def check_names(nodes: Iterable[Node], mistakes: list[Diagnostic]) -> None:
    """SQL must be able to write each name, and to tell it from the others in any case."""
    seen: dict[str, Node] = {}
    for node in nodes:
        if not node.name.strip() or not node.name.isprintable():
            message = f"{node.name!r} cannot be a name"
            hint = "Name it with at least one visible character, and no control characters."
            mistakes.append(Mistake.BAD_IDENTIFIER.at(node.key, message, hint))
        other = seen.setdefault(node.name.lower(), node)
        if other is not node:
            message = (
                f"{node.name!r} is declared twice"
                if node.name == other.name
                else f"{node.name!r} differs from {other.name!r} only in case"
            )
            hint = f"Rename one of the two; the other is in line {other.key.line}."
            mistakes.append(Mistake.NAME_CLASH.at(node.key, message, hint))


def _static(
    node: Node, entries: dict[str, Node], columns: Columns | None, mistakes: list[Diagnostic]
) -> Relation:
    keys = _keys(entries, columns, mistakes)
    in_key = {name for key in keys for name in key}
    return Relation(
        name=node.name,
        columns=tuple(
            replace(column, nullable=column.nullable and column.name not in in_key)
            for column in (columns or {}).values()
            if column is not None
        ),
        extent=Extent.STATIC,
        keys=keys,
        rows=_rows(entries, mistakes),
        source=_source(entries, mistakes),
        span=node.key,
    )


def _columns(entries: dict[str, Node], mistakes: list[Diagnostic]) -> Columns | None:
    """The columns by name; None where there is nothing that other keys could refer to."""
    if "columns" not in entries:
        return None
    hint = 'Write columns = { name = "INTEGER", … }.'
    node = entries["columns"]
    declared = members(node, hint, mistakes)
    if node.value == {}:
        mistakes.append(Mistake.NO_COLUMNS.at(node.place, "there are no columns", hint))
    check_names(declared.values(), mistakes)
    return {name: _column(column, mistakes) for name, column in declared.items()} or None


def _column(node: Node, mistakes: list[Diagnostic]) -> Column | None:
    text = string(node, 'Write the SQL type in quotes, such as "INTEGER".', mistakes)
    if text is None:
        return None
    declared = read_sql_type(text)
    if isinstance(declared, TypeMistake):
        mistakes.append(Mistake.BAD_SQL_TYPE.at(node.place, declared.message, declared.hint))
        return None
    return Column(node.name, declared.type, declared.nullable, cover((node.key, node.place)))


def _is_column(node: Node, name: str, columns: Columns, mistakes: list[Diagnostic]) -> bool:
    if name in columns:
        return True
    hint = did_you_mean(name, columns) or f"The columns are {', '.join(columns)}."
    mistakes.append(Mistake.UNKNOWN_COLUMN.at(node.place, f"there is no column {name!r}", hint))
    return False


def _time(
    entries: dict[str, Node], columns: Columns | None, mistakes: list[Diagnostic]
) -> Column | None:
    if "time" not in entries:
        return None
    node = entries["time"]
    name = string(node, 'Name the time column, as in time = "ts".', mistakes)
    if name is None or columns is None or not _is_column(node, name, columns, mistakes):
        return None
    column = columns[name]
    if column is not None and not (_counts_ticks(column.type) or _is_instant(column.type)):
        message = f"a column of type {column.type} cannot be the time"
        hint = "Name a column of type TIMESTAMP, DATE or INTEGER."
        mistakes.append(Mistake.BAD_TIME_COLUMN.at(node.place, message, hint))
        return None
    return column


def _counts_ticks(type_: SqlType) -> bool:
    return type_.family is Family.NUMBER and type_.grain == 1


def _is_instant(type_: SqlType) -> bool:
    return type_.family is Family.INSTANT


def _end(entries: dict[str, Node], time: SqlType | None, mistakes: list[Diagnostic]) -> int | None:
    """The last timestamp, in ticks of the time column; `time` is None where that is in doubt."""
    if "end" not in entries:
        return None
    node = entries["end"]
    if time is not None and _counts_ticks(time):
        hint = f"The time column is {time}: write the last timestamp as a number from 0."
        return integer(node, 0, hint, mistakes)
    if time is None and type(node.value) is int:
        return None
    return _instant_end(node, time, mistakes)


def _instant_end(node: Node, time: SqlType | None, mistakes: list[Diagnostic]) -> int | None:
    hint = 'Write the last timestamp, as in end = "2026-01-01T00:00:00".'
    if not isinstance(node.value, str | date):
        mistakes.append(wrong_type(node, "a timestamp", hint))
        return None
    text = node.value if isinstance(node.value, str) else node.value.isoformat()
    try:
        end = instant(text)
    except ValueError:
        mistakes.append(Mistake.BAD_END.at(node.place, "not a timestamp in ISO 8601", hint))
        return None
    if not FIRST_INSTANT <= end <= _LAST_INSTANT:
        message = "the timestamp is not, in UTC, in the years 1 to 9999"
        mistakes.append(Mistake.BAD_END.at(node.place, message, hint))
        return None
    if time is not None and time.grain == DAY and end % DAY:
        message = f"the time column is {time}, but the end has a time of day"
        hint = 'Write the last day, as in end = "2026-01-01".'
        mistakes.append(Mistake.BAD_END.at(node.place, message, hint))
        return None
    return end


_KEY_HINT = 'Write key = ["column", …], or a list of such lists for several keys.'


def _keys(
    entries: dict[str, Node], columns: Columns | None, mistakes: list[Diagnostic]
) -> tuple[tuple[str, ...], ...]:
    if "key" not in entries:
        return ()
    node = entries["key"]
    if not isinstance(node.value, list):
        mistakes.append(wrong_type(node, "a list", _KEY_HINT))
        return ()
    several = any(isinstance(value, list) for value in node.value)
    keys = elements(node) if several else (node,)
    return tuple(_key(key, columns, mistakes) for key in keys)


def _key(node: Node, columns: Columns | None, mistakes: list[Diagnostic]) -> tuple[str, ...]:
    if not isinstance(node.value, list):  # a name beside lists
        mistakes.append(wrong_type(node, "a list", _KEY_HINT))
        return ()
    if not node.value:
        mistakes.append(Mistake.BAD_KEY.at(node.place, "a key without columns", _KEY_HINT))
    names: list[str] = []
    for element in elements(node):
        name = string(element, _KEY_HINT, mistakes)
        if name is None or (columns and not _is_column(element, name, columns, mistakes)):
            continue
        if name in names:
            message = f"{name!r} is in the key already"
            hint = "Name each column of a key once."
            mistakes.append(Mistake.BAD_KEY.at(element.place, message, hint))
        names.append(name)
    return tuple(names)


def _rows(entries: dict[str, Node], mistakes: list[Diagnostic]) -> int | None:
    if "rows" not in entries:
        return None
    return integer(entries["rows"], 1, "Write how many rows there are at most.", mistakes)


def _source(entries: dict[str, Node], mistakes: list[Diagnostic]) -> Source | None:
    if "source" not in entries:
        return None
    node = entries["source"]
    hint = 'Write source = { format = "parquet", path = "…" }.'
    options = members(node, hint, mistakes)
    format_ = options.pop("format", None)
    values = ((name, _option(option, mistakes)) for name, option in options.items())
    read = tuple((name, value) for name, value in values if value is not None)
    if format_ is None:
        if isinstance(node.value, dict):
            mistakes.append(missing(node, "format", hint))
        return None
    name = _text(format_, hint, mistakes)
    return None if name is None else Source(name, read)


def _option(node: Node, mistakes: list[Diagnostic]) -> str | int | float | bool | None:
    hint = "An option of a source is a string, a number, true or false."
    if isinstance(node.value, str | float | bool):
        return node.value
    if isinstance(node.value, int):
        return integer(node, -(2**63), hint, mistakes)
    mistakes.append(wrong_type(node, "a string, a number or a boolean", hint))
    return None


def _text(node: Node, hint: str, mistakes: list[Diagnostic]) -> str | None:
    """A string that says something."""
    text = string(node, hint, mistakes)
    if text is not None and not text.strip():
        mistakes.append(Mistake.BLANK_TEXT.at(node.place, "the text is blank", hint))
        return None
    return text
