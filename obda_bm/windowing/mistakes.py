"""Why a query cannot be evaluated window by window, and the codes under which users look it up."""

from __future__ import annotations

from enum import Enum

from obda_bm.diagnostics import Diagnostic, Severity, Span, WindowError


class Mistake(Enum):
    NEEDS_WINDOW = "OBM450"
    UNKNOWN_STREAM = "OBM451"
    NO_STREAM = "OBM452"
    COUNTED_TIME = "OBM453"
    DIFFERENT_SLIDES = "OBM454"
    UNUSED_SLACK = "OBM455"
    TWICE = "OBM457"

    def at(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint)

    def warn(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint, Severity.WARNING)

    def error(self, span: Span | None, message: str, hint: str) -> WindowError:
        return WindowError(self.at(span, message, hint))
