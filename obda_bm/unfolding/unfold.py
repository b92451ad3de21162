"""Unions of conjunctive queries and T-mappings -> unions of select-project-join queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from obda_bm.diagnostics import Diagnostic, UnfoldingError, did_you_mean
from obda_bm.ir.catalog import Relation
from obda_bm.ir.lexical import writing_of
from obda_bm.ir.mapping import TermKind
from obda_bm.ir.rdf import Iri, Literal, RdfTerm, Variable
from obda_bm.ir.spj import Occurrence, Output, SpjQuery
from obda_bm.ir.terms import ColumnRef, Comparison, Op, Predicate
from obda_bm.ir.ucq import Atom, ConjunctiveQuery, TermComparison, UnionOfCQs, local_name
from obda_bm.ir.unfolded import (
    ColumnTerm,
    FixedTerm,
    Origin,
    Slot,
    TermBuilder,
    Unfolded,
    UnfoldedBranch,
    slots_of,
    with_columns,
)
from obda_bm.unfolding.aliases import fresh_aliases, renamed_builder, renamed_column, renamed_query
from obda_bm.unfolding.compare import compare
from obda_bm.unfolding.entry import Entry
from obda_bm.unfolding.layout import lay_out
from obda_bm.unfolding.mistakes import Mistake
from obda_bm.unfolding.simplify import simplify
from obda_bm.unfolding.tmappings import TMappings
from obda_bm.unfolding.unify import unify

MAX_BRANCHES = 1000

Ranges = Mapping[Variable, tuple[Relation, ...]]
"""The streams whose timestamps a state ranges over where only static atoms mention it."""


Choices = Mapping[Atom, tuple[Entry, ...]]


@dataclass(frozen=True, slots=True)
class Partial:
    """Atoms joined so far: what the variables are, and when the states are."""

    occurrences: tuple[Occurrence, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    terms: Mapping[Variable, TermBuilder] = field(default_factory=dict)
    times: Mapping[Variable, ColumnRef] = field(default_factory=dict)
    origins: tuple[Origin, ...] = ()

    def where(self, predicates: tuple[Predicate, ...]) -> Partial:
        return replace(self, predicates=self.predicates + predicates)

    def column_type(self, column: ColumnRef) -> Slot:
        relation = next(o.relation for o in self.occurrences if o.alias == column.occurrence)
        return Slot(column, relation.column(column.column).type)


def unfold(query: UnionOfCQs, mappings: TMappings, ranges: Ranges | None = None) -> Unfolded:
    """The answers of `query` as a query over the catalog.

    Raises:
        UnfoldingError: where a part of it is no select-project-join query.
    """
    warnings: list[Diagnostic] = []
    branches = expand(query, mappings, ranges or {}, warnings)
    simple = simplify(branches, mappings.semantics)
    # Where something answers, that a disjunct or a mapping cannot is how unions work.
    told = () if simple else tuple(dict.fromkeys(warnings))
    return lay_out(query.names, simple, mappings.semantics, told)


def expand(
    query: UnionOfCQs, mappings: TMappings, ranges: Ranges, warnings: list[Diagnostic]
) -> tuple[UnfoldedBranch, ...]:
    """One branch per way to give each atom a mapping, not simplified yet."""
    branches: list[UnfoldedBranch] = []
    for disjunct in query.disjuncts:
        branches += _unfold_disjunct(disjunct, query.names, mappings, ranges, warnings)
        if len(branches) > MAX_BRANCHES:
            raise _too_many(disjunct)
    return tuple(branches)


def _unfold_disjunct(
    query: ConjunctiveQuery,
    names: tuple[str, ...],
    mappings: TMappings,
    ranges: Ranges,
    warnings: list[Diagnostic],
) -> list[UnfoldedBranch]:
    found: list[UnfoldedBranch] = []
    choices = {atom: _choices(atom, query, mappings) for atom in query.body}
    unmapped = [atom for atom, entries in choices.items() if not entries]
    warnings += (_not_mapped(atom, mappings) for atom in unmapped)
    if unmapped:
        return found
    for joined in _join(_fewest_first(query.body, choices), choices, Partial(), mappings.base):
        for ranged in _with_ranges(joined, query, ranges):
            for complete in _compare_all(query.comparisons, ranged, mappings.base, warnings):
                found.append(_branch(query.head, names, complete))
                if len(found) > MAX_BRANCHES:
                    raise _too_many(query)
    return found


def _choices(atom: Atom, query: ConjunctiveQuery, mappings: TMappings) -> tuple[Entry, ...]:
    """The entries for `atom`; beside states, an atom without one is about static data."""
    entries = mappings.entries(atom)
    if atom.state is not None or all(other.state is None for other in query.body):
        return entries
    return tuple(entry for entry in entries if entry.time is None)


def _fewest_first(atoms: tuple[Atom, ...], choices: Choices) -> tuple[Atom, ...]:
    """The atoms, those with few entries first, each connected to one before if possible.

    Then most entries of later atoms fail to unify at once, and few partial joins are built.
    """
    rest = sorted(atoms, key=lambda atom: len(choices[atom]))
    ordered: list[Atom] = []
    known: set[RdfTerm] = set()
    while rest:
        chosen = next((a for a in rest if known.intersection(_variables(a))), rest[0])
        rest.remove(chosen)
        ordered.append(chosen)
        known.update(_variables(chosen))
    return tuple(ordered)


def _variables(atom: Atom) -> set[RdfTerm]:
    return {term for term in atom.terms if isinstance(term, Variable)}


def _join(
    atoms: tuple[Atom, ...], choices: Choices, partial: Partial, base: str
) -> Iterator[Partial]:
    """Every way to give each atom an entry such that the variables can agree."""
    if not atoms:
        yield partial
        return
    for entry in choices[atoms[0]]:
        joined = _extend(partial, atoms[0], entry, base)
        if joined is not None:
            yield from _join(atoms[1:], choices, joined, base)


def _extend(partial: Partial, atom: Atom, entry: Entry, base: str) -> Partial | None:
    renaming = fresh_aliases(entry.source, {o.alias for o in partial.occurrences})
    source = renamed_query(entry.source, renaming)
    terms = [renamed_builder(term, renaming) for term in entry.terms]
    joined = replace(
        partial,
        occurrences=partial.occurrences + source.occurrences,
        predicates=partial.predicates + source.predicates,
        origins=(*partial.origins, Origin(str(atom), local_name(entry.triples_map), entry.span)),
    )
    bound = _bind_all(joined, atom.terms, terms, base)
    if bound is None or atom.state is None or entry.time is None:
        return bound
    if sum(o.time is not None for o in entry.source.occurrences) > 1:
        message = f"{local_name(entry.triples_map)} reads several streams, so it has no one time"
        hint = "Write one triples map per stream, and join them in queries."
        raise Mistake.SEVERAL_STREAMS.error(entry.span, message, hint)
    return _at_state(bound, atom.state, renamed_column(entry.time, renaming))


def _bind_all(
    partial: Partial, terms: tuple[RdfTerm, ...], builders: list[TermBuilder], base: str
) -> Partial | None:
    for term, builder in zip(terms, builders, strict=True):
        known = builder_of(term, partial)
        if known is None:
            assert isinstance(term, Variable)
            partial = replace(partial, terms={**partial.terms, term: builder})
            continue
        conditions = unify(known, builder, base)
        if conditions is None:
            return None
        partial = partial.where(conditions)
    return partial


def builder_of(term: RdfTerm, partial: Partial) -> TermBuilder | None:
    """How a term of the query is built; None for a variable that nothing binds yet."""
    match term:
        case Iri() | Literal():
            return FixedTerm(term)
        case Variable() if term in partial.times:
            slot = partial.column_type(partial.times[term])
            return ColumnTerm(TermKind.LITERAL, slot, writing_of(slot.type).datatype)
        case Variable():
            return partial.terms.get(term)


def _at_state(partial: Partial, state: Variable, time: ColumnRef) -> Partial:
    """All assertions of one state share its timestamp."""
    if state in partial.times:
        return partial.where((Comparison(partial.times[state], Op.EQ, time),))
    return replace(partial, times={**partial.times, state: time})


def _with_ranges(partial: Partial, query: ConjunctiveQuery, ranges: Ranges) -> Iterator[Partial]:
    """A stream for each state that static assertions alone mention: the state must exist."""
    states = {atom.state for atom in query.body if atom.state is not None}
    missing = sorted(states - set(partial.times))
    if not missing:
        yield partial
        return
    if missing[0] not in ranges:
        span = next(atom.span for atom in query.body if atom.state == missing[0])
        message = f"nothing gives the state {missing[0]} a timestamp"
        hint = "Ask for something that a stream asserts in this state, too."
        raise Mistake.STATE_WITHOUT_STREAM.error(span, message, hint)
    for stream in ranges[missing[0]]:
        yield from _with_ranges(_ranging_over(stream, partial, missing[0]), query, ranges)


def _ranging_over(stream: Relation, partial: Partial, state: Variable) -> Partial:
    single = SpjQuery((Occurrence(stream.name, stream),), (), ())
    taken = {o.alias for o in partial.occurrences}
    (occurrence,) = renamed_query(single, fresh_aliases(single, taken)).occurrences
    assert occurrence.time is not None, "a state ranges over a stream"
    extended = replace(partial, occurrences=(*partial.occurrences, occurrence))
    return _at_state(extended, state, occurrence.time)


def _compare_all(
    comparisons: tuple[TermComparison, ...],
    partial: Partial,
    base: str,
    warnings: list[Diagnostic],
) -> Iterator[Partial]:
    if not comparisons:
        yield partial
        return
    first, *rest = comparisons
    alternatives = _compare(first, partial, base)
    if not alternatives:
        hint = "Compare terms of one kind: numbers, times, texts or IRIs."
        warnings.append(Mistake.NEVER_TRUE.warn(first.span, f"{first} is never true", hint))
    for conditions in alternatives:
        yield from _compare_all(tuple(rest), partial.where(conditions), base, warnings)


def _compare(
    comparison: TermComparison, partial: Partial, base: str
) -> tuple[tuple[Predicate, ...], ...]:
    match comparison:
        case TermComparison(Variable() as i, op, Variable() as j, offset) if (
            i in partial.times and j in partial.times
        ):
            times = (partial.times[i], partial.times[j])
            return ((Comparison(times[0], op, times[1], offset, comparison.span),),)
    left, right = builder_of(comparison.left, partial), builder_of(comparison.right, partial)
    assert left is not None, "comparisons are about variables of the body"
    assert right is not None, "comparisons are about variables of the body"
    return compare(left, comparison.op, right, base, comparison.span)


def _branch(head: tuple[RdfTerm, ...], names: tuple[str, ...], partial: Partial) -> UnfoldedBranch:
    outputs: list[Output] = []
    terms: list[TermBuilder] = []
    for name, term in zip(names, head, strict=True):
        builder = builder_of(term, partial)
        assert builder is not None, "the body binds the answer variables"
        columns = [slot.column for slot in slots_of(builder)]
        single = len(columns) == 1
        labels = [name] if single else [_label(name, i, names) for i in range(len(columns))]
        outputs += map(Output, labels, columns)
        terms.append(with_columns(builder, (ColumnRef("", label) for label in labels)))
    query = SpjQuery(partial.occurrences, tuple(outputs), tuple(dict.fromkeys(partial.predicates)))
    _require_times_apart(query)
    return UnfoldedBranch(query, tuple(terms), partial.origins)


def _require_times_apart(query: SpjQuery) -> None:
    """Refuse to compare a stream's time with a value: [S] Definition 4 keeps the two apart."""
    for predicate in query.predicates:
        match predicate:
            case Comparison(ColumnRef() as left, _, ColumnRef() as right) if query.is_time(
                left
            ) != query.is_time(right):
                message = f"{left} is compared with {right}, and one of them is a stream's time"
                hint = "Copy the time into a column of its own where it is a value."
                raise Mistake.TIME_AND_VALUE.error(left.span or right.span, message, hint)


def _label(name: str, index: int, taken: tuple[str, ...]) -> str:
    """The name of one of several columns behind an answer column; no answer column has it."""
    label = f"{name}_{index + 1}"
    while label in taken:
        label += "_"
    return label


def _not_mapped(atom: Atom, mappings: TMappings) -> Diagnostic:
    names = {local_name(iri): iri for iri in mappings.vocabulary}
    if mappings.entries(atom):
        hint = "Move the pattern into GRAPH i {…}: only streams that change over time assert it."
        message = f"{local_name(atom.iri)} in WHERE is about static data, but a stream gives it"
        return Mistake.STATIC_READS_STREAM.warn(atom.span, message, hint)
    hint = did_you_mean(local_name(atom.iri), names) or "Check the spelling, or map it."
    return Mistake.NO_MAPPING.warn(atom.span, f"no mapping gives {local_name(atom.iri)}", hint)


def _too_many(query: ConjunctiveQuery) -> UnfoldingError:
    message = f"the query unfolds to more than {MAX_BRANCHES} queries"
    hint = "Ask for narrower classes and properties, or give one thing one template."
    span = query.body[0].span if query.body else None
    return Mistake.TOO_MANY_BRANCHES.error(span, message, hint)
