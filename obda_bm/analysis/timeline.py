"""The timeline criterion (THEORY 7): what of an arriving tuple must be kept for later ones?

B1 and B2 decide bag semantics, S0 to S3 set semantics. Each condition is one function, yielding
what violates it. A condition is asked for every closed set of streams over which partial matches
last; without windows the smallest closed sets decide, and the conditions are those of THEORY.
`raw` are the streams of which a key admits only finitely many tuples: their columns count as
bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from obda_bm.analysis.violation import Condition, Violation
from obda_bm.ir.spj import Semantics
from obda_bm.ir.terms import ColumnRef, Op
from obda_bm.order.cells import CellSpace, cell_space
from obda_bm.order.joins import Join, joins
from obda_bm.order.references import (
    Reference,
    joint_cells,
    references,
    region_of,
    same_reference,
    same_test,
)
from obda_bm.order.streams import Stream, Timeline, enumerable

SOURCE = "timeline criterion"


class Windows(Enum):
    """Whether partial matches that a window lets expire are kept as they are."""

    IGNORE = "ignore"
    USE = "use"


B1 = Condition("B1", SOURCE, "every projected column of a stream that is not last is bounded")
B2 = Condition("B2", SOURCE, "a column joined with a stream that can come later is bounded")
S0 = Condition("S0", SOURCE, "every projected column is bounded: what was emitted must be known")
S1 = Condition("S1", SOURCE, "equality joins are between bounded columns")
S2 = Condition("S2", SOURCE, "a stream has at most one reference towards streams to come")
S3 = Condition(
    "S3", SOURCE, "two streams tied in time do not both have references, but for one test"
)


@dataclass(frozen=True, slots=True)
class Situation:
    """A query cut for the criterion; `lasting` are the closed sets whose matches do not expire."""

    space: CellSpace
    lasting: tuple[frozenset[Stream], ...]
    raw: frozenset[Stream]
    joins: tuple[Join, ...]
    references: tuple[Reference, ...]

    @property
    def timeline(self) -> Timeline:
        return self.space.timeline

    def stream(self, column: ColumnRef) -> Stream:
        stream = self.timeline.stream_of(column)
        assert stream is not None
        return stream

    def kept(self, column: ColumnRef) -> bool:
        """Whether the values of `column` fit into bounded memory."""
        return self.timeline.closure.bounded(column) or self.stream(column) in self.raw

    def waits(self, x: Stream, y: Stream) -> frozenset[Stream] | None:
        """A set over which matches with `x` last and wait for `y`, or None."""
        return next((u for u in self.lasting if x in u and y not in u), None)

    def towards_outside(self, stored: frozenset[Stream], stream: Stream) -> list[Reference]:
        """The references of `stream` that wait for streams outside `stored`."""
        if stream in self.raw:
            return []
        return [
            r
            for r in self.references
            if self.stream(r.stored) == stream and self.stream(r.future) not in stored
        ]


def situation(timeline: Timeline, windows: Windows) -> Situation:
    space = cell_space(timeline)
    lasting = tuple(
        stored
        for stored in timeline.closed_sets()
        if windows is Windows.IGNORE or timeline.expiry(stored) is None
    )
    raw = frozenset(s for s in timeline.streams if enumerable(timeline, s))
    return Situation(space, lasting, raw, tuple(joins(timeline)), tuple(references(space)))


def b1(case: Situation) -> Iterator[Violation]:
    """B1 contains C1 of [A] Theorem 4.2 and C3 of [S] Theorem 1."""
    for column in _projected(case):
        stream = case.stream(column)
        stored = next((u for u in case.lasting if stream in u), None)
        if stored is not None and not case.kept(column):
            yield Violation(B1, (column,), stored)


def b2(case: Situation) -> Iterator[Violation]:
    """B2 contains C2 and C3 of [A] Theorem 4.2, and C2, C4 and C5 of [S] Theorem 1."""
    yield from _equalities(case, B2)
    for reference in case.references:
        stream, future = case.stream(reference.stored), case.stream(reference.future)
        stored = case.waits(stream, future)
        if stored is not None and stream not in case.raw:
            cell = reference.cells[0]
            yield Violation(B2, (reference.stored,), stored, (reference.join,), cell)


def s0(case: Situation) -> Iterator[Violation]:
    """S0 is C1 of [A] Theorem 5.2 and of [S] Theorem 2. A window does not help: results stay."""
    for column in _projected(case):
        if not case.kept(column):
            yield Violation(S0, (column,), frozenset(case.timeline.streams))


def s1(case: Situation) -> Iterator[Violation]:
    """S1 is C2 of [A] Theorem 5.2 and of [S] Theorem 2."""
    yield from _equalities(case, S1)


def s2(case: Situation) -> Iterator[Violation]:
    """S2 is C3 of [A] Theorem 5.2, asked only about streams that can still arrive."""
    pairs = (
        (stored, one, two)
        for stored in case.lasting
        for stream in sorted(stored)
        for one, two in combinations(case.towards_outside(stored, stream), 2)
    )
    yield from _clashes(case, S2, pairs)


def s3(case: Situation) -> Iterator[Violation]:
    """S3 repairs [S] Theorem 2: references of streams tied in time clash as those of one stream."""
    pairs = (
        (stored, one, two)
        for stored in case.lasting
        for x, y in combinations(sorted(stored), 2)
        if case.timeline.related(x, y)
        for one in case.towards_outside(stored, x)
        for two in case.towards_outside(stored, y)
    )
    yield from _clashes(case, S3, pairs)


CONDITIONS: dict[Semantics, tuple[Callable[[Situation], Iterator[Violation]], ...]] = {
    Semantics.BAG: (b1, b2),
    Semantics.SET: (s0, s1, s2, s3),
}


def violations(case: Situation, semantics: Semantics) -> Iterator[Violation]:
    """Everything that keeps the query from running in bounded memory."""
    for condition in CONDITIONS[semantics]:
        yield from condition(case)


def _projected(case: Situation) -> list[ColumnRef]:
    columns = dict.fromkeys(case.timeline.closure.query.projected)
    return [c for c in columns if case.timeline.stream_of(c) is not None]


def _equalities(case: Situation, condition: Condition) -> Iterator[Violation]:
    for join in case.joins:
        if join.op is not Op.EQ:
            continue
        for oriented in (join, join.mirrored):
            stored = case.waits(case.stream(oriented.left), case.stream(oriented.right))
            if stored is not None and not case.kept(oriented.left):
                yield Violation(condition, (oriented.left,), stored, (oriented,))


def _clashes(
    case: Situation,
    condition: Condition,
    pairs: Iterable[tuple[frozenset[Stream], Reference, Reference]],
) -> Iterator[Violation]:
    """Pairs of references that need more than one value, in some cell; each pair once."""
    same = same_reference if condition is S2 else same_test
    seen: set[tuple[Join, Join]] = set()
    for stored, one, two in pairs:
        if (one.join, two.join) in seen:
            continue
        seen.add((one.join, two.join))
        apart = (c for c in joint_cells(case.space, one, two) if not same(c, one, two))
        cell = next(apart, None)
        if cell is not None:
            columns = tuple(dict.fromkeys((one.stored, two.stored)))
            yield Violation(condition, columns, stored, (one.join, two.join), region_of(cell))
