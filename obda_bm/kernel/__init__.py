"""The kernel that maintains synopses: a pure function over Arrow tables, vectorised."""

from obda_bm.kernel.advance import Advanced, advance
from obda_bm.kernel.encoding import arrow_schema
from obda_bm.kernel.state import KernelState, deserialise, initial_state, serialise, state_units

__all__ = [
    "Advanced",
    "KernelState",
    "advance",
    "arrow_schema",
    "deserialise",
    "initial_state",
    "serialise",
    "state_units",
]
