"""What is kept about the past of a bounded query, and how much of it: for deciding and planning."""

from obda_bm.synopses.lay_out import BranchLayout, Layout, lay_out

__all__ = ["BranchLayout", "Layout", "lay_out"]
