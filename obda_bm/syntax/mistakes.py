"""The kinds of mistakes that a STARQL text can contain, and their codes."""

from __future__ import annotations

from enum import Enum

from obda_bm.diagnostics import Diagnostic, Span, StarqlError


class Mistake(Enum):
    """One code per kind, so that a user can look it up and a program can tell them apart."""

    UNREADABLE = "OBM401"
    UNEXPECTED = "OBM402"
    UNKNOWN_KEYWORD = "OBM403"
    UNDECLARED_PREFIX = "OBM404"
    BAD_IRI = "OBM405"
    BAD_DURATION = "OBM406"
    BAD_TIMESTAMP = "OBM407"
    UNKNOWN_ZONE = "OBM408"
    UNSUPPORTED_PATTERN = "OBM409"
    REPEATED = "OBM410"
    MISSING_CLAUSE = "OBM411"
    WRONG_SORT = "OBM412"
    UNKNOWN_DATATYPE = "OBM413"
    UNKNOWN_PULSE = "OBM420"
    UNKNOWN_SEQUENCE = "OBM421"
    UNKNOWN_STATE = "OBM422"
    UNKNOWN_FUNCTION = "OBM423"
    WRONG_ARITY = "OBM424"
    CYCLIC_AGGREGATE = "OBM425"
    UNKNOWN_PARAMETER = "OBM426"
    BAD_ARGUMENT = "OBM427"
    CYCLIC_STREAMS = "OBM428"
    UNSAFE = "OBM430"
    NOT_GROUPED = "OBM431"
    MISPLACED_AGGREGATE = "OBM432"
    BAD_WINDOW = "OBM440"
    BAD_PULSE = "OBM441"
    UNKNOWN_SEQUENCING = "OBM442"
    TOO_MANY_BRANCHES = "OBM443"

    def at(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint)

    def error(self, span: Span | None, message: str, hint: str) -> StarqlError:
        return StarqlError(self.at(span, message, hint))
