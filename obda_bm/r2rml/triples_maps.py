"""A mapping graph -> its triples maps ([R2RML] sections 5 to 8)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from obda_bm.diagnostics import did_you_mean
from obda_bm.ir.mapping import (
    BaseTable,
    JoinCondition,
    LogicalTable,
    ParentSubject,
    SqlView,
    TermKind,
    TermMap,
    TriplePattern,
    TriplesMap,
)
from obda_bm.ir.rdf import RDF, Iri
from obda_bm.r2rml.graph import Blank, Node, Term
from obda_bm.r2rml.mistakes import Mistake
from obda_bm.r2rml.names import NotAName, read_identifier, read_table_name
from obda_bm.r2rml.reading import Reading
from obda_bm.r2rml.term_maps import Place, constant_term, read_term_map
from obda_bm.r2rml.vocabulary import RR, SQL_VERSIONS, Part

_TYPE = Iri(RDF + "type")


def read_triples_maps(reading: Reading) -> Iterator[TriplesMap]:
    """The triples maps of a graph, in the order of its text; problems are collected."""
    for node in _roots(reading):
        found = _triples_map(node, reading)
        if found is not None:
            yield found


def _roots(reading: Reading) -> list[Node]:
    roots: dict[Term, Node] = {}
    marks = {Iri(RR + name) for name in Part.TRIPLES_MAP.properties}
    for triple in reading.graph.triples:
        typed = triple.predicate.term == _TYPE and triple.object.term == Iri(RR + "TriplesMap")
        if typed or triple.predicate.term in marks:
            roots.setdefault(triple.subject.term, triple.subject)
    return list(roots.values())


def _triples_map(node: Node, reading: Reading) -> TriplesMap | None:
    reading.check_properties(node, Part.TRIPLES_MAP)
    table = _logical_table(node, reading)
    subject, classes, graphs = _subject(node, reading)
    patterns = [*classes]
    for described in reading.all(node, "predicateObjectMap"):
        patterns += _predicate_object_map(described, graphs, reading)
    if table is None or subject is None:
        return None
    triples = tuple(_in_graphs(pattern, graphs) for pattern in patterns)
    return TriplesMap(id_of(node.term, reading), table, subject, triples, node.span)


def id_of(term: Term, reading: Reading) -> str:
    """The name under which other triples maps refer to this one; blank nodes are of their file."""
    match term:
        case Iri(value):
            return value
        case Blank(label):
            return f"_:{label}@{reading.graph.source.name}"
        case _:
            return str(term)


def _in_graphs(pattern: TriplePattern, graphs: list[TermMap]) -> TriplePattern:
    both = dict.fromkeys((*graphs, *pattern.graphs))
    return TriplePattern(pattern.predicate, pattern.object, tuple(both))


def _logical_table(node: Node, reading: Reading) -> LogicalTable | None:
    given = _exactly_one(node, ("logicalTable",), Part.TRIPLES_MAP, reading)
    if given is None:
        return None
    reading.check_properties(given, Part.LOGICAL_TABLE)
    _check_sql_version(given, reading)
    named = _exactly_one(given, ("tableName", "sqlQuery"), Part.LOGICAL_TABLE, reading)
    if named is None:
        return None
    is_query = named in reading.all(given, "sqlQuery")
    text = reading.text(named, "sqlQuery" if is_query else "tableName")
    if text is None:
        return None
    if is_query:
        exact = named.inside is not None and len(named.inside.text) == len(text)
        return SqlView(text, named.inside if exact else named.span)
    try:
        return BaseTable(read_table_name(text), named.span)
    except NotAName:
        hint = 'Write a table name, as "sensor", or "\\"Sensor\\"" where case matters.'
        reading.report(Mistake.BAD_IDENTIFIER.at(named.span, f"{text!r} is no table name", hint))
        return None


def _check_sql_version(node: Node, reading: Reading) -> None:
    for version in reading.all(node, "sqlVersion"):
        term = version.term
        name = term.value.removeprefix(RR) if isinstance(term, Iri) else str(term)
        if name not in SQL_VERSIONS:
            hint = did_you_mean(name, SQL_VERSIONS) or "Write rr:SQL2008, or leave it out."
            message = f"unknown SQL version {name!r}"
            reading.report(Mistake.UNKNOWN_TERM.at(version.span, message, hint))


def _exactly_one(node: Node, names: tuple[str, ...], part: Part, reading: Reading) -> Node | None:
    """The node that exactly one of the properties gives; a problem where none or several do."""
    found = {n.term: n for n in reversed(reading.all(node, *names))}
    listed = " or ".join(f"rr:{name}" for name in names)
    if len(found) > 1:
        second = list(found.values())[-2]
        message, hint = f"{part.title} with more than one {listed}", "Keep one of them."
        reading.report(Mistake.TOO_MANY.at(second.span, message, hint))
    elif not found and not reading.misspelt(node, part):
        message, hint = f"{part.title} without {listed}", "Add it; it is required."
        reading.report(Mistake.MISSING.at(node.span, message, hint))
    return next(iter(found.values())) if len(found) == 1 else None


def _subject(
    node: Node, reading: Reading
) -> tuple[TermMap | None, list[TriplePattern], list[TermMap]]:
    """The subject, its classes as patterns, and its graphs."""
    given = _exactly_one(node, ("subjectMap", "subject"), Part.TRIPLES_MAP, reading)
    if given is None:
        return None, [], []
    if given in reading.all(node, "subject"):
        return constant_term(given, Place.SUBJECT, reading), [], []
    subject = read_term_map(given, Place.SUBJECT, reading)
    classes = [
        TriplePattern(TermMap(_TYPE, TermKind.IRI, span=named.span), term)
        for named in reading.all(given, "class")
        if (term := constant_term(named, Place.SUBJECT, reading)) is not None
    ]
    return subject, classes, _terms(given, "graph", Place.GRAPH, reading)


def _terms(node: Node, name: str, place: Place, reading: Reading) -> list[TermMap]:
    """The term maps under rr:`name` and rr:`name`Map."""
    constants = (constant_term(n, place, reading) for n in reading.all(node, name))
    described = (read_term_map(n, place, reading) for n in reading.all(node, f"{name}Map"))
    return [term for term in (*constants, *described) if term is not None]


def _predicate_object_map(
    node: Node, graphs: list[TermMap], reading: Reading
) -> Iterator[TriplePattern]:
    part = Part.PREDICATE_OBJECT_MAP
    reading.check_properties(node, part)
    for names in (("predicate", "predicateMap"), ("object", "objectMap")):
        if not reading.all(node, *names) and not reading.misspelt(node, part):
            message = f"{part.title} without rr:{names[0]} or rr:{names[1]}"
            hint = "Add it; every triple has a predicate and an object."
            reading.report(Mistake.MISSING.at(node.span, message, hint))
    own = tuple(_terms(node, "graph", Place.GRAPH, reading))
    predicates = _terms(node, "predicate", Place.PREDICATE, reading)
    for predicate, object_ in product(predicates, list(_objects(node, reading))):
        yield TriplePattern(predicate, object_, own)


def _objects(node: Node, reading: Reading) -> Iterator[TermMap | ParentSubject]:
    for named in reading.all(node, "object"):
        if (term := constant_term(named, Place.OBJECT, reading)) is not None:
            yield term
    for described in reading.all(node, "objectMap"):
        if reading.all(described, "parentTriplesMap"):
            yield from _parent_subject(described, reading)
        elif (term := read_term_map(described, Place.OBJECT, reading)) is not None:
            yield term


def _parent_subject(node: Node, reading: Reading) -> Iterator[ParentSubject]:
    reading.check_properties(node, Part.OBJECT_MAP)
    extra = reading.all(node, "constant", "column", "template", "termType", "datatype", "language")
    if extra:
        message = "an object map that refers to a parent and makes a term itself"
        reading.report(Mistake.TOO_MANY.at(extra[0].span, message, "Keep one of the two."))
    parent = reading.one(node, "parentTriplesMap")
    assert parent is not None, "the caller has seen it"
    joins = [_join(condition, reading) for condition in reading.all(node, "joinCondition")]
    if None not in joins:
        known = tuple(join for join in joins if join is not None)
        yield ParentSubject(id_of(parent.term, reading), known, parent.span)


def _join(node: Node, reading: Reading) -> JoinCondition | None:
    reading.check_properties(node, Part.JOIN)
    names = []
    for side in ("child", "parent"):
        given = _exactly_one(node, (side,), Part.JOIN, reading)
        text = reading.text(given, side) if given is not None else None
        if given is None or text is None:
            continue
        try:
            names.append((read_identifier(text), given.span))
        except NotAName:
            message, hint = f"{text!r} is no column name", "Name a column of the table."
            reading.report(Mistake.BAD_IDENTIFIER.at(given.span, message, hint))
    if len(names) < 2:
        return None
    (child, _), (parent, _) = names
    return JoinCondition(child, parent, node.span)
