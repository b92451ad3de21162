"""What can be wrong with a mapping, and the codes under which users look it up."""

from __future__ import annotations

from enum import Enum

from obda_bm.diagnostics import Diagnostic, MappingError, Severity, Span


class Mistake(Enum):
    UNREADABLE_FILE = "OBM701"
    SYNTAX = "OBM702"
    UNKNOWN_TERM = "OBM703"
    MISSING = "OBM704"
    TOO_MANY = "OBM705"
    WRONG_NODE = "OBM706"
    BAD_TEMPLATE = "OBM707"
    BAD_TERM_TYPE = "OBM708"
    BAD_LANGUAGE = "OBM709"
    BAD_IDENTIFIER = "OBM710"
    UNKNOWN_PARENT = "OBM711"
    NO_TRIPLES_MAP = "OBM712"
    BAD_IRI = "OBM713"
    DUPLICATE_ID = "OBM714"

    def at(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint)

    def warn(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint, Severity.WARNING)

    def error(self, span: Span | None, message: str, hint: str) -> MappingError:
        return MappingError(self.at(span, message, hint))
