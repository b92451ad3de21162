"""IRIs in full, by prefix, and the datatypes of XML Schema in any case."""

from __future__ import annotations

from obda_bm.diagnostics import did_you_mean
from obda_bm.ir.formula_text import ABSOLUTE, DATATYPES, resolve_reference
from obda_bm.ir.rdf import RDF, XSD
from obda_bm.syntax.cursor import Cursor
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.tokens import Kind, Token

WELL_KNOWN = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
}
_CANONICAL = {name.lower(): name for name in DATATYPES}


def resolve(cursor: Cursor, token: Token) -> str:
    """The IRI that `token`, in angle brackets or with a prefix, stands for."""
    return _full(cursor, token) if token.kind is Kind.IRI else _prefixed(cursor, token)


def _full(cursor: Cursor, token: Token) -> str:
    iri = resolve_reference(cursor.base, token.text[1:-1])
    if not ABSOLUTE.match(iri):
        hint = "Write the whole IRI, or declare BASE <...> at the top."
        cursor.note(Mistake.BAD_IRI, token.span, f"the IRI {token.text} is relative", hint)
    return iri


def _prefixed(cursor: Cursor, token: Token) -> str:
    prefix, _, local = token.text.partition(":")
    declared = {p.name: p.namespace for p in cursor.prefixes}
    if prefix in declared:
        return declared[prefix] + local
    if prefix.lower() == "xsd":
        return XSD + _datatype(cursor, token, local)
    if prefix in WELL_KNOWN:
        return WELL_KNOWN[prefix] + local
    known = [*declared, *WELL_KNOWN, "xsd"]
    declare = f"Declare it at the top: PREFIX {prefix}: <...>"
    hint = " ".join(filter(None, [did_you_mean(prefix, known), declare]))
    cursor.note(Mistake.UNDECLARED_PREFIX, token.span, f"undeclared prefix '{prefix}:'", hint)
    return f"undeclared:{prefix}:{local}"


def _datatype(cursor: Cursor, token: Token, local: str) -> str:
    if local.lower() not in _CANONICAL:
        hint = did_you_mean(local, DATATYPES) or "Use a datatype of XML Schema, as xsd:double."
        message = f"unknown datatype '{token.text}'"
        cursor.note(Mistake.UNKNOWN_DATATYPE, token.span, message, hint)
    return _CANONICAL.get(local.lower(), local)
