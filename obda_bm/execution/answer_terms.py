"""Rows of an unfolded query -> the RDF terms they stand for, column by column.

IRIs and blank nodes become texts; literals stay the values that they are, which is what JSON, CSV
and Parquet want. Where branches of a union build a column differently, it is text throughout.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from obda_bm.execution.oneshot.terms import from_builder
from obda_bm.execution.oneshot.values import BlankNode, Resource
from obda_bm.ir.mapping import TermKind
from obda_bm.ir.plan import SynopsisPlan
from obda_bm.ir.rdf import Iri, Literal
from obda_bm.ir.unfolded import ColumnTerm, RowTerm, TermBuilder, slots_of


def answers(plan: SynopsisPlan, results: pa.Table) -> pa.Table:
    """The results of a SQL query as they are, those of a semantic query as its answers."""
    return answer_table(results, plan.terms, plan.base) if plan.terms else results


def answer_table(results: pa.Table, terms: Sequence[RowTerm], base: str) -> pa.Table:
    """`results` with an answer column for each of `terms`, between the time and the count."""
    columns = [_column(results, term, base) for term in terms]
    names = ["time", *(term.name for term in terms), "count"]
    # By place: an answer column may itself be called time or count.
    return pa.table([results.column(0), *columns, results.column(results.num_columns - 1)], names)


def _column(results: pa.Table, term: RowTerm, base: str) -> pa.ChunkedArray | pa.Array:
    match term.builders:
        case ((_, ColumnTerm(TermKind.LITERAL, slot)),) if term.told_by is None:
            return _value(results, slot.column.column)
    told = None if term.told_by is None else _value(results, term.told_by).to_pylist()
    makers = {name: _Maker(results, builder, base) for name, builder in term.builders}
    chosen = told or [next(iter(makers))] * len(results)
    return pa.array([makers[name].text(i) for i, name in enumerate(chosen)], pa.string())


class _Maker:
    """Builds one term per row, each different one once."""

    def __init__(self, results: pa.Table, builder: TermBuilder, base: str) -> None:
        names = [slot.column.column for slot in slots_of(builder)]
        self._rows = list(zip(*(_value(results, n).to_pylist() for n in names), strict=True))
        self._make = from_builder(builder, {name: i for i, name in enumerate(names)}, base)
        self._known: dict[tuple[object, ...], str | None] = {}

    def text(self, index: int) -> str | None:
        row = self._rows[index] if self._rows else ()
        if row not in self._known:
            self._known[row] = written(self._make(row))
        return self._known[row]


def written(term: Resource | None) -> str | None:
    match term:
        case Iri(value):
            return value
        case Literal(lexical):
            return lexical
        case BlankNode():
            return str(term)
        case None:
            return None


def _value(results: pa.Table, name: str) -> pa.ChunkedArray:
    """The column of a result, which stand between its time and its count."""
    inner = results.column_names[1:-1]
    return results.column(1 + inner.index(name))
