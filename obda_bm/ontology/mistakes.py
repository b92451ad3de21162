"""The kinds of trouble with ontology files, and their codes."""

from __future__ import annotations

from enum import Enum

from obda_bm.diagnostics import Diagnostic, Severity, Span


class Mistake(Enum):
    """One code per kind, so that a user can look it up and a program can tell them apart."""

    UNREADABLE = "OBM601"
    TOO_LARGE = "OBM602"
    UNKNOWN_FORMAT = "OBM603"
    MALFORMED = "OBM604"
    ENTITIES = "OBM605"
    IMPORT = "OBM606"
    REMOTE_CONTEXT = "OBM607"
    OUTSIDE_PROFILE = "OBM610"
    PARTLY_OUTSIDE = "OBM611"
    ASSERTIONS = "OBM612"

    def at(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint)

    def warn(self, span: Span | None, message: str, hint: str) -> Diagnostic:
        return Diagnostic(self.value, message, span, hint, Severity.WARNING)
