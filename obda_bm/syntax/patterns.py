"""Triple patterns: `{ ?s a :Sensor ; :value ?x . FILTER (?x > 5) }`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from obda_bm.diagnostics import Span, StarqlError, cover, did_you_mean
from obda_bm.ir.formula_text import duration_text
from obda_bm.ir.formulas import DURATION, PARAMETER, Duration, Formula, GroupPattern
from obda_bm.ir.rdf import RDF, XSD, Iri, Literal, RdfTerm, Variable
from obda_bm.ir.ucq import Atom, ClassAtom, PropertyAtom
from obda_bm.syntax.cursor import CLAUSES, DECLARATIONS, Cursor, nearest
from obda_bm.syntax.iris import resolve
from obda_bm.syntax.literals import STRINGS, number, parse_literal
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.tokens import Kind, Token

ConditionParser = Callable[[Cursor], Formula]

_TYPE = RDF + "type"
_REFUSED = {
    "OPTIONAL": "Ask for the optional part in a query of its own.",
    "UNION": "Write OR between two GRAPH patterns in HAVING.",
    "MINUS": "Write NOT in HAVING.",
    "BIND": "Write the expression where it is used.",
    "VALUES": "Write a FILTER.",
    "SERVICE": "Name the data in STATIC DATA.",
    "GRAPH": "Write GRAPH in HAVING, one for each state.",
}


def parse_group(cursor: Cursor, parse_condition: ConditionParser) -> GroupPattern:
    """`{ ... }`, with as many mistakes reported as it contains."""
    opening = cursor.expect_symbol("{", "A pattern stands in braces, as in { ?s a :Sensor }.")
    atoms: list[Atom] = []
    filters: list[Formula] = []
    while not cursor.at_symbol("}"):
        if cursor.token.kind is Kind.END or cursor.at_word(*DECLARATIONS, *CLAUSES):
            raise _unclosed(cursor, opening)
        if cursor.accept_word("FILTER"):
            filters += filter(None, [cursor.attempt(parse_condition, ".", "}")])
            cursor.accept_symbol(".")
        elif found := cursor.attempt(_parse_statement, ".", "}"):
            atoms += found
        else:
            cursor.accept_symbol(".")
    cursor.take()
    return GroupPattern(tuple(atoms), tuple(filters), cursor.span_from(opening))


def _unclosed(cursor: Cursor, opening: Token) -> StarqlError:
    hint = f"Close with '}}' the pattern that opens in line {opening.span.line}."
    return cursor.unexpected("'}'", hint)


def _parse_statement(cursor: Cursor) -> tuple[Atom, ...]:
    """Triples and the full stop that ends them, which may be missing at the end of a pattern."""
    atoms = parse_triples(cursor)
    ends = cursor.token.kind is Kind.END or cursor.at_word("FILTER", *DECLARATIONS, *CLAUSES)
    if not (cursor.accept_symbol(".") or cursor.at_symbol("}") or ends):
        hint = "Separate triples by '.', and close the pattern with '}'."
        raise cursor.unexpected("'.' or '}'", hint)
    return atoms


def parse_triples(cursor: Cursor) -> tuple[Atom, ...]:
    """The triples of one subject: `subject verb object, object ; verb object`."""
    start = cursor.token
    _refuse_keyword(cursor)
    subject = parse_term(cursor, "a subject")
    if isinstance(subject, Literal):
        hint = "A subject is a variable or an IRI."
        raise Mistake.UNSUPPORTED_PATTERN.error(start.span, "a literal as a subject", hint)
    atoms = list(_verb_objects(cursor, subject))
    while cursor.accept_symbol(";"):
        if not cursor.at_symbol(".", "}", ";"):
            atoms += _verb_objects(cursor, subject)
    atoms[0] = replace(atoms[0], span=cover([start.span, atoms[0].span]))
    return tuple(atoms)


def _refuse_keyword(cursor: Cursor) -> None:
    word = cursor.token.word
    if word in _REFUSED:
        message = f"{word} cannot stand in a pattern"
        raise Mistake.UNSUPPORTED_PATTERN.error(cursor.token.span, message, _REFUSED[word])
    if word and (near := nearest(cursor.token, ["FILTER"])):
        raise cursor.unexpected("a subject or '}'", f"Did you mean {near}?")


def _verb_objects(cursor: Cursor, subject: RdfTerm) -> Iterator[Atom]:
    start = cursor.token
    verb = parse_verb(cursor)
    yield _atom(cursor, subject, verb, cursor.token, start)
    while cursor.accept_symbol(","):
        yield _atom(cursor, subject, verb, cursor.token, cursor.token)


def _atom(cursor: Cursor, subject: RdfTerm, verb: str, at: Token, start: Token) -> Atom:
    if verb != _TYPE:
        object_ = parse_term(cursor, "an object")
        return PropertyAtom(verb, subject, object_, span=cursor.span_from(start))
    match parse_term(cursor, "a class"):
        case Iri(iri):
            return ClassAtom(iri, subject, span=cursor.span_from(start))
        case Variable(name) if name.startswith(PARAMETER):
            return ClassAtom(name, subject, span=cursor.span_from(start))
        case _:
            message, hint = "the class is not an IRI", "Name a class of the ontology after 'a'."
            raise Mistake.UNSUPPORTED_PATTERN.error(at.span, message, hint)


def parse_verb(cursor: Cursor) -> str:
    """The IRI of the property; `a` is rdf:type."""
    token = cursor.token
    if token.text == "a":
        cursor.take()
        return _TYPE
    match token.kind:
        case Kind.IRI | Kind.NAME:
            _refuse_blank(token)
            return resolve(cursor, cursor.take())
        case Kind.VARIABLE if token.text.startswith(PARAMETER):
            return parameter(cursor, cursor.take()).name
        case Kind.VARIABLE:
            message = "a variable as a property"
            hint = "Name a property of the ontology; STARQL does not ask which one holds."
            raise Mistake.UNSUPPORTED_PATTERN.error(token.span, message, hint)
        case _:
            raise cursor.unexpected("a property", _name_hint(token))


def parse_term(cursor: Cursor, role: str) -> RdfTerm:
    """A variable, IRI or literal in the place that `role` names."""
    token = cursor.token
    match token.kind:
        case Kind.VARIABLE:
            return parse_variable(cursor)
        case Kind.IRI | Kind.NAME:
            _refuse_blank(token)
            return Iri(resolve(cursor, cursor.take()))
        case Kind.NUMBER | Kind.DURATION:
            return _as_literal(parse_literal(cursor))
        case kind if kind in STRINGS:
            return _as_literal(parse_literal(cursor))
        case Kind.WORD if token.text in ("true", "false"):
            return Literal(cursor.take().text, XSD + "boolean")
        case Kind.SYMBOL if token.text == "-" and cursor.following.kind is Kind.NUMBER:
            cursor.take()
            return number("-" + cursor.take().text)
        case _:
            _refuse_blank(token)
            raise cursor.unexpected(role, _name_hint(token))


def _as_literal(value: Literal | Duration) -> Literal:
    if isinstance(value, Literal):
        return value
    return Literal(duration_text(value).split('"')[1], DURATION)


def parse_variable(cursor: Cursor) -> Variable:
    """`?x`, or a parameter `$p` inside an aggregate."""
    token = cursor.take()
    if token.text.startswith(PARAMETER):
        return parameter(cursor, token)
    return Variable(token.text[1:])


def parameter(cursor: Cursor, token: Token) -> Variable:
    declared = cursor.parameters
    if declared is None:
        hint = f"Write ?{token.text[1:]}; parameters stand in CREATE AGGREGATE only."
        _unknown_parameter(cursor, token.span, f"parameter {token.text} outside an aggregate", hint)
    elif token.text not in declared:
        hint = did_you_mean(token.text, declared) or "Add it to the list after the name."
        _unknown_parameter(cursor, token.span, f"undeclared parameter {token.text}", hint)
    return Variable(token.text)


def _unknown_parameter(cursor: Cursor, span: Span, message: str, hint: str) -> None:
    cursor.note(Mistake.UNKNOWN_PARAMETER, span, message, hint)


def _refuse_blank(token: Token) -> None:
    if token.text.startswith("_:") or token.text == "[":
        hint = "Write a variable instead; it need not be selected."
        raise Mistake.UNSUPPORTED_PATTERN.error(token.span, "a blank node in a pattern", hint)


def _name_hint(token: Token) -> str:
    if token.kind is Kind.WORD:
        return f"Names of the ontology have a prefix or angle brackets, as in :{token.text}."
    return ""
