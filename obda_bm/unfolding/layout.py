"""Branches that project what they need -> one union whose branches project the same columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from obda_bm.diagnostics import Diagnostic
from obda_bm.ir.spj import Output, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import BOOLEAN, INTEGER, TEXT, TIMESTAMP, Family
from obda_bm.ir.terms import ColumnRef, Constant
from obda_bm.ir.unfolded import (
    RowTerm,
    TermBuilder,
    Unfolded,
    UnfoldedBranch,
    shape_of,
    slots_of,
    with_columns,
)

Place = tuple[Family, int]
"""The n-th value of its family that an answer column is built from."""

_FILLERS = {
    Family.NUMBER: Constant(0, INTEGER),
    Family.INSTANT: Constant(0, TIMESTAMP),
    Family.BOOLEAN: Constant(0, BOOLEAN),
    Family.TEXT: Constant("", TEXT),
}


def lay_out(
    names: tuple[str, ...],
    branches: tuple[UnfoldedBranch, ...],
    semantics: Semantics,
    warnings: tuple[Diagnostic, ...],
) -> Unfolded:
    """The union of `branches`.

    Where branches build an answer column differently, a text column says how, so that rows that
    stand for different terms differ; columns that a branch does not need hold a constant.
    """
    if not branches:
        return Unfolded(names, None, (), warnings)
    uniform = len({tuple(map(shape_of, b.terms)) for b in branches}) == 1
    if uniform:
        queries = [b.query for b in branches]
    else:
        columns = [_columns(i, names[i], branches) for i in range(len(names))]
        queries = [_widened(b, names, columns) for b in branches]
    return Unfolded(names, SpjUnion(tuple(queries), semantics), branches, warnings)


def row_terms(unfolded: Unfolded) -> tuple[RowTerm, ...]:
    """How each answer column is built from a row of the union."""
    branches = unfolded.branches
    if len({tuple(map(shape_of, b.terms)) for b in branches}) > 1:
        return tuple(_row_term(i, name, branches) for i, name in enumerate(unfolded.names))
    first = branches[0].terms if branches else ()
    named = zip(unfolded.names, first, strict=False)
    return tuple(RowTerm(name, None, (("", term),)) for name, term in named)


def _row_term(index: int, name: str, branches: tuple[UnfoldedBranch, ...]) -> RowTerm:
    several, labels = _columns(index, name, branches)
    built = {}
    for branch in branches:
        term = branch.terms[index]
        columns = (ColumnRef("", labels[place]) for place in _places(term))
        built[written(term) if several else ""] = with_columns(term, columns)
    return RowTerm(name, f"{name}_term" if several else None, tuple(built.items()))


def _columns(
    index: int, name: str, branches: tuple[UnfoldedBranch, ...]
) -> tuple[bool, dict[Place, str]]:
    """Whether the answer column needs a column that tells how it is built, and its places."""
    terms = [branch.terms[index] for branch in branches]
    several = len({shape_of(term) for term in terms}) > 1
    places = dict.fromkeys(place for term in terms for place in _places(term))
    count = len(places)
    labels = [name if count == 1 and not several else f"{name}_{i + 1}" for i in range(count)]
    return several, dict(zip(places, labels, strict=True))


def _places(term: TermBuilder) -> Iterator[Place]:
    seen: dict[Family, int] = {}
    for slot in slots_of(term):
        family = slot.type.family
        yield family, seen.get(family, 0)
        seen[family] = seen.get(family, 0) + 1


def _widened(
    branch: UnfoldedBranch, names: tuple[str, ...], columns: list[tuple[bool, dict[Place, str]]]
) -> SpjQuery:
    own = {output.name: output for output in branch.query.projection}
    outputs: list[Output] = []
    for name, term, (several, labels) in zip(names, branch.terms, columns, strict=True):
        if several:
            outputs.append(Output(f"{name}_term", Constant(written(term), TEXT)))
        slots = (slot.column.column for slot in slots_of(term))
        filled = dict(zip(_places(term), slots, strict=True))
        for place, label in labels.items():
            value = own[filled[place]].term if place in filled else _FILLERS[place[0]]
            outputs.append(Output(label, value))
    return replace(branch.query, projection=tuple(outputs))


def written(term: TermBuilder) -> str:
    """The term with its places left open, as `<http://example.com/{}>`."""
    text = str(term)
    for slot in slots_of(term):
        text = text.replace(str(slot), "{}", 1)
    return text
