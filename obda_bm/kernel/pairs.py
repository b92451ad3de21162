"""Pairs of rows with equal keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

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


def matches(left: Sequence[Array], right: Sequence[Array], sizes: tuple[int, int]) -> Matches:
    """Which rows of `right` have the key of each row of `left`; without a key, all."""
    n, m = sizes
    if not left:
        nothing = np.zeros(n, dtype=np.int64)
        return Matches(nothing, nothing + m, np.arange(m))
    codes, span = row_codes([joined(pair) for pair in zip(left, right, strict=True)], n + m)
    mine, theirs = codes[:n], codes[n:]
    order = sort_order(theirs, span)
    if span <= max(FEW, 4 * (n + m)):
        counts = np.bincount(theirs, minlength=span)
        ends = np.cumsum(counts)
        return Matches((ends - counts)[mine], ends[mine], order)
    ordered = theirs[order]
    return Matches(locate(ordered, mine - 1), locate(ordered, mine), order)
