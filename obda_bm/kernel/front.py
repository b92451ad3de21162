"""Several extremes kept together: the matches that no other one dominates.

The best of one extreme need not occur together with the best of another, so whole matches are
kept: all those that no other one is as early as, and as good in everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from obda_bm.ir.plan import Extreme, Side
from obda_bm.ir.terms import ColumnRef
from obda_bm.kernel.encoding import Array
from obda_bm.kernel.groups import Index, lengths, row_codes, segments
from obda_bm.kernel.rows import Mask, Rows


@dataclass(frozen=True, slots=True)
class Front:
    """Undominated matches over the timestamps of one batch, each an entry of its own."""

    keys: Mapping[ColumnRef, Array]
    values: tuple[Array, ...]
    sides: tuple[Side, ...]
    rank: Index

    @property
    def entries(self) -> int:
        return len(self.rank)

    def before(self, entry: Index, rank: Index) -> tuple[Mask, Index]:
        """Whether each entry was there before `rank`, and where its values stand."""
        return self.rank[entry] < rank, entry

    def left(self) -> tuple[Index, Index]:
        """What is left after the batch, when being early counts no more."""
        alike = np.zeros(self.entries, dtype=np.int64)
        costs = [_cost(v, side) for v, side in zip(self.values, self.sides, strict=True)]
        chosen = _undominated(row_codes(list(self.keys.values()), self.entries)[0], costs, alike)
        return chosen, chosen


def front(rows: Rows, key: Sequence[ColumnRef], extremes: Sequence[Extreme]) -> Front:
    """The matches that are not dominated: no other is as early, and as good in every extreme."""
    ids, _ = row_codes([rows.columns[c] for c in key], len(rows))
    costs = [_cost(rows.columns[e], e.side) for e in extremes]
    chosen = _undominated(ids, costs, rows.rank)
    return Front(
        {c: rows.columns[c][chosen] for c in key},
        tuple(rows.columns[e][chosen] for e in extremes),
        tuple(e.side for e in extremes),
        rows.rank[chosen],
    )


def _cost(values: Array, side: Side) -> Array:
    return values if side is Side.MIN else -values


def _undominated(ids: Index, costs: Sequence[Array], rank: Index) -> Index:
    """Of rows with equal id, those that no other matches or beats in every cost and in rank.

    In order of cost a row is dominated by one before it only. So the k-th of every id that is
    left stays, and drops what it dominates: one round for each k, over all ids at once.
    """
    order = np.lexsort((rank, *reversed(costs), ids))
    k = 0
    while True:
        starts = segments(ids[order])
        sizes = lengths(starts, len(order))
        if not (sizes > k).any():
            return order
        pivot = np.repeat(np.where(sizes > k, starts + k, len(order)), sizes)
        later = np.flatnonzero(np.arange(len(order)) > pivot)
        mine, other = order[later], order[pivot[later]]
        beaten = np.logical_and.reduce([c[mine] >= c[other] for c in (*costs, rank)])
        order = np.delete(order, later[beaten])
        k += 1
