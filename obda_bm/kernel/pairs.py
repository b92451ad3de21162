"""Pairs of rows with equal keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from obda_bm.ir.terms import Op
from obda_bm.kernel.encoding import Array
from obda_bm.kernel.groups import FEW, Index, locate, row_codes, sort_order
from obda_bm.kernel.rows import joined

PAIRS = 4_000_000
"""Pairs that a join makes at a time; more are made piece by piece."""


@dataclass(frozen=True, slots=True)
class Matches:
    """For each row of the left side the range `starts` to `ends` of `order`: rows of the right."""

    starts: Index
    ends: Index
    order: Index

    def pairs(self, part: slice) -> tuple[Index, Index]:
        """The pairs of some rows of the left side."""
        starts, counts = self.starts[part], self.ends[part] - self.starts[part]
        if not len(counts) or counts.max() <= 1:
            left = np.flatnonzero(counts)
            return left + part.start, self.order[starts[left]]
        left = np.repeat(np.arange(part.start, part.stop), counts)
        begin = np.repeat(starts - np.cumsum(counts) + counts, counts)
        return left, self.order[np.arange(len(left)) + begin]

    def parts(self) -> Iterable[slice]:
        """Consecutive rows of the left side whose pairs fit into memory together."""
        total = np.cumsum(self.ends - self.starts)
        start = 0
        while start < len(total):
            before = int(total[start - 1]) if start else 0
            end = int(np.searchsorted(total, before + PAIRS, "right"))
            yield slice(start, end := max(end, start + 1))
            start = end
        if not start:
            yield slice(0, 0)


@dataclass(frozen=True, slots=True)
class Limit:
    """An inequality `left op right` of whole numbers that pairs must satisfy, too."""

    left: Array
    op: Op
    right: Array


def matches(
    left: Sequence[Array], right: Sequence[Array], sizes: tuple[int, int], limit: Limit | None
) -> Matches:
    """Which rows of `right` have the key of each row of `left`, within the limit."""
    n, m = sizes
    codes, span = row_codes([joined(pair) for pair in zip(left, right, strict=True)], n + m)
    mine, theirs = codes[:n], codes[n:]
    if limit is not None and m:
        return _limited(mine, theirs, span, limit)
    order = sort_order(theirs, span)
    if span <= max(FEW, 4 * (n + m)):
        counts = np.bincount(theirs, minlength=span)
        ends = np.cumsum(counts)
        return Matches((ends - counts)[mine], ends[mine], order)
    ordered = theirs[order]
    return Matches(locate(ordered, mine - 1), locate(ordered, mine), order)


def _limited(mine: Index, theirs: Index, span: int, limit: Limit) -> Matches:
    """With equal keys in the order of what the limit compares, a range of them satisfies it."""
    places, inverse = np.unique(limit.right, return_inverse=True)
    wide = len(places) + 1
    ranked = theirs * wide + inverse
    order = sort_order(ranked, span * wide)
    # How many places are below the row's own value, or at most that.
    below = np.searchsorted(places, limit.left, "left" if limit.op in _EXCLUDING else "right")
    first, last, cut = mine * wide, mine * wide + wide, mine * wide + below
    ordered = ranked[order]
    if limit.op in (Op.GT, Op.GE):
        return Matches(locate(ordered, first - 1), locate(ordered, cut - 1), order)
    return Matches(locate(ordered, cut - 1), locate(ordered, last - 1), order)


_EXCLUDING = (Op.GT, Op.LE)
"""`left > right` holds for the places below `left`, `left <= right` for all others."""
