"""Of texts that future ones must only differ from, as many as those can never exclude.

Future texts exclude an entry where one of them equals what it is compared with. An entry is needed
only if some future texts exclude all that are kept, but not this one. By Bollobás' theorem on set
pairs, in its skew form, at most C(p + q, p) entries of p texts are needed against q future ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obda_bm.kernel.encoding import Array
from obda_bm.kernel.groups import Index, lengths, row_codes, segments, sort_order
from obda_bm.kernel.rows import Mask, everything

Excluding = tuple[int | None, ...]
"""A value for each future text; None where any will do."""


def representatives(
    rest: Sequence[Array], texts: Sequence[Array], pattern: Sequence[tuple[int, int]], size: int
) -> Mask:
    """Which entries are needed; only those that agree on `rest` stand for each other.

    `pattern` lists which of `texts` is compared with which of the future ones.

    >>> representatives([], [np.array([7, 7, 8, 9])], [(0, 0)], 4).tolist()
    [True, False, True, False]
    """
    keep = np.zeros(size, dtype=np.bool_)
    codes, span = row_codes(rest, size)
    order = sort_order(codes, span)
    starts = segments(codes[order])
    for start, length in zip(starts, lengths(starts, size), strict=True):
        alike = order[start : start + length]
        keep[alike[_needed([column[alike] for column in texts], pattern)]] = True
    return keep


def _needed(texts: Sequence[Array], pattern: Sequence[tuple[int, int]]) -> Index:
    """The entries, one after another, that something excluding all before them does not exclude."""
    tests = 1 + max(test for _, test in pattern)
    ways: list[Excluding] = [(None,) * tests]
    kept: list[int] = []
    while ways:
        free = np.logical_or.reduce([_spared(texts, pattern, way) for way in ways])
        if not free.any():
            break
        kept.append(int(np.argmax(free)))
        entry = [int(column[kept[-1]]) for column in texts]
        ways = list(dict.fromkeys(w for way in ways for w in _extended(way, entry, pattern)))
    return np.array(kept, dtype=np.int64)


def _spared(texts: Sequence[Array], pattern: Sequence[tuple[int, int]], way: Excluding) -> Mask:
    spared = everything(len(texts[0]))
    for column, test in pattern:
        if way[test] is not None:
            spared &= texts[column] != way[test]
    return spared


def _extended(
    way: Excluding, entry: Sequence[int], pattern: Sequence[tuple[int, int]]
) -> list[Excluding]:
    """The ways to exclude `entry`, too."""
    if any(way[test] == entry[column] for column, test in pattern):
        return [way]
    return [
        (*way[:test], entry[column], *way[test + 1 :])
        for column, test in pattern
        if way[test] is None
    ]
