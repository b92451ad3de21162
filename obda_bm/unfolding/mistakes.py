"""What can keep a query from being unfolded, and the codes under which users look it up."""

from __future__ import annotations

from enum import Enum

from obda_bm.diagnostics import Diagnostic, Severity, Span, UnfoldingError


class Mistake(Enum):
    UNKNOWN_TABLE = "OBM720"
    UNKNOWN_COLUMN = "OBM721"
    AMBIGUOUS_COLUMN = "OBM722"
    SEVERAL_STREAMS = "OBM723"
    MIXED_TYPES = "OBM730"
    UNDECIDED_TEMPLATES = "OBM731"
    TOO_MANY_BRANCHES = "OBM732"
    STATE_WITHOUT_STREAM = "OBM733"
    INCOMPARABLE = "OBM734"
    NEVER_TRUE = "OBM735"
    NO_MAPPING = "OBM736"
    UNORDERED_TEXT = "OBM737"
    TIME_AND_VALUE = "OBM738"
    UNKNOWN_TERM = "OBM740"
    UNMAPPED = "OBM741"
    WRONG_KIND = "OBM742"
    DATATYPE_CLASH = "OBM743"
    NEVER_JOINS = "OBM744"
    AMBIGUOUS_TEMPLATE = "OBM745"
    STATIC_READS_STREAM = "OBM746"

    def at(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint)

    def warn(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint, Severity.WARNING)

    def error(self, span: Span | None, message: str, hint: str) -> UnfoldingError:
        return UnfoldingError(self.at(span, message, hint))
