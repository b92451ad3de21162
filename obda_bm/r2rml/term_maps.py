"""A node of the mapping graph -> a term map ([R2RML] section 7)."""

from __future__ import annotations

import re
from enum import Enum

from obda_bm.diagnostics import Span, did_you_mean
from obda_bm.ir.mapping import ColumnValue, Template, TermKind, TermMap, TermValue
from obda_bm.ir.rdf import Iri, Literal
from obda_bm.r2rml.graph import Node
from obda_bm.r2rml.mistakes import Mistake
from obda_bm.r2rml.names import NotAName, read_identifier, read_template
from obda_bm.r2rml.reading import Reading
from obda_bm.r2rml.vocabulary import RR, TERM_TYPES, Part


class Place(Enum):
    """Where in a triple the term stands, and which kinds of terms may stand there."""

    SUBJECT = (Part.SUBJECT_MAP, (TermKind.IRI, TermKind.BLANK_NODE))
    PREDICATE = (Part.PREDICATE_MAP, (TermKind.IRI,))
    OBJECT = (Part.OBJECT_MAP, tuple(TermKind))
    GRAPH = (Part.GRAPH_MAP, (TermKind.IRI,))

    def __init__(self, part: Part, kinds: tuple[TermKind, ...]) -> None:
        self.part = part
        self.kinds = kinds


_KINDS = {"IRI": TermKind.IRI, "BlankNode": TermKind.BLANK_NODE, "Literal": TermKind.LITERAL}

# [BCP47]: no language subtag of five to eight letters is registered, so that "english" is none.
_LANGUAGE = re.compile(r"(?:[a-z]{2,4}|[ix](?=-))(?:-[a-z0-9]{1,8})*", re.IGNORECASE)

_BAD_IRI_TEXT = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def constant_term(node: Node, place: Place, reading: Reading) -> TermMap | None:
    """The term map of a shortcut such as rr:predicate or rr:object."""
    match node.term:
        case Iri():
            return TermMap(node.term, TermKind.IRI, span=node.span)
        case Literal() if TermKind.LITERAL in place.kinds:
            return TermMap(node.term, TermKind.LITERAL, span=node.span)
    expected = "an IRI or a literal" if place is Place.OBJECT else "an IRI"
    hint = f"Name {expected}; what depends on the row goes into {place.part.title}."
    reading.report(Mistake.WRONG_NODE.at(node.span, f"expected {expected} here", hint))
    return None


def read_term_map(node: Node, place: Place, reading: Reading) -> TermMap | None:
    """The term map that `node` describes; None, and a problem, where it describes none."""
    reading.check_properties(node, place.part)
    value_and_span = _value(node, place, reading)
    datatype = reading.iri(node, "datatype")
    language = _language(node, reading)
    kind = _kind(node, place, reading)
    if value_and_span is None:
        return None
    value, span = value_and_span
    if kind is None:
        literal = isinstance(value, ColumnValue) or datatype or language
        kind = TermKind.LITERAL if place is Place.OBJECT and literal else TermKind.IRI
        kind = TermKind.LITERAL if isinstance(value, Literal) else kind
    term = TermMap(value, kind, datatype, language, span)
    return term if _consistent(term, place, reading) else None


def _value(node: Node, place: Place, reading: Reading) -> tuple[TermValue, Span | None] | None:
    found = [
        (name, given)
        for name in ("constant", "column", "template")
        for given in reading.graph.objects(node.term, [RR + name])
    ]
    if len(found) != 1:
        _not_one_value(node, found, place, reading)
        return None
    ((name, given),) = found
    if name == "constant":
        constant = constant_term(given, Place.OBJECT, reading)
        return None if constant is None else (constant.value, given.span)
    text = reading.text(given, name)
    if text is None:
        return None
    if name == "template":
        template = read_template(text, given.inside)
        if isinstance(template, Template):
            return template, given.span
        reading.report(template)
        return None
    try:
        return ColumnValue(read_identifier(text)), given.span
    except NotAName:
        hint = 'Write a column name, as "id", or "\\"ID\\"" where case matters.'
        reading.report(Mistake.BAD_IDENTIFIER.at(given.span, f"{text!r} is no column name", hint))
        return None


def _not_one_value(
    node: Node, found: list[tuple[str, Node]], place: Place, reading: Reading
) -> None:
    hint = "Give it exactly one of rr:constant, rr:column and rr:template."
    if found:
        message = f"{place.part.title} with {' and '.join(f'rr:{name}' for name, _ in found)}"
        reading.report(Mistake.TOO_MANY.at(found[1][1].span, message, hint))
    elif not reading.misspelt(node, place.part):
        message = f"{place.part.title} that makes no term"
        reading.report(Mistake.MISSING.at(node.span, message, hint))


def _kind(node: Node, place: Place, reading: Reading) -> TermKind | None:
    given = reading.one(node, "termType")
    if given is None:
        return None
    name = given.term.value.removeprefix(RR) if isinstance(given.term, Iri) else str(given.term)
    kind = _KINDS.get(name)
    if kind is None:
        hint = did_you_mean(name, TERM_TYPES) or "Write rr:IRI, rr:BlankNode or rr:Literal."
        reading.report(Mistake.BAD_TERM_TYPE.at(given.span, f"unknown term type {name!r}", hint))
    elif kind not in place.kinds:
        allowed = " or ".join(
            f"a {k.value}" if k is not TermKind.IRI else "an IRI" for k in place.kinds
        )
        message = f"{place.part.title} cannot make a {kind.value}"
        reading.report(Mistake.BAD_TERM_TYPE.at(given.span, message, f"It makes {allowed}."))
    return kind


def _language(node: Node, reading: Reading) -> str:
    given = reading.one(node, "language")
    tag = reading.text(given, "language") if given is not None else None
    if given is None or tag is None:
        return ""
    if _LANGUAGE.fullmatch(tag) is None:
        hint = 'Write a language tag such as "en" or "pt-BR".'
        reading.report(Mistake.BAD_LANGUAGE.at(given.span, f"{tag!r} is no language tag", hint))
    return tag.lower()


def _consistent(term: TermMap, place: Place, reading: Reading) -> bool:
    """Whether kind, datatype, language and text go together; a problem where not."""
    if term.kind not in place.kinds:
        if not isinstance(term.value, Literal):
            return False  # reported with the term type
        message = f"{place.part.title} cannot make a literal"
        reading.report(Mistake.BAD_TERM_TYPE.at(term.span, message, "Name an IRI."))
        return False
    if term.datatype and term.language:
        hint = "Remove one of the two; a text with a language has no other datatype."
        reading.report(Mistake.TOO_MANY.at(term.span, "a datatype and a language", hint))
        return False
    if (term.datatype or term.language) and term.kind is not TermKind.LITERAL:
        message = f"a datatype or a language on a {term.kind.value}"
        hint = "Only literals have them: remove it, or the rr:termType."
        reading.report(Mistake.BAD_TERM_TYPE.at(term.span, message, hint))
        return False
    return _iri_text(term, reading)


def _iri_text(term: TermMap, reading: Reading) -> bool:
    if term.kind is not TermKind.IRI or not isinstance(term.value, Template):
        return True
    texts = [part for part in term.value.parts if isinstance(part, str)]
    bad = next((found for text in texts if (found := _BAD_IRI_TEXT.search(text))), None)
    if bad is None:
        return True
    hint = "Percent-encode it, or make the term an rr:Literal."
    reading.report(Mistake.BAD_IRI.at(term.span, f"{bad[0]!r} cannot be part of an IRI", hint))
    return False
