"""Text of a SQL type -> the type and whether it admits NULL."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from obda_bm.diagnostics import did_you_mean
from obda_bm.ir.sqltypes import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    TEXT,
    TIMESTAMP,
    SqlType,
    decimal,
    enumeration,
)


@dataclass(frozen=True, slots=True)
class ColumnType:
    type: SqlType
    nullable: bool


@dataclass(frozen=True, slots=True)
class TypeMistake:
    """Why a text is not a SQL type, and what to write instead."""

    message: str
    hint: str


_TYPES = {
    "TINYINT": INTEGER,
    "SMALLINT": INTEGER,
    "INT": INTEGER,
    "INTEGER": INTEGER,
    "BIGINT": INTEGER,
    # Engines disagree about the scale of a bare DECIMAL, and PostgreSQL gives it none. Dense is
    # the safe reading: it never lets a range bound a column that has infinitely many values there.
    "DECIMAL": DOUBLE,
    "NUMERIC": DOUBLE,
    "REAL": DOUBLE,
    "FLOAT": DOUBLE,
    "DOUBLE": DOUBLE,
    "DOUBLE PRECISION": DOUBLE,
    "BOOLEAN": BOOLEAN,
    "DATE": DATE,
    "DATETIME": TIMESTAMP,
    "TIMESTAMP": TIMESTAMP,
    "TIMESTAMPTZ": TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": TIMESTAMP,
    "TIMESTAMP WITHOUT TIME ZONE": TIMESTAMP,
    "CHAR": TEXT,
    "CHARACTER": TEXT,
    "CHARACTER VARYING": TEXT,
    "VARCHAR": TEXT,
    "TEXT": TEXT,
    "STRING": TEXT,
    "UUID": TEXT,
    "IRI": TEXT,
}
_SIZED = ("CHAR", "CHARACTER", "CHARACTER VARYING", "VARCHAR")
_KNOWN = (*_TYPES, "ENUM")
# PostgreSQL's limit. Some limit there must be: the grain of DECIMAL(p,s) is computed as 10**s.
_MAX_PRECISION = 1000

# No two parts can share a blank, so that no text makes the match slow.
_DECLARATION = re.compile(
    r"""(?P<name> \w+ (?: \s+ \w+ )*? )
        (?: \s* \( (?P<arguments> .* ) \) )?
        (?: (?: \s+ | (?<=\)) ) (?P<null> (?: not\s+ )? null ) )?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII | re.DOTALL,
)
_PRECISION_SCALE = re.compile(r"\s*(\d{1,4})\s*(?:,\s*(\d{1,4})\s*)?", re.ASCII)
_SIZE = re.compile(r"\s*([1-9]\d{0,8})\s*", re.ASCII)
_QUOTED = r"\s*'((?:[^']|'')*)'\s*"
_QUOTED_LIST = re.compile(rf"{_QUOTED}(?:,{_QUOTED})*")


def read_sql_type(text: str) -> ColumnType | TypeMistake:
    """The column type that `text` declares; its name is as declared, in capitals.

    >>> read_sql_type("bigint not null") == ColumnType(replace(INTEGER, name="BIGINT"), False)
    True
    >>> read_sql_type("INTEGRE")
    TypeMistake(message="unknown SQL type 'INTEGRE'", hint="Did you mean 'INTEGER'?")
    """
    match = _DECLARATION.fullmatch(text.strip())
    if match is None:
        return TypeMistake(
            f"cannot read {text!r} as a SQL type",
            "Write a type such as INTEGER, DECIMAL(5,1) or VARCHAR(20) NOT NULL.",
        )
    name = " ".join(match["name"].upper().split())
    type_ = _type(name, match["arguments"])
    if isinstance(type_, TypeMistake):
        return type_
    return ColumnType(type_, nullable=(match["null"] or "null").lower() == "null")


def _type(name: str, arguments: str | None) -> SqlType | TypeMistake:
    if name == "ENUM":
        return _enumeration(arguments or "")
    if name not in _TYPES:
        return TypeMistake(
            f"unknown SQL type {name!r}",
            did_you_mean(name, _KNOWN) or f"Known types: {', '.join(_KNOWN)}.",
        )
    if arguments is None:
        return replace(_TYPES[name], name=name)
    if name in ("DECIMAL", "NUMERIC"):
        return _decimal(name, arguments)
    if name in _SIZED:
        return _sized(name, arguments)
    return TypeMistake(f"{name} takes no arguments", f"Write {name}.")


def _decimal(name: str, arguments: str) -> SqlType | TypeMistake:
    """DECIMAL(precision) or DECIMAL(precision, scale).

    >>> str(_decimal("NUMERIC", "5, 1")), str(_decimal("DECIMAL", "9"))
    ('NUMERIC(5,1)', 'DECIMAL(9,0)')
    """
    match = _PRECISION_SCALE.fullmatch(arguments)
    precision, scale = (int(match[1]), int(match[2] or 0)) if match else (0, 0)
    if not (1 <= precision <= _MAX_PRECISION and scale <= precision):
        return TypeMistake(
            f"cannot read the precision and scale of {name}",
            f"Write {name}(precision, scale) with 1 <= precision <= {_MAX_PRECISION} and "
            "0 <= scale <= precision.",
        )
    return replace(decimal(precision, scale), name=f"{name}({precision},{scale})")


def _sized(name: str, arguments: str) -> SqlType | TypeMistake:
    match = _SIZE.fullmatch(arguments)
    if match is None:
        return TypeMistake(
            f"the length of {name} is not a positive number", f"Write {name} or {name}(20)."
        )
    return replace(TEXT, name=f"{name}({match[1]})")


def _enumeration(arguments: str) -> SqlType | TypeMistake:
    """ENUM('a', 'b'), a quote in a value written twice.

    >>> _enumeration("'on', 'it''s off'").values
    ('on', "it's off")
    """
    hint = "List the values, each once and in single quotes: ENUM('on', 'off')."
    if _QUOTED_LIST.fullmatch(arguments) is None:
        return TypeMistake("cannot read the values of ENUM", hint)
    values = tuple(value.replace("''", "'") for value in re.findall(_QUOTED, arguments))
    if len(set(values)) != len(values):
        return TypeMistake("ENUM lists a value twice", hint)
    return enumeration(values)
