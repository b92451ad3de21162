"""One way to get the rows of an atom."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from obda_bm.diagnostics import Span
from obda_bm.ir.spj import Output, SpjQuery
from obda_bm.ir.terms import ColumnRef
from obda_bm.ir.unfolded import TermBuilder, shape_of, slots_of


@dataclass(frozen=True, slots=True)
class Entry:
    """Each row of `source` makes `terms` an instance of the atom's class or property."""

    source: SpjQuery
    terms: tuple[TermBuilder, ...]
    triples_map: str = field(compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)

    def inverted(self) -> Entry:
        return replace(self, terms=self.terms[::-1])

    @property
    def time(self) -> ColumnRef | None:
        return next((o.time for o in self.source.occurrences if o.time is not None), None)

    @property
    def shape(self) -> tuple[TermBuilder, ...]:
        return tuple(map(shape_of, self.terms))

    def projecting(self) -> SpjQuery:
        """The source, projecting what the terms read, and the time of a stream."""
        columns = [slot.column for term in self.terms for slot in slots_of(term)]
        columns += [self.time] if self.time is not None else []
        outputs = (Output(str(i), column) for i, column in enumerate(columns))
        return replace(self.source, projection=tuple(outputs))
