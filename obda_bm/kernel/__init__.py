"""The kernel that maintains synopses: a pure function over Arrow tables, vectorised."""

from obda_bm.kernel.advance import Advanced, advance
from obda_bm.kernel.constraints import Violation, first_violation
from obda_bm.kernel.encoding import arrow_schema
from obda_bm.kernel.reduce import is_stored, needed, reduce, stack
from obda_bm.kernel.scan import WEIGHT
from obda_bm.kernel.state import KernelState, deserialise, initial_state, serialise, state_units

__all__ = [
    "WEIGHT",
    "Advanced",
    "KernelState",
    "Violation",
    "advance",
    "arrow_schema",
    "deserialise",
    "first_violation",
    "initial_state",
    "is_stored",
    "needed",
    "reduce",
    "serialise",
    "stack",
    "state_units",
]
