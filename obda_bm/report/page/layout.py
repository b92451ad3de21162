"""A layered drawing of a directed acyclic graph, from left to right.

The steps of Sugiyama, Tagawa and Toda (1981): layers by longest paths, long edges cut by
invisible nodes, each layer ordered by the barycentres of its neighbours, then coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Name = str
Edge = tuple[Name, Name]

SWEEPS = 8
COLUMN_GAP = 72.0
ROW_GAP = 18.0


@dataclass(frozen=True, slots=True)
class Box:
    """The size of a node."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node is: its left upper corner, its size, and where its column ends."""

    x: float
    y: float
    box: Box
    column_end: float

    @property
    def middle(self) -> float:
        return self.y + self.box.height / 2

    @property
    def right(self) -> float:
        return self.x + self.box.width


@dataclass(frozen=True, slots=True)
class Drawing:
    """Places of nodes, and for each edge the points that it passes."""

    places: Mapping[Name, Place]
    routes: Mapping[Edge, tuple[tuple[float, float], ...]]
    width: float
    height: float


def layered(
    boxes: Mapping[Name, Box],
    edges: Sequence[Edge],
    last: Name | None = None,
    gap: float = COLUMN_GAP,
) -> Drawing:
    """A drawing of the graph; `last`, if given, is put behind everything else."""
    rank = ranks(list(boxes), edges)
    if last is not None:
        rank[last] = max(rank.values())
    chains = {edge: _chain(edge, rank) for edge in edges}
    sizes = {**{d: Box(0, 0) for chain in chains.values() for d in chain[1:-1]}, **boxes}
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    for chain in chains.values():
        rank.update({d: rank[chain[0]] + i for i, d in enumerate(chain) if d not in boxes})
    layers = _ordered(_layers(rank), links)
    places = _places(layers, sizes, _middles(layers, sizes, links), gap)
    return Drawing(
        {name: places[name] for name in boxes},
        {edge: _route([places[name] for name in chain]) for edge, chain in chains.items()},
        max((p.right for p in places.values()), default=0),
        max((p.y + p.box.height for p in places.values()), default=0),
    )


def ranks(names: Sequence[Name], edges: Sequence[Edge]) -> dict[Name, int]:
    """For each node the number of edges on a longest path that ends in it.

    >>> ranks(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")])
    {'a': 0, 'b': 1, 'c': 2}
    """
    rank = dict.fromkeys(names, 0)
    for _ in names:  # no path is longer than that
        for source, target in edges:
            rank[target] = max(rank[target], rank[source] + 1)
    return rank


def _chain(edge: Edge, rank: Mapping[Name, int]) -> tuple[Name, ...]:
    """The ends of an edge, and an invisible node in each layer between them."""
    source, target = edge
    between = range(rank[source] + 1, rank[target])
    return (source, *(f"\0{source}\0{target}\0{i}" for i in between), target)


def _layers(rank: Mapping[Name, int]) -> list[list[Name]]:
    return [
        [n for n, r in rank.items() if r == i] for i in range(max(rank.values(), default=-1) + 1)
    ]


def _ordered(layers: list[list[Name]], links: Sequence[Edge]) -> list[list[Name]]:
    """The layers, swept to and fro until neighbours lie side by side."""
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        order = range(1, len(layers)) if forth else range(len(layers) - 2, -1, -1)
        for i in order:
            fixed = {n: float(at) for at, n in enumerate(layers[i - 1 if forth else i + 1])}
            layers[i] = _by_barycentre(layers[i], _neighbours(layers[i], links, fixed))
    return layers


def _by_barycentre(layer: Sequence[Name], near: Mapping[Name, float]) -> list[Name]:
    here = {n: at for at, n in enumerate(layer)}
    return sorted(layer, key=lambda n: near.get(n, here[n]))


def _neighbours(
    layer: Sequence[Name], links: Sequence[Edge], fixed: Mapping[Name, float]
) -> dict[Name, float]:
    """For each node of the layer with neighbours among `fixed`, the mean of their positions."""
    found: dict[Name, list[float]] = {}
    for source, target in links:
        for name, other in ((source, target), (target, source)):
            if other in fixed:
                found.setdefault(name, []).append(fixed[other])
    return {n: sum(found[n]) / len(found[n]) for n in layer if n in found}


def _places(
    layers: list[list[Name]], sizes: Mapping[Name, Box], middles: Mapping[Name, float], gap: float
) -> dict[Name, Place]:
    top = min((middles[n] - sizes[n].height / 2 for n in middles), default=0)
    places: dict[Name, Place] = {}
    left = 0.0
    for layer in layers:
        width = max(sizes[n].width for n in layer)
        for n in layer:
            # An invisible node is as wide as its column, so that edges do not cross its boxes.
            box = sizes[n] if sizes[n].height else Box(width, 0)
            places[n] = Place(left, middles[n] - box.height / 2 - top, box, left + width)
        left += width + gap
    return places


def _middles(
    layers: list[list[Name]], sizes: Mapping[Name, Box], links: Sequence[Edge]
) -> dict[Name, float]:
    """Vertical middles: near those of the neighbours, in order, and apart."""
    middles: dict[Name, float] = {}
    for layer in layers:
        middles.update(_apart(layer, sizes, dict.fromkeys(layer, 0.0)))
    for _ in range(SWEEPS):
        for layer in (*layers, *reversed(layers)):
            others = {n: y for n, y in middles.items() if n not in layer}
            near = _neighbours(layer, links, others)
            middles.update(_apart(layer, sizes, {n: near.get(n, middles[n]) for n in layer}))
    return middles


def _apart(
    layer: Sequence[Name], sizes: Mapping[Name, Box], wanted: Mapping[Name, float]
) -> dict[Name, float]:
    """The middles nearest to those wanted, in squares, that keep order and distance.

    Without the distances this is isotonic regression, solved by pooling adjacent violators.
    """
    offsets = _offsets(layer, sizes)
    pools: list[list[float]] = []
    for n in layer:
        pool = [wanted[n] - offsets[n]]
        while pools and _mean(pools[-1]) >= _mean(pool):
            pool = pools.pop() + pool
        pools.append(pool)
    levels = [_mean(pool) for pool in pools for _ in pool]
    return {n: level + offsets[n] for n, level in zip(layer, levels, strict=True)}


def _offsets(layer: Sequence[Name], sizes: Mapping[Name, Box]) -> dict[Name, float]:
    """How far each middle is at least below the first one."""
    found = {layer[0]: 0.0}
    for above, n in pairwise(layer):
        found[n] = found[above] + (sizes[above].height + sizes[n].height) / 2 + ROW_GAP
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _route(chain: Sequence[Place]) -> tuple[tuple[float, float], ...]:
    """From the right side of the first to the left side of the last, through those between.

    It leaves its column on a level, so that it does not touch wider boxes there.
    """
    first, *between, last = chain
    passed = [point for p in between for point in ((p.x, p.middle), (p.right, p.middle))]
    leaves = (first.right, first.middle), (first.column_end, first.middle)
    return (*leaves, *passed, (last.x, last.middle))
