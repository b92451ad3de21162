"""What is suspicious about mappings that can be read: each check is one function.

Names that the catalog lacks, and views that are no select-project-join queries, are found when the
tables are read; these checks are about what the mappings say together, and about the ontology.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from obda_bm.diagnostics import Diagnostic, Span, UnfoldingError, did_you_mean
from obda_bm.ir.hierarchy import Hierarchy
from obda_bm.ir.lexical import NUMBERS, NUMERIC_DATATYPES, Writing, writing_of
from obda_bm.ir.mapping import MappingSet, Template, TermKind, TermMap, TriplesMap
from obda_bm.ir.rdf import RDF, XSD, Iri
from obda_bm.ir.tbox import Exists, Named, Role, TBox
from obda_bm.ir.ucq import local_name
from obda_bm.ir.unfolded import ColumnTerm, FixedTerm, Slot, TemplateTerm, TermBuilder
from obda_bm.unfolding.assertions import Assertion, Tables
from obda_bm.unfolding.mistakes import Mistake
from obda_bm.unfolding.tmappings import TMappings
from obda_bm.unfolding.unify import annotation, kind_of, unify

_TYPE = FixedTerm(Iri(RDF + "type"))


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, and the triples map that has it."""

    triples_map: str
    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything that the checks look at."""

    mappings: MappingSet
    tables: Tables
    found: TMappings
    tbox: TBox
    hierarchy: Hierarchy = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hierarchy", Hierarchy(self.tbox))

    @property
    def terms(self) -> frozenset[str]:
        tbox = self.tbox
        return tbox.classes | tbox.object_properties | tbox.data_properties


def validate(subject: Subject) -> Iterator[Finding]:
    """The findings of all checks, check by check."""
    for check in CHECKS:
        yield from check(subject)


def check_streams(subject: Subject) -> Iterator[Finding]:
    """A source that reads two streams has no one timestamp."""
    for each in subject.mappings.triples_maps:
        for query in subject.tables.get(each.id, ()):
            streams = [o.relation.name for o in query.occurrences if o.time is not None]
            if len(streams) > 1:
                message = f"the source reads {len(streams)} streams: {', '.join(streams)}"
                hint = "Write one triples map per stream, and join them in queries."
                yield _finding(each, Mistake.SEVERAL_STREAMS.at(each.table.span, message, hint))
                break


def check_vocabulary(subject: Subject) -> Iterator[Finding]:
    """Terms that the ontology does not have are probably misspelt."""
    if not subject.terms:
        return
    names = {local_name(iri): iri for iri in sorted(subject.terms)}
    for each in subject.mappings.triples_maps:
        for iri, term in _mapped_terms(each):
            if iri not in subject.terms and not iri.startswith((RDF, XSD)):
                hint = did_you_mean(local_name(iri), names) or "Add it to the ontology."
                if names.get(local_name(iri)) not in {None, iri}:
                    hint = f"Did you mean <{names[local_name(iri)]}>?"
                message = f"the ontology has no {local_name(iri)}"
                yield _finding(each, Mistake.UNKNOWN_TERM.warn(term.span, message, hint))


def _mapped_terms(each: TriplesMap) -> Iterator[tuple[str, TermMap]]:
    for triple in each.triples:
        match triple.predicate.value, triple.object:
            case Iri(iri), TermMap(Iri(cls)) as object_ if iri == RDF + "type":
                yield cls, object_
            case Iri(iri), _ if iri != RDF + "type":
                yield iri, triple.predicate


def check_unmapped(subject: Subject) -> Iterator[Finding]:
    """Terms of the ontology of which queries can never have instances."""
    for iri in sorted(subject.tbox.classes):
        if not iri.startswith("http://www.w3.org/") and not _class_mapped(iri, subject):
            yield _unmapped("class", iri)
    for iri in sorted(subject.tbox.object_properties | subject.tbox.data_properties):
        below = subject.hierarchy.roles_below(Role(iri))
        if not any(r.iri in subject.found.by_property for r in below) and not subject.found.open:
            yield _unmapped("property", iri)


def _class_mapped(iri: str, subject: Subject) -> bool:
    if subject.found.open:
        return True  # a class that the rows name may be this one
    for concept in subject.hierarchy.concepts_below(Named(iri)):
        match concept:
            case Named(name) if name in subject.found.by_class:
                return True
            case Exists(Role(name)) if name in subject.found.by_property:
                return True
    return False


def _unmapped(kind: str, iri: str) -> Finding:
    hint = "Map it, or queries for it have no answers."
    return Finding("", Mistake.UNMAPPED.warn(None, f"no mapping gives the {kind} <{iri}>", hint))


def check_kinds(subject: Subject) -> Iterator[Finding]:
    """Literals where the ontology wants individuals, and the other way round."""
    tbox = subject.tbox
    for each in subject.found.assertions:
        match each.predicate:
            case FixedTerm(Iri(iri)):
                literal = kind_of(each.object) is TermKind.LITERAL
                wrong = (literal and iri in tbox.object_properties - tbox.data_properties) or (
                    not literal and iri in tbox.data_properties - tbox.object_properties
                )
                if wrong:
                    made = "a literal" if literal else f"an {kind_of(each.object).value}"
                    wanted = "individuals" if literal else "literals"
                    message = f"{local_name(iri)} has {wanted}, but here {made} is made"
                    hint = "Change rr:termType, or use a template where an IRI is meant."
                    problem = Mistake.WRONG_KIND.at(each.span, message, hint)
                    yield Finding(each.triples_map, problem)


_WRITTEN_AS = {
    XSD + "dateTime": {Writing.TIMESTAMP},
    XSD + "date": {Writing.DATE, Writing.TIMESTAMP},
    XSD + "boolean": {Writing.BOOLEAN, Writing.INTEGER},
}


def check_datatypes(subject: Subject) -> Iterator[Finding]:
    """Datatypes that the column's values do not have, or that the ontology excludes."""
    for each in subject.found.assertions:
        match each.object:
            case ColumnTerm(TermKind.LITERAL, slot, datatype):
                yield from _datatype_of_column(each, slot, datatype)
        yield from _datatype_of_range(each, subject)


def _datatype_of_column(each: Assertion, slot: Slot, datatype: str) -> Iterator[Finding]:
    written = writing_of(slot.type)
    expected = NUMBERS if datatype in NUMERIC_DATATYPES else _WRITTEN_AS.get(datatype)
    if expected is not None and written not in expected:
        message = f"{slot.column.column} is {slot.type}, which is no {local_name(datatype)}"
        hint = "Change the datatype, or the type of the column in the catalog."
        yield Finding(each.triples_map, Mistake.DATATYPE_CLASH.at(each.span, message, hint))


def _datatype_of_range(each: Assertion, subject: Subject) -> Iterator[Finding]:
    if kind_of(each.object) is not TermKind.LITERAL or not isinstance(each.predicate, FixedTerm):
        return
    datatype, _ = annotation(each.object)
    assert isinstance(each.predicate.term, Iri), "predicates are IRIs"
    above = subject.hierarchy.concepts_above(Exists(Role(each.predicate.term.value, inverse=True)))
    for concept in above:
        match concept:
            case Named(iri) if iri.startswith(XSD) and not _subtype(datatype, iri):
                wanted, made = local_name(iri), local_name(datatype)
                message = f"the ontology says {wanted}, but here {made} is made"
                hint = f"Write rr:datatype xsd:{local_name(iri)}, or correct the range."
                problem = Mistake.DATATYPE_CLASH.warn(each.span, message, hint)
                yield Finding(each.triples_map, problem)


def _subtype(datatype: str, of: str) -> bool:
    integers = NUMERIC_DATATYPES - {XSD + "decimal", XSD + "double", XSD + "float"}
    return (
        datatype == of
        or (of == XSD + "decimal" and datatype in integers)
        or (of == XSD + "integer" and datatype in integers)
    )


def check_joins(subject: Subject) -> Iterator[Finding]:
    """Subjects and objects whose template fits no member of the class that the ontology says."""
    for iri, assertions in subject.found.by_property.items():
        for inverse in (False, True):
            cls, members = _nearest(Exists(Role(iri, inverse)), subject)
            for each in assertions if members else ():
                term = each.object if inverse else each.subject
                yield from _never_joins(each, term, cls, members, subject.found.base)


def _nearest(concept: Exists, subject: Subject) -> tuple[str, list[Assertion]]:
    """The nearest class above a domain or range that mappings assert, and how they do."""
    for above in subject.hierarchy.concepts_above(concept):
        members = _members(above.iri, subject) if isinstance(above, Named) else []
        if isinstance(above, Named) and members:
            return above.iri, members
    return "", []


def _members(cls: str, subject: Subject) -> list[Assertion]:
    below = subject.hierarchy.concepts_below(Named(cls))
    names = [concept.iri for concept in below if isinstance(concept, Named)]
    return [each for name in names for each in subject.found.by_class.get(name, ())]


def _never_joins(
    each: Assertion, term: TermBuilder, cls: str, members: list[Assertion], base: str
) -> Iterator[Finding]:
    if not isinstance(term, TemplateTerm):
        return
    try:
        if any(unify(term, member.subject, base) is not None for member in members):
            return
    except UnfoldingError as error:
        yield from (Finding(each.triples_map, d) for d in error.diagnostics[:1])
        return
    like = members[0]
    where = f" in line {like.span.line}" if like.span else ""
    message = f"{_open(term)} is never a {local_name(cls)}"
    hint = f"The mapping of {local_name(cls)}{where} makes {_open(like.subject)}."
    yield Finding(each.triples_map, Mistake.NEVER_JOINS.warn(_span(term, each), message, hint))


def _open(term: TermBuilder) -> str:
    return re.sub(r"\{[^{}]*\.", "{", str(term))


def _span(term: TemplateTerm, each: Assertion) -> Span | None:
    spans = (part.column.span for part in term.parts if isinstance(part, Slot))
    return next(spans, None) or each.span


def check_ambiguous_templates(subject: Subject) -> Iterator[Finding]:
    """Templates that may give two rows the same IRI: nothing reserved stands between columns."""
    for each in subject.mappings.triples_maps:
        for term in each.term_maps():
            match term.value:
                case Template(parts) if term.kind is TermKind.IRI and len(term.columns) > 1:
                    between = _between(parts)
                    bad = next((text for text in between if not _SEPARATES.search(text)), None)
                    if bad is not None:
                        message = f"{bad!r} between two columns may also stand in their values"
                        hint = "Separate the columns by / or ;, which values have encoded."
                        problem = Mistake.AMBIGUOUS_TEMPLATE.warn(term.span, message, hint)
                        yield _finding(each, problem)


_SEPARATES = re.compile(r"[^\w.~%\-]")


def _between(parts: tuple[object, ...]) -> list[str]:
    """The texts between neighbouring columns."""
    found: list[str] = []
    last: int | None = None
    for i, part in enumerate(parts):
        if not isinstance(part, str):
            if last is not None:
                found.append("".join(p for p in parts[last + 1 : i] if isinstance(p, str)))
            last = i
    return found


def check_mixed_extents(subject: Subject) -> Iterator[Finding]:
    """What tables and streams both assert: a static pattern that asks for it reads a stream."""
    for by_name in (subject.found.by_class, subject.found.by_property):
        for iri, assertions in by_name.items():
            streamed = [a for a in assertions if a.time is not None]
            if streamed and len(streamed) < len(assertions):
                message = f"{local_name(iri)} is asserted by tables and by streams"
                hint = "Keep them apart: a pattern over static data would read the stream."
                problem = Mistake.STATIC_READS_STREAM.warn(streamed[0].span, message, hint)
                yield Finding(streamed[0].triples_map, problem)


def _finding(each: TriplesMap, problem: Diagnostic) -> Finding:
    return Finding(each.id, problem)


CHECKS = (
    check_streams,
    check_vocabulary,
    check_kinds,
    check_datatypes,
    check_joins,
    check_ambiguous_templates,
    check_mixed_extents,
    check_unmapped,
)
