"""Plans: which synopses are kept, what fills them, and what is emitted (THEORY 8)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from obda_bm.ir.catalog import Relation
from obda_bm.ir.spj import Output, Semantics
from obda_bm.ir.terms import ColumnRef, Comparison, Predicate
from obda_bm.ir.unfolded import RowTerm
from obda_bm.ir.verdict import Bound, State


@dataclass(frozen=True, slots=True)
class Scan:
    """Tuples of one occurrence that pass its own filters; the ranges are implied by P+."""

    alias: str
    relation: Relation
    filters: tuple[Predicate, ...]
    ranges: tuple[Range, ...] = ()

    def __str__(self) -> str:
        conditions = " ∧ ".join(map(str, (*self.filters, *self.ranges)))
        name = self.relation.name
        shown = name if name == self.alias else f"{name} {self.alias}"
        return f"{shown}[{conditions}]" if conditions else shown


@dataclass(frozen=True, slots=True)
class Range:
    """`lower <= column <= upper`, in numbers of the plan's scale; None is no bound."""

    column: ColumnRef
    lower: int | None
    upper: int | None

    def __str__(self) -> str:
        low = "" if self.lower is None else f"{self.lower} <= "
        high = "" if self.upper is None else f" <= {self.upper}"
        return f"{low}{self.column}{high}"


@dataclass(frozen=True, slots=True)
class Grid:
    """The values from `lower` to `upper`, a `step` apart."""

    lower: Fraction
    upper: Fraction
    step: Fraction

    def __str__(self) -> str:
        return str(self.lower) if self.lower == self.upper else f"{self.lower}..{self.upper}"


@dataclass(frozen=True, slots=True)
class Places:
    """Dense values or texts, of which only the place among what they meet later matters."""

    column: ColumnRef
    grids: tuple[Grid, ...] = ()
    texts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.column} among {', '.join(map(str, (*self.grids, *self.texts)))}"


ROW = "#row"
"""The column of a static relation that tells its rows apart; no SQL name has a # in it."""


@dataclass(frozen=True, slots=True)
class Input:
    """What arrives together: streams with equal timestamps, with the static rows they meet.

    A static relation that several inputs meet is joined with each of them; `ROW` tells later
    whether they met the same row.
    """

    scans: tuple[Scan, ...]
    statics: tuple[Scan, ...]
    joins: tuple[Predicate, ...]
    end: int | None = None  # the last timestamp of a finite stream

    @property
    def name(self) -> str:
        return "⋈".join(scan.alias for scan in self.scans)

    @property
    def aliases(self) -> frozenset[str]:
        return frozenset(scan.alias for scan in (*self.scans, *self.statics))


class Side(Enum):
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Extreme:
    """The best, over partial matches, of the worst of `columns`: what one future test needs.

    For the test "at most τ" that is the minimum of the maximum of the columns at most τ. A column
    that must be strictly below is shifted by a grain, and a dense one to the next floating number.
    """

    columns: tuple[ColumnRef, ...]
    shifts: tuple[int, ...]
    side: Side
    tests: tuple[ColumnRef, ...]
    gaps: tuple[int, ...]  # what a test adds to the value: strictness common to all columns
    lower: int | None = None
    upper: int | None = None

    def gap(self, test: ColumnRef) -> int:
        return self.gaps[self.tests.index(test)]

    def __str__(self) -> str:
        listed = ", ".join(map(str, self.columns))
        if len(self.columns) > 1:
            worst = "max" if self.side is Side.MIN else "min"
            listed = f"{worst}({listed})"
        return f"{self.side.value} of {listed}"


@dataclass(frozen=True, slots=True)
class Expiry:
    """Entries whose `time` is more than `ticks` before the frontier are forgotten."""

    time: ColumnRef
    ticks: int


@dataclass(frozen=True, slots=True)
class Synopsis:
    """What is kept about partial matches over some inputs: a value per key."""

    inputs: tuple[int, ...]
    key: tuple[ColumnRef, ...]
    clamps: tuple[Range, ...] = ()
    extremes: tuple[Extreme, ...] = ()
    expiries: tuple[Expiry, ...] = ()
    horizon: int | None = None  # older times in the key are all alike
    different: tuple[ColumnRef, ...] = ()  # key columns that future texts must only differ from
    tests: int = 0  # how many future texts those are
    places: tuple[Places, ...] = ()
    unlike: tuple[Comparison, ...] = ()  # which of `different` is compared with which future text
    size: tuple[State, ...] = ()  # what it holds at most


@dataclass(frozen=True, slots=True)
class Step:
    """New matches: tuples of `new` at one timestamp, with older partial matches of `old`.

    `target` is the synopsis that they fill; None emits them. `joins` are what is left to compare.
    """

    new: tuple[int, ...]
    old: tuple[int, ...]
    joins: tuple[Predicate, ...]
    target: int | None


@dataclass(frozen=True, slots=True)
class BranchPlan:
    inputs: tuple[Input, ...]
    synopses: tuple[Synopsis, ...]
    steps: tuple[Step, ...]
    projection: tuple[Output, ...]
    scale: int  # numbers are whole multiples of 1 / scale


class Memory(Enum):
    """How a set query knows what it has emitted."""

    NONE = "none"  # bags emit every match
    STORED = "stored"
    DERIVED = "derived"  # the synopses before a marker evaluate to the old answer


@dataclass(frozen=True, slots=True)
class SynopsisPlan:
    """A bounded query, ready to run."""

    semantics: Semantics
    branches: tuple[BranchPlan, ...]
    outputs: tuple[str, ...]
    emitted: Memory
    emitted_size: tuple[State, ...] = ()
    terms: tuple[RowTerm, ...] = ()  # how rows become the answers of a semantic query
    base: str = ""  # resolves relative IRIs in the data

    @property
    def bound(self) -> Bound:
        kept = (size for b in self.branches for s in b.synopses for size in s.size)
        return Bound((*kept, *self.emitted_size))

    def __str__(self) -> str:
        # The outline is made from the types above.
        from obda_bm.ir.plan_outline import outline
        from obda_bm.ir.plan_text import plan_as_text

        return plan_as_text(outline(self))
