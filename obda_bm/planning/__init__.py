"""Bounded -> SynopsisPlan: which synopses are kept, what fills them, what reads them."""

from obda_bm.planning.build import build_plan

__all__ = ["build_plan"]
