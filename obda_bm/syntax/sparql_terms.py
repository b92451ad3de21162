"""RDF terms in the syntax that SPARQL shares with Turtle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

from obda_bm.diagnostics import Diagnostic, SparqlError, did_you_mean
from obda_bm.ir.rdf import RDF, XSD, Iri, Literal, RdfTerm, Variable
from obda_bm.syntax.sparql_tokens import Cursor, Kind, Token

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_WELL_KNOWN = {"rdf": RDF, "xsd": XSD}


@dataclass(slots=True)
class Names:
    """What prefixes and blank nodes stand for, as far as the text has been read."""

    fresh: Iterator[Variable]
    prefixes: dict[str, str] = field(default_factory=dict)
    base: str = ""
    blanks: dict[str, Variable] = field(default_factory=dict)

    def blank(self, label: str) -> Variable:
        """The variable for a blank node: a query's blank nodes are variables nobody asks for."""
        return self.blanks.setdefault(label, next(self.fresh))

    def resolve(self, token: Token) -> str:
        """The IRI that `token` writes."""
        if token.kind is Kind.IRI:
            return urljoin(self.base, token.text[1:-1])
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            raise _unknown_prefix(token, prefix, self.prefixes)
        return self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)


def is_term(token: Token) -> bool:
    """Whether a term begins here."""
    kinds = (Kind.IRI, Kind.NAME, Kind.VARIABLE, Kind.STRING, Kind.NUMBER, Kind.BLANK)
    return token.kind in kinds or token.is_word("TRUE") or token.is_word("FALSE")


def read_term(cursor: Cursor, names: Names) -> RdfTerm:
    """The term at the cursor."""
    token = cursor.here
    if not is_term(token):
        raise cursor.unexpected("a term", "Write a variable, an IRI or a literal here.")
    cursor.advance()
    match token.kind:
        case Kind.IRI | Kind.NAME:
            return Iri(names.resolve(token))
        case Kind.VARIABLE:
            return Variable(token.text[1:])
        case Kind.STRING:
            return _read_literal(token, cursor, names)
        case Kind.NUMBER:
            return Literal(token.text, _number_type(token.text))
        case Kind.BLANK:
            return next(names.fresh) if token.text[0] == "[" else names.blank(token.text)
        case _:
            return Literal(token.text.lower(), XSD + "boolean")


def read_iri(cursor: Cursor, names: Names, wanted: str, hint: str) -> str:
    """The IRI at the cursor."""
    if cursor.here.kind not in (Kind.IRI, Kind.NAME):
        raise cursor.unexpected(wanted, hint)
    return names.resolve(cursor.advance())


def _read_literal(token: Token, cursor: Cursor, names: Names) -> Literal:
    quotes = 3 if token.text[:3] in ('"""', "'''") else 1
    text = _unescape(token, token.text[quotes:-quotes])
    if cursor.here.kind is Kind.LANGUAGE:
        return Literal(text, RDF + "langString", cursor.advance().text[1:].lower())
    if cursor.take("^^"):
        return Literal(text, read_iri(cursor, names, "a datatype", "Write its IRI."))
    return Literal(text)


def _unescape(token: Token, text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code:
            return _character(token, int(code, 16))
        if match[3] not in _ESCAPES:
            raise _bad_escape(token, match[0])
        return _ESCAPES[match[3]]

    return _ESCAPE.sub(replacement, text)


def _character(token: Token, code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise _bad_escape(token, f"U+{code:X}")
    return chr(code)


def _number_type(text: str) -> str:
    if "e" in text.lower():
        return XSD + "double"
    return XSD + ("decimal" if "." in text else "integer")


def _bad_escape(token: Token, what: str) -> SparqlError:
    hint = r"Known are \t \b \n \r \f \" \' \\ and \u with four digits."
    return SparqlError(Diagnostic("OBM645", f"no such character: {what}", token.span, hint))


def _unknown_prefix(token: Token, prefix: str, known: dict[str, str]) -> SparqlError:
    hint = did_you_mean(prefix, known) if prefix else None
    if hint is None:
        iri = _WELL_KNOWN.get(prefix, "http://example.org/")
        hint = f"Declare it: PREFIX {prefix}: <{iri}>."
    message = f"the prefix {prefix + ':'!r} is not declared"
    return SparqlError(Diagnostic("OBM642", message, token.span, hint))
