"""SPARQL basic graph patterns, with FILTER comparisons and UNION -> UnionOfCQs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, product
from urllib.parse import urljoin

from obda_bm.diagnostics import Diagnostic, SourceText, Span, SparqlError, cover
from obda_bm.ir.rdf import RDF, Iri, Literal, RdfTerm, Variable
from obda_bm.ir.ucq import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    PropertyAtom,
    TermComparison,
    UnionOfCQs,
    variables_of,
)
from obda_bm.syntax.sparql_filters import MAX_DEPTH, outside, read_filter
from obda_bm.syntax.sparql_terms import Names, read_iri, read_term
from obda_bm.syntax.sparql_tokens import Cursor, Kind, Token, tokenize

MAX_DISJUNCTS = 10_000

_FORMS = ("CONSTRUCT", "DESCRIBE", "INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "WITH")
_CLAUSES = ("OPTIONAL", "MINUS", "GRAPH", "SERVICE", "BIND", "VALUES", "EXISTS", "NOT", "SELECT")
_MODIFIERS = ("ORDER", "LIMIT", "OFFSET", "GROUP", "HAVING", "FROM", "VALUES")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Triples and filters that hold together."""

    atoms: tuple[Atom, ...] = ()
    comparisons: tuple[TermComparison, ...] = ()

    def joined(self, other: Pattern) -> Pattern:
        return Pattern(self.atoms + other.atoms, self.comparisons + other.comparisons)


Patterns = tuple[Pattern, ...]


def parse_sparql(source: SourceText) -> UnionOfCQs:
    """The union of conjunctive queries that a SELECT or ASK query states.

    >>> text = "SELECT ?x WHERE { ?x a <http://example.org/Pump> }"
    >>> print(parse_sparql(SourceText("pumps.rq", text)))
    q(?x) :- Pump(?x)

    Raises:
        SparqlError: if it is malformed, or no union of basic graph patterns.
    """
    tokens = list(tokenize(source))
    cursor, names = Cursor(tokens), Names(_fresh(tokens))
    _read_prologue(cursor, names)
    asked = _read_form(cursor)
    cursor.take_word("WHERE")
    patterns = _read_group(cursor, names, 0)
    if cursor.here.kind is not Kind.END:
        raise _after_the_pattern(cursor)
    answers = _all_variables(tokens) if asked is None else asked
    return _union(answers, patterns)


def _fresh(tokens: Iterable[Token]) -> Iterator[Variable]:
    used = {token.text[1:] for token in tokens if token.kind is Kind.VARIABLE}
    return (Variable(f"_{n}") for n in count(1) if f"_{n}" not in used)


def _read_prologue(cursor: Cursor, names: Names) -> None:
    while word := cursor.take_word("PREFIX", "BASE"):
        if word.is_word("BASE"):
            names.base = urljoin(names.base, _read_namespace(cursor))
            continue
        if cursor.here.kind is not Kind.NAME or not cursor.here.text.endswith(":"):
            raise cursor.unexpected("a prefix", "Write PREFIX name: <namespace>.")
        prefix = cursor.advance().text[:-1]
        names.prefixes[prefix] = urljoin(names.base, _read_namespace(cursor))


def _read_namespace(cursor: Cursor) -> str:
    if cursor.here.kind is not Kind.IRI:
        raise cursor.unexpected("an IRI", "Write the namespace in angle brackets.")
    return cursor.advance().text[1:-1]


def _read_form(cursor: Cursor) -> tuple[Token, ...] | None:
    """The answer variables; None stands for `SELECT *`."""
    if cursor.take_word("ASK"):
        return ()
    if any(map(cursor.here.is_word, _FORMS)):
        raise outside(cursor.here, cursor.here.text.upper(), "Write a SELECT or ASK query.")
    if not cursor.take_word("SELECT"):
        raise cursor.unexpected("SELECT or ASK", "Write SELECT ?x WHERE { … }.")
    cursor.take_word("DISTINCT", "REDUCED")  # certain answers are a set anyway
    if cursor.take("*"):
        return None
    found: list[Token] = []
    while cursor.here.kind is Kind.VARIABLE:
        found.append(cursor.advance())
    if cursor.at("("):
        raise outside(cursor.here, "an expression in SELECT", "Select variables only.")
    if not found:
        raise cursor.unexpected("a variable", "Name the answer variables, or write *.")
    return tuple(found)


def _all_variables(tokens: Iterable[Token]) -> tuple[Token, ...]:
    found: dict[str, Token] = {}
    for token in tokens:
        if token.kind is Kind.VARIABLE:
            found.setdefault(token.text[1:], token)
    return tuple(found.values())


def _read_group(cursor: Cursor, names: Names, depth: int) -> Patterns:
    """What stands between braces."""
    cursor.expect("{", "The pattern stands between { and }.")
    if depth > MAX_DEPTH:
        raise outside(cursor.here, "so deep a nesting", "Leave out braces.")
    read: Patterns = (Pattern(),)
    while not cursor.at("}"):
        read = _joined(read, _read_element(cursor, names, depth), cursor)
        cursor.take(".")
    cursor.advance()
    return read


def _joined(left: Patterns, right: Patterns, cursor: Cursor) -> Patterns:
    if len(left) * len(right) > MAX_DISJUNCTS:
        raise outside(cursor.here, f"a union of more than {MAX_DISJUNCTS} patterns", "Split it.")
    return tuple(a.joined(b) for a, b in product(left, right))


def _read_element(cursor: Cursor, names: Names, depth: int) -> Patterns:
    if cursor.at("{"):
        return _read_union(cursor, names, depth)
    if cursor.take_word("FILTER"):
        return (Pattern(comparisons=tuple(read_filter(cursor, names))),)
    if any(map(cursor.here.is_word, _CLAUSES)):
        hint = "Only triple patterns, FILTER and UNION are rewritten."
        raise outside(cursor.here, cursor.here.text.upper(), hint)
    return (Pattern(atoms=tuple(_read_triples(cursor, names, depth))),)


def _read_union(cursor: Cursor, names: Names, depth: int) -> Patterns:
    read = _read_group(cursor, names, depth + 1)
    while cursor.take_word("UNION"):
        read += _read_group(cursor, names, depth + 1)
    return read


def _read_triples(cursor: Cursor, names: Names, depth: int) -> Iterator[Atom]:
    """The triples with one subject."""
    start = cursor.here
    subject: RdfTerm
    if cursor.at("["):
        subject, atoms = _read_blank(cursor, names, depth)
        yield from atoms
        if cursor.at(".", "}"):
            return
    else:
        subject = read_term(cursor, names)
        if isinstance(subject, Literal):
            raise outside(start, "a literal as subject", "Subjects are IRIs or variables.")
    yield from _read_properties(cursor, names, subject, start, depth)


def _read_blank(cursor: Cursor, names: Names, depth: int) -> tuple[Variable, list[Atom]]:
    """The variable of `[ property object; … ]`, and what is said about it."""
    start = cursor.expect("[", "")
    if depth > MAX_DEPTH:
        raise outside(start, "so deep a nesting", "Name the blank nodes.")
    subject = next(names.fresh)
    atoms = list(_read_properties(cursor, names, subject, start, depth + 1))
    cursor.expect("]", "Close the blank node.")
    return subject, atoms


def _read_properties(
    cursor: Cursor, names: Names, subject: RdfTerm, start: Token, depth: int
) -> Iterator[Atom]:
    while True:
        property_token = cursor.here
        iri = _read_property(cursor, names)
        while True:
            object_token = cursor.here
            object_: RdfTerm
            if cursor.at("["):
                object_, atoms = _read_blank(cursor, names, depth)
                yield from atoms
            else:
                object_ = read_term(cursor, names)
            span = cover((start.span, property_token.span, object_token.span))
            yield _atom(subject, iri, object_, span, object_token)
            if not cursor.take(","):
                break
        if not cursor.take(";"):
            return
        while cursor.take(";"):
            pass
        if cursor.at(".", "}", "]"):
            return


def _read_property(cursor: Cursor, names: Names) -> str:
    token = cursor.here
    if token.kind is Kind.WORD and token.text == "a":
        cursor.advance()
        return RDF + "type"
    if token.kind is Kind.VARIABLE:
        hint = "Name the property; the ontology's axioms are about named properties."
        raise outside(token, "a variable as property", hint)
    if cursor.at("^", "(", "!"):
        raise _path(token)
    iri = read_iri(cursor, names, "a property", "Write subject, property, object.")
    if cursor.at("/", "|", "*", "+", "?", "^"):
        raise _path(cursor.here)
    return iri


def _path(token: Token) -> SparqlError:
    return outside(token, "a property path", "Write it out with a variable for each step.")


def _atom(
    subject: RdfTerm, iri: str, object_: RdfTerm, span: Span | None, object_token: Token
) -> Atom:
    if iri != RDF + "type":
        return PropertyAtom(iri, subject, object_, span=span)
    if not isinstance(object_, Iri):
        hint = "Name the class; the ontology's axioms are about named classes."
        raise outside(object_token, "a class that is not an IRI", hint)
    return ClassAtom(object_.value, subject, span=span)


def _union(answers: tuple[Token, ...], patterns: Patterns) -> UnionOfCQs:
    head = tuple(Variable(token.text[1:]) for token in answers)
    for pattern in patterns:
        bound = set(variables_of(pattern.atoms))
        _check_bound(((Variable(t.text[1:]), t.span) for t in answers), bound)
        _check_bound(_compared(pattern), bound)
    disjuncts = tuple(ConjunctiveQuery(head, p.atoms, p.comparisons) for p in patterns)
    return UnionOfCQs(tuple(v.name for v in head), disjuncts)


def _compared(pattern: Pattern) -> Iterator[tuple[Variable, Span | None]]:
    for comparison in pattern.comparisons:
        for term in (comparison.left, comparison.right):
            if isinstance(term, Variable):
                yield term, comparison.span


def _check_bound(used: Iterable[tuple[Variable, Span | None]], bound: set[Variable]) -> None:
    for variable, span in used:
        if variable not in bound:
            message = f"no triple pattern binds {variable}"
            hint = "Use it in a triple pattern, in every part of a UNION."
            raise SparqlError(Diagnostic("OBM644", message, span, hint))


def _after_the_pattern(cursor: Cursor) -> SparqlError:
    if any(map(cursor.here.is_word, _MODIFIERS)):
        return outside(cursor.here, cursor.here.text.upper(), "Take it out of the query.")
    return cursor.unexpected("the end of the query", "Remove what follows.")
