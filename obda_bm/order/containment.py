"""Containment of queries by homomorphism, and what it removes under set semantics.

A homomorphism maps the occurrences of the bigger query to occurrences of the same relation in the
smaller one, so that the bigger query's comparisons land in P+ of the smaller and the projections
agree. It proves containment; with comparisons the converse does not hold, so a containment may be
missed, but none is claimed falsely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from obda_bm.ir.spj import Occurrence, Output, SpjQuery
from obda_bm.ir.terms import (
    ColumnRef,
    Comparison,
    Constant,
    NotNull,
    Op,
    Predicate,
    Term,
    columns_of,
    rename,
)
from obda_bm.order.closure import Closure, close_query, constants_of


def drop_contained(branches: Sequence[SpjQuery]) -> tuple[SpjQuery, ...]:
    """The branches of a set union that no other branch contains; the first of equivalent ones."""
    kept: list[SpjQuery] = list(branches)
    for branch in reversed(branches):
        others = [other for other in kept if other is not branch]
        if any(contained(branch, other) for other in others):
            kept = others
    return tuple(kept)


def contained(smaller: SpjQuery, bigger: SpjQuery) -> bool:
    """Whether every answer of `smaller` is one of `bigger`, as far as a homomorphism shows it."""
    constants = [v for p in bigger.predicates for v in constants_of(p)]
    closure = close_query(smaller, also=constants)
    return closure is None or homomorphism(bigger, closure) is not None


def minimize(query: SpjQuery) -> SpjQuery:
    """An equivalent query, under set semantics, without redundant occurrences ([A] Appendix C).

    An endomorphism h whose image misses an occurrence makes h(Q) equivalent to Q. Redundant streams
    of [A] Definition C.1 are the case where h moves one occurrence only.
    """
    repeated = [o for o in query.occurrences if _is_repeated(query, o)]
    closure = close_query(query) if repeated else None
    if closure is None:
        return query
    for occurrence in repeated:
        folding = homomorphism(query, closure, avoid=occurrence.alias)
        if folding is not None:
            return minimize(_image(query, folding))
    return query


def merge_by_key(query: SpjQuery) -> SpjQuery:
    """`query` with occurrences that agree on a key merged into one: they are the same tuple.

    Right for bags, too, since a key admits the tuple once.
    """
    repeated = [o for o in query.occurrences if o.relation.keys and _is_repeated(query, o)]
    closure = close_query(query) if repeated else None
    if closure is None:
        return query
    for first, second in combinations(repeated, 2):
        if first.relation == second.relation and _agree_on_key(closure, first, second):
            identity = {o.alias: o.alias for o in query.occurrences}
            return merge_by_key(_image(query, {**identity, second.alias: first.alias}))
    return query


def homomorphism(
    source: SpjQuery, target: Closure, avoid: str | None = None
) -> Mapping[str, str] | None:
    """A mapping of the aliases of `source` into `target`, not using `avoid`, or None."""
    return _extend(source, target, avoid, {})


def _extend(
    source: SpjQuery, target: Closure, avoid: str | None, mapped: dict[str, str]
) -> Mapping[str, str] | None:
    if not _consistent(source, target, mapped):
        return None
    missing = [o for o in source.occurrences if o.alias not in mapped]
    if not missing:
        return mapped
    for candidate in target.query.occurrences:
        if candidate.alias != avoid and candidate.relation == missing[0].relation:
            found = _extend(source, target, avoid, {**mapped, missing[0].alias: candidate.alias})
            if found is not None:
                return found
    return None


def _consistent(source: SpjQuery, target: Closure, mapped: dict[str, str]) -> bool:
    """Whether the conditions on columns mapped so far hold in the target."""
    predicates = (p for p in source.predicates if _all_mapped(columns_of(p), mapped))
    outputs = zip(source.projection, target.query.projection, strict=True)
    return all(_same_output(o, t, target, mapped) for o, t in outputs) and all(
        _holds(target, _renamed(p, mapped)) for p in predicates
    )


def _holds(target: Closure, predicate: Predicate) -> bool:
    return predicate in target.query.predicates or target.implies(predicate)


def _same_output(output: Output, wanted: Output, target: Closure, mapped: dict[str, str]) -> bool:
    term, goal = output.term, wanted.term
    if isinstance(term, ColumnRef):
        if term.occurrence not in mapped:
            return True
        term = ColumnRef(mapped[term.occurrence], term.column)
    return term == goal or target.implies(Comparison(term, Op.EQ, goal))


def _all_mapped(columns: Iterable[ColumnRef], mapped: dict[str, str]) -> bool:
    return all(c.occurrence in mapped for c in columns)


def _renamed(predicate: Predicate, mapped: Mapping[str, str]) -> Predicate:
    return rename(
        predicate,
        {c: ColumnRef(mapped[c.occurrence], c.column, c.span) for c in columns_of(predicate)},
    )


def _image(query: SpjQuery, folding: Mapping[str, str]) -> SpjQuery:
    """h(Q); a comparison of a column with itself still says that it is not NULL."""

    def term(old: Term) -> Term:
        match old:
            case ColumnRef(alias, column):
                return ColumnRef(folding[alias], column, old.span)
            case Constant():
                return old

    images = dict.fromkeys(_renamed(p, folding) for p in query.predicates)
    return SpjQuery(
        tuple(o for o in query.occurrences if o.alias in folding.values()),
        tuple(replace(o, term=term(o.term)) for o in query.projection),
        tuple(_not_null_if_reflexive(p) for p in images),
    )


def _not_null_if_reflexive(predicate: Predicate) -> Predicate:
    match predicate:
        case Comparison(ColumnRef() as left, Op.EQ | Op.LE | Op.GE, right, 0) if left == right:
            return NotNull(left)
        case _:
            return predicate


def _is_repeated(query: SpjQuery, occurrence: Occurrence) -> bool:
    return sum(o.relation == occurrence.relation for o in query.occurrences) > 1


def _agree_on_key(closure: Closure, first: Occurrence, second: Occurrence) -> bool:
    return any(
        all(
            closure.implies(
                Comparison(ColumnRef(first.alias, c), Op.EQ, ColumnRef(second.alias, c))
            )
            for c in key
        )
        for key in first.relation.keys
    )
