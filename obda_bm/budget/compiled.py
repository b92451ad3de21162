"""Functions that numba compiles, typed as what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """The same function as machine code, kept on disk between runs."""
    return cast("F", numba.njit(cache=True)(function))
