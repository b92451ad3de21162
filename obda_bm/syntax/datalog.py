"""Datalog-like text, as papers write queries -> UnionOfCQs.

    q(?x) :- Pump(?x), feeds(?x, ?y), ?y != <http://example.org/tank>

Predicates are IRIs in angle brackets, or local names of the ontology's classes and properties.
Several rules make a union. `<-` does for `:-`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count

from obda_bm.diagnostics import Diagnostic, SourceText, SparqlError, cover
from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    PropertyAtom,
    TermComparison,
    UnionOfCQs,
    local_name,
    variables_of,
)
from obda_bm.syntax.sparql_terms import Names, read_term
from obda_bm.syntax.sparql_tokens import Cursor, Kind, Token, tokenize

_OPS = {"=": Op.EQ, "!=": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
_RULE = "Write q(?x) :- Class(?x), property(?x, ?y)."


class Predicates:
    """The predicates of an ontology by their local names."""

    def __init__(self, iris: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for iri in sorted(set(iris)):
            self._by_name.setdefault(local_name(iri), []).append(iri)
        spaces = Counter(i.removesuffix(n) for n, iris_ in self._by_name.items() for i in iris_)
        self._namespace = max(spaces, key=lambda s: (spaces[s], s), default="urn:obda-bm:query#")

    def resolve(self, token: Token) -> str:
        """The IRI meant by a local name; one that the ontology lacks gets its usual namespace."""
        found = self._by_name.get(token.text, [])
        if len(found) > 1:
            message = f"{token.text!r} could be {' or '.join(f'<{iri}>' for iri in found)}"
            hint = "Write the whole IRI in angle brackets."
            raise SparqlError(Diagnostic("OBM646", message, token.span, hint))
        return found[0] if found else self._namespace + token.text


def parse_datalog(source: SourceText, iris: Iterable[str] = ()) -> UnionOfCQs:
    """The union of the rules in `source`; `iris` are what local names may stand for.

    >>> print(parse_datalog(SourceText("q", "q(?x) :- Pump(?x), feeds(?x, ?y)")))
    q(?x) :- Pump(?x), feeds(?x, ?y)

    Raises:
        SparqlError: if it is malformed.
    """
    tokens = list(tokenize(source))
    cursor, predicates = Cursor(tokens), Predicates(iris)
    used = {token.text[1:] for token in tokens if token.kind is Kind.VARIABLE}
    names = Names(Variable(f"_{n}") for n in count(1) if f"_{n}" not in used)
    rules: list[ConjunctiveQuery] = []
    while cursor.here.kind is not Kind.END:
        start = cursor.here
        rule = _read_rule(cursor, names, predicates)
        if rules and len(rule.head) != len(rules[0].head):
            message = f"this rule has {len(rule.head)} answers, the first {len(rules[0].head)}"
            raise SparqlError(Diagnostic("OBM641", message, start.span, "Make them equal."))
        rules.append(rule)
    if not rules:
        raise cursor.unexpected("a rule", _RULE)
    return UnionOfCQs(_columns(rules[0].head), tuple(rules))


def _columns(head: tuple[RdfTerm, ...]) -> tuple[str, ...]:
    return tuple(
        term.name if isinstance(term, Variable) else f"c{position}"
        for position, term in enumerate(head)
    )


def _read_rule(cursor: Cursor, names: Names, predicates: Predicates) -> ConjunctiveQuery:
    if cursor.here.kind is not Kind.WORD:
        raise cursor.unexpected("the head of a rule", _RULE)
    cursor.advance()
    opening = cursor.here
    head = tuple(_read_terms(cursor, names))
    if not cursor.take(":-", "<-"):
        raise cursor.unexpected("':-'", _RULE)
    atoms: list[Atom] = []
    comparisons: list[TermComparison] = []
    if not cursor.take_word("TRUE"):
        for part in _read_body(cursor, names, predicates):
            if isinstance(part, TermComparison):
                comparisons.append(part)
            else:
                atoms.append(part)
    cursor.take(".")
    _check_bound(head, tuple(atoms), comparisons, opening)
    return ConjunctiveQuery(head, tuple(atoms), tuple(comparisons))


def _read_body(
    cursor: Cursor, names: Names, predicates: Predicates
) -> Iterator[Atom | TermComparison]:
    while True:
        if cursor.here.kind is Kind.WORD or (
            cursor.here.kind in (Kind.IRI, Kind.NAME) and cursor.next.text == "("
        ):
            yield _read_atom(cursor, names, predicates)
        else:
            yield _read_comparison(cursor, names)
        if not cursor.take(","):
            return


def _read_atom(cursor: Cursor, names: Names, predicates: Predicates) -> Atom:
    token = cursor.advance()
    iri = predicates.resolve(token) if token.kind is Kind.WORD else names.resolve(token)
    end = cursor.here
    terms = tuple(_read_terms(cursor, names))
    span = cover((token.span, end.span))
    match terms:
        case (term,):
            return ClassAtom(iri, term, span=span)
        case (subject, object_):
            return PropertyAtom(iri, subject, object_, span=span)
        case _:
            message = f"{token.text} has {len(terms)} arguments"
            hint = "A class has one argument, a property two."
            raise SparqlError(Diagnostic("OBM641", message, token.span, hint))


def _read_comparison(cursor: Cursor, names: Names) -> TermComparison:
    start = cursor.here
    left = read_term(cursor, names)
    if cursor.here.kind is not Kind.SYMBOL or cursor.here.text not in _OPS:
        raise cursor.unexpected("a comparison", _RULE)
    op = _OPS[cursor.advance().text]
    end = cursor.here
    return TermComparison(left, op, read_term(cursor, names), span=cover((start.span, end.span)))


def _read_terms(cursor: Cursor, names: Names) -> Iterator[RdfTerm]:
    cursor.expect("(", _RULE)
    while not cursor.at(")"):
        yield read_term(cursor, names)
        if not cursor.take(","):
            break
    cursor.expect(")", _RULE)


def _check_bound(
    head: tuple[RdfTerm, ...],
    atoms: tuple[Atom, ...],
    comparisons: Iterable[TermComparison],
    place: Token,
) -> None:
    bound = set(variables_of(atoms))
    used = (*head, *(t for c in comparisons for t in (c.left, c.right)))
    for term in used:
        if isinstance(term, Variable) and term not in bound:
            message = f"no atom binds {term}"
            raise SparqlError(Diagnostic("OBM644", message, place.span, "Use it in an atom."))
