"""An unfolded query over a database -> its answers as RDF terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from obda_bm.execution.oneshot.database import Database
from obda_bm.execution.oneshot.terms import from_builder
from obda_bm.execution.oneshot.values import Resource
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.unfolded import Unfolded, UnfoldedBranch, shape_of

Answer = tuple[Resource, ...]
Render = Callable[[SpjUnion, str], str]
"""SQL in a dialect; the SQL front end has it."""


def answers(unfolded: Unfolded, database: Database, base: str, render: Render) -> Iterator[Answer]:
    """The answers, each once under set semantics.

    Branches that build terms alike are one SQL query. Different ones may still build the same
    term, a constant here and a template there, so duplicates are looked for among terms.
    """
    if unfolded.query is None:
        return
    semantics = unfolded.query.semantics
    seen: set[Answer] = set()
    for branches in _groups(unfolded.branches):
        union = SpjUnion(tuple(b.query for b in branches), semantics)
        for answer in _rows(union, branches[0], database, base, render):
            if semantics is Semantics.BAG:
                yield answer
            elif answer not in seen:
                seen.add(answer)
                yield answer


def _groups(branches: tuple[UnfoldedBranch, ...]) -> list[list[UnfoldedBranch]]:
    groups: dict[object, list[UnfoldedBranch]] = {}
    for branch in branches:
        groups.setdefault(tuple(map(shape_of, branch.terms)), []).append(branch)
    return list(groups.values())


def _rows(
    union: SpjUnion, like: UnfoldedBranch, database: Database, base: str, render: Render
) -> Iterator[Answer]:
    names = [output.name for output in like.query.projection]
    # Every branch names its columns alike, but a database may fold the names.
    at = {name: i for i, name in enumerate(names)}
    makers = [from_builder(term, at, base) for term in like.terms]
    for row in database.query(render(union, database.dialect)).rows:
        made = tuple(make(row) for make in makers)
        assert None not in made, "the query keeps no row with NULL in a term"
        yield tuple(term for term in made if term is not None)
