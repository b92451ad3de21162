"""The kinds of mistakes that a setting file can contain, and their codes."""

from __future__ import annotations

from enum import Enum

from obda_bm.diagnostics import Diagnostic, Span


class Mistake(Enum):
    """One code per kind, so that a user can look it up and a program can tell them apart."""

    UNREADABLE_FILE = "OBM101"
    NOT_UTF8_TEXT = "OBM102"
    NOT_TOML = "OBM103"
    UNKNOWN_KEY = "OBM104"
    MISSING_KEY = "OBM105"
    WRONG_TOML_TYPE = "OBM106"
    NOTHING_DECLARED = "OBM107"
    BAD_IDENTIFIER = "OBM108"
    NAME_CLASH = "OBM109"
    NO_COLUMNS = "OBM110"
    BAD_SQL_TYPE = "OBM111"
    UNKNOWN_COLUMN = "OBM112"
    BAD_TIME_COLUMN = "OBM113"
    BAD_KEY = "OBM114"
    BAD_END = "OBM115"
    NUMBER_OUT_OF_RANGE = "OBM116"
    BAD_FILE_NAME = "OBM117"
    BLANK_TEXT = "OBM118"

    def at(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint)
