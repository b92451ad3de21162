"""Texts of SQL types, and what is wrong with some."""

from dataclasses import replace

import pytest

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
from obda_bm.setting.sql_types import ColumnType, TypeMistake, read_sql_type


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("INTEGER", INTEGER),
        ("BIGINT", replace(INTEGER, name="BIGINT")),
        ("smallint", replace(INTEGER, name="SMALLINT")),
        ("TinyInt", replace(INTEGER, name="TINYINT")),
        ("DECIMAL(5,1)", decimal(5, 1)),
        ("decimal ( 5 , 1 )", decimal(5, 1)),
        ("NUMERIC(5)", replace(decimal(5, 0), name="NUMERIC(5,0)")),
        ("NUMERIC", replace(DOUBLE, name="NUMERIC")),
        ("REAL", replace(DOUBLE, name="REAL")),
        ("FLOAT", replace(DOUBLE, name="FLOAT")),
        ("double \t precision", replace(DOUBLE, name="DOUBLE PRECISION")),
        ("BOOLEAN", BOOLEAN),
        ("DATE", DATE),
        (" TIMESTAMP\n", TIMESTAMP),
        ("TIMESTAMP WITH TIME ZONE", replace(TIMESTAMP, name="TIMESTAMP WITH TIME ZONE")),
        ("TIMESTAMPTZ", replace(TIMESTAMP, name="TIMESTAMPTZ")),
        ("DATETIME", replace(TIMESTAMP, name="DATETIME")),
        ("TEXT", TEXT),
        ("STRING", replace(TEXT, name="STRING")),
        ("CHAR(3)", replace(TEXT, name="CHAR(3)")),
        ("varchar( 20 )", replace(TEXT, name="VARCHAR(20)")),
        ("UUID", replace(TEXT, name="UUID")),
        ("IRI", replace(TEXT, name="IRI")),
        ("ENUM('a','b')", enumeration(("a", "b"))),
        ("enum ( 'A, b)' , 'it''s', '' )", enumeration(("A, b)", "it's", ""))),
        ("ENUM('x NOT NULL')", enumeration(("x NOT NULL",))),
    ],
)
def test_types(text: str, type_: SqlType) -> None:
    assert read_sql_type(text) == ColumnType(type_, nullable=True)
    assert read_sql_type(text + " NULL") == ColumnType(type_, nullable=True)
    assert read_sql_type(text + " not  null ") == ColumnType(type_, nullable=False)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("INTEGRE", "unknown SQL type 'INTEGRE'", "'INTEGER'"),
        ("BLOB", "unknown SQL type 'BLOB'", "Known types"),
        ("", "cannot read ''", "Write a type"),
        ("INTEGER, TEXT", "cannot read", "Write a type"),
        ("DECIMAL(5,1", "cannot read", "Write a type"),
        ("DECIMAL(1,5)", "precision and scale of DECIMAL", "scale <= precision"),
        ("DECIMAL(0)", "precision and scale", "1 <= precision"),
        ("DECIMAL(9999,9999)", "precision and scale", "<= 1000"),
        ("DECIMAL(" + "9" * 9999 + ")", "precision and scale", "<= 1000"),
        ("NUMERIC(5,-1)", "precision and scale of NUMERIC", "0 <= scale"),
        ("VARCHAR(0)", "length of VARCHAR", "VARCHAR(20)"),
        ("CHAR(max)", "length of CHAR", "CHAR(20)"),
        ("DATE(3)", "DATE takes no arguments", "Write DATE."),
        ("ENUM", "values of ENUM", "single quotes"),
        ("ENUM()", "values of ENUM", "single quotes"),
        ("ENUM(a)", "values of ENUM", "single quotes"),
        ("ENUM('a',)", "values of ENUM", "single quotes"),
        ("ENUM('a','a')", "twice", "each once"),
        ("a" + " " * 20000 + "!", "cannot read", "Write a type"),
    ],
)
def test_mistakes(text: str, message: str, hint: str) -> None:
    found = read_sql_type(text)
    assert isinstance(found, TypeMistake)
    assert message in found.message
    assert hint in found.hint
