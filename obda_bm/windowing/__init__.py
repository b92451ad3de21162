"""STARQL queries with a window on every stream -> how they are evaluated at each tick."""

from obda_bm.windowing.plan import plan_window

__all__ = ["plan_window"]
