"""What can go wrong while a query runs, and the codes under which users look it up."""

from __future__ import annotations

from enum import Enum

from obda_bm.diagnostics import Diagnostic, ObdaError, Span


class ExecutionError(ObdaError):
    """The query cannot go on; `diagnostics` says which input or output is to blame."""


class Mistake(Enum):
    TOO_MANY_PENDING = "OBM501"
    NO_ROWS_GIVEN = "OBM502"
    NO_PLAN = "OBM503"
    UNREAD_FORMAT = "OBM510"
    NO_SUCH_FILE = "OBM511"
    UNREADABLE_FILE = "OBM512"
    MISSING_COLUMN = "OBM513"
    MISFIT = "OBM514"
    UNEXPECTED_NULL = "OBM515"
    AFTER_THE_END = "OBM516"
    VIOLATED_CHECK = "OBM517"
    NEEDS_A_PATH = "OBM521"
    UNWRITABLE_FILE = "OBM522"
    NO_SPARK = "OBM530"
    NO_JAVA = "OBM531"
    SPARK_FAILED = "OBM532"
    FOREIGN_STATE = "OBM533"
    BROKEN_STATE = "OBM534"
    STATE_IN_USE = "OBM535"
    BOUND_VIOLATED = "OBM536"
    NEAR_BOUND = "OBM537"
    NOT_RESUMABLE = "OBM538"
    NO_DRIVER = "OBM540"
    NO_DATABASE = "OBM541"
    QUERY_FAILED = "OBM542"
    WRONG_COLUMNS = "OBM543"
    BAD_IRI = "OBM544"
    ROW_FAILED = "OBM545"
    NO_ROCKSDB = "OBM546"
    NOT_PLACED = "OBM547"
    ONLY_LOCAL = "OBM548"

    def error(self, message: str, hint: str, span: Span | None = None) -> ExecutionError:
        return ExecutionError(Diagnostic(self.value, message, span, hint))
