"""Verdicts: bounded or not, why, and with which certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

from obda_bm.diagnostics import Span
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.terms import ColumnRef
from obda_bm.ir.witness import Evidence, Witness


@dataclass(frozen=True, slots=True)
class Reason:
    """A condition that holds or fails, under the name its source gives it, in the user's words."""

    condition: str
    source: str
    message: str
    columns: tuple[ColumnRef, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PaperAnswer:
    """What a published theorem says, read literally.

    `bounded` is None where the theorem does not apply; `clause` names what decided.
    """

    bounded: bool | None
    clause: str
    message: str

    @staticmethod
    def yes(clause: str, message: str) -> PaperAnswer:
        return PaperAnswer(True, clause, message)

    @staticmethod
    def no(clause: str, message: str) -> PaperAnswer:
        return PaperAnswer(False, clause, message)

    @staticmethod
    def silent(message: str) -> PaperAnswer:
        return PaperAnswer(None, "", message)


@dataclass(frozen=True, slots=True)
class Papers:
    arasu2002: PaperAnswer
    schiff2020: PaperAnswer


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column that a state is keyed by, and how many values it can have there."""

    column: ColumnRef
    values: int | None
    text: str

    def __str__(self) -> str:
        return f"{self.column} in {self.text}"


@dataclass(frozen=True, slots=True)
class State:
    """What is kept about partial matches over `streams`: a value of `each` units per key.

    `copies` says how often where only the input knows: the tuples that arrive within a window, the
    rows of a finite stream. It is empty for states whose size the query alone bounds. Without
    streams it is what a set query has emitted.
    """

    streams: tuple[str, ...]
    key: tuple[KeyColumn, ...]
    value: str
    each: int = 1
    copies: str = ""

    @property
    def name(self) -> str:
        return "+".join(self.streams) or "emitted"

    @property
    def units(self) -> int | None:
        if self.copies:
            return None
        units = self.each
        for column in self.key:
            if column.values is None:
                return None
            units *= column.values
        return units

    @property
    def formula(self) -> str:
        factors = [k.text if k.values is None else str(k.values) for k in self.key]
        if self.copies:
            factors.insert(0, self.copies)
        if self.each != 1 or not factors:
            factors.append(str(self.each))
        return "·".join(factors)

    def __str__(self) -> str:
        per = f" per ({', '.join(str(k.column) for k in self.key)})" if self.key else ""
        return f"{self.name}: {self.value}{per}"


def units_as_text(states: tuple[State, ...]) -> str:
    """The size of some states, with the formula where it says more."""
    bound = Bound(states)
    if bound.units is None:
        return f"{bound.formula} units"
    total = f"{bound.units} unit{'' if bound.units == 1 else 's'}"
    return total if bound.formula == str(bound.units) else f"{total} = {bound.formula}"


@dataclass(frozen=True, slots=True)
class Bound:
    """The size of all states together; `units` is None where only the input knows."""

    states: tuple[State, ...]

    @property
    def units(self) -> int | None:
        sizes = [state.units for state in self.states]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    @property
    def formula(self) -> str:
        return " + ".join(state.formula for state in self.states) or "0"

    def __str__(self) -> str:
        if not self.states:
            return "nothing has to be kept"
        return f"at most {units_as_text(self.states)}"

    @property
    def largest_column(self) -> KeyColumn | None:
        """The column that makes the bound large."""
        columns = [k for state in self.states for k in state.key if k.values is not None]
        return max(columns, key=lambda k: k.values or 0, default=None)


@dataclass(frozen=True, slots=True)
class Repair:
    """An edit that makes the query bounded, checked by deciding the edited query."""

    edit: str
    query: SpjUnion
    verdict: str


@dataclass(frozen=True, slots=True)
class Bounded:
    """Constant memory suffices for every input.

    `windows` names streams whose tuples are kept as they are until they expire; the memory is then
    constant for a given arrival rate.
    """

    semantics: Semantics
    papers: Papers
    reasons: tuple[Reason, ...]
    bound: Bound
    windows: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "bounded_by_window" if self.windows else "bounded"


@dataclass(frozen=True, slots=True)
class Unbounded:
    """No constant suffices: the witness, when executed, tells all subsets of N tuples apart."""

    semantics: Semantics
    papers: Papers
    reasons: tuple[Reason, ...]
    witness: Witness
    evidence: Evidence
    repairs: tuple[Repair, ...] = ()

    @property
    def name(self) -> str:
        return "unbounded"


@dataclass(frozen=True, slots=True)
class Undecided:
    """A sufficient condition fails, but no witness could be built: nothing was proved."""

    semantics: Semantics
    papers: Papers
    reasons: tuple[Reason, ...]
    repairs: tuple[Repair, ...] = ()

    @property
    def name(self) -> str:
        return "undecided"


Verdict = Bounded | Unbounded | Undecided
