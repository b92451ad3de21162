"""The target of an Ontop mapping: Turtle whose terms are templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from obda_bm.diagnostics import MappingError, Span, cover, did_you_mean
from obda_bm.ir.mapping import (
    ColumnValue,
    Identifier,
    Template,
    TermKind,
    TermMap,
    TermValue,
    TriplePattern,
)
from obda_bm.ir.rdf import RDF, XSD, Iri, Literal
from obda_bm.r2rml.mistakes import Mistake
from obda_bm.r2rml.names import read_template

_TOKEN = re.compile(
    r"""
      (?P<skip>    \s+ )
    | (?P<iri>     < [^<>\s]* > )
    | (?P<string>  " (?: [^"\\] | \\. )* " )
    | (?P<type>    \^\^ )
    | (?P<lang>    @[A-Za-z]+ (?: -[A-Za-z0-9]+ )* )
    | (?P<blank>   _: (?: [\w\-] | \{[^{}]*\} )+ )
    | (?P<name>    (?: [A-Za-z][\w\-]* (?: \.[\w\-]+ )* )?
                   : (?: [\w\-:/%\#~] | \{[^{}]*\} | \.(?=[\w{]) )* )
    | (?P<column>  \{[^{}]*\} )
    | (?P<number>  [+-]? \d+ (?: \.\d+ )? (?: [eE][+-]?\d+ )? )
    | (?P<word>    [A-Za-z]+ )
    | (?P<sign>    [.;,] )
    """,
    re.VERBOSE,
)

_HINT = "Write subject, predicate, object and a full stop, as in :{id} :value {value} ."


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    span: Span


def read_target(target: Span, prefixes: dict[str, str]) -> dict[TermMap, tuple[TriplePattern, ...]]:
    """The subjects of a target, mostly one, and the triples of each.

    Raises:
        MappingError: where it is none.
    """
    parser = _Target(list(_tokens(target)), target, prefixes)
    return parser.read()


def _tokens(target: Span) -> Iterator[_Token]:
    at = target.start
    while at < target.end:
        found = _TOKEN.match(target.source.text, at, target.end)
        if found is None or found.lastgroup is None:
            where = Span(target.source, at, at + 1)
            char = target.source.text[at]
            raise Mistake.SYNTAX.error(where, f"unexpected character {char!r} in a target", _HINT)
        if found.lastgroup != "skip":
            yield _Token(found.lastgroup, found[0], Span(target.source, at, found.end()))
        at = found.end()


@dataclass(slots=True)
class _Target:
    tokens: list[_Token]
    whole: Span
    prefixes: dict[str, str]
    at: int = 0
    triples: dict[TermMap, tuple[TriplePattern, ...]] = field(default_factory=dict)

    @property
    def next(self) -> _Token:
        if self.at < len(self.tokens):
            return self.tokens[self.at]
        end = Span(self.whole.source, self.whole.end, self.whole.end)
        return _Token("end", "", end)

    def accept(self, *texts: str) -> bool:
        found = self.next.text in texts and self.next.kind in {"sign", "type"}
        self.at += found
        return found

    def read(self) -> dict[TermMap, tuple[TriplePattern, ...]]:
        while not self.triples or self.next.kind != "end":
            self.predicates(self.subject())
            if not self.accept(".") and self.next.kind != "end":
                raise self.unexpected("'.', ';' or ','")
        return self.triples

    def subject(self) -> TermMap:
        term = self.term()
        if term.kind is TermKind.LITERAL:
            hint = "A subject is an IRI, such as :{id}, or a blank node, such as _:{id}."
            raise Mistake.BAD_TERM_TYPE.error(term.span, "a literal cannot be the subject", hint)
        return term

    def predicates(self, subject: TermMap) -> None:
        while True:
            predicate = self.predicate()
            while True:
                pattern = TriplePattern(predicate, self.term())
                self.triples[subject] = (*self.triples.get(subject, ()), pattern)
                if not self.accept(","):
                    break
            if not self.accept(";") or self.next.text == "." or self.next.kind == "end":
                return

    def predicate(self) -> TermMap:
        token = self.next
        if token.kind == "word" and token.text == "a":
            self.at += 1
            return TermMap(Iri(RDF + "type"), TermKind.IRI, span=token.span)
        if token.kind not in {"iri", "name"}:
            raise self.unexpected("a predicate")
        return self.term()

    def unexpected(self, wanted: str) -> MappingError:
        found = repr(self.next.text) if self.next.text else "the end of the target"
        return Mistake.SYNTAX.error(self.next.span, f"expected {wanted}, found {found}", _HINT)

    def term(self) -> TermMap:
        token = self.next
        self.at += 1
        match token.kind:
            case "iri":
                value = self.template(token.text[1:-1], token)
                return TermMap(_constant_iri(value), TermKind.IRI, span=token.span)
            case "name":
                value = self.template(self.expanded(token), token)
                return TermMap(_constant_iri(value), TermKind.IRI, span=token.span)
            case "blank":
                value = self.template(token.text[2:], token)
                return TermMap(value, TermKind.BLANK_NODE, span=token.span)
            case "column":
                value = self.template(token.text, token)
                (column,) = value.columns
                return self.literal(ColumnValue(column), token)
            case "string":
                text = re.sub(r"\\(.)", r"\1", token.text[1:-1])
                return self.literal(self.template(text, token), token)
            case "number":
                exact = "integer" if token.text.lstrip("+-").isdigit() else "decimal"
                datatype = XSD + ("double" if "e" in token.text.lower() else exact)
                return TermMap(Literal(token.text, datatype), TermKind.LITERAL, span=token.span)
            case "word" if token.text in {"true", "false"}:
                boolean = Literal(token.text, XSD + "boolean")
                return TermMap(boolean, TermKind.LITERAL, span=token.span)
        self.at -= 1
        raise self.unexpected("a term")

    def literal(self, value: ColumnValue | Template, token: _Token) -> TermMap:
        datatype, language, span = None, "", token.span
        if self.next.kind == "lang":
            language = self.next.text[1:].lower()
            span = cover((span, self.next.span)) or span
            self.at += 1
        elif self.accept("^^"):
            named = self.term()
            if not isinstance(named.value, Iri):
                hint = "Name a datatype such as xsd:double."
                raise Mistake.WRONG_NODE.error(named.span, "a datatype is an IRI", hint)
            datatype, span = named.value.value, cover((span, named.span)) or span
        return TermMap(
            _constant(value, datatype, language), TermKind.LITERAL, datatype, language, span
        )

    def expanded(self, token: _Token) -> str:
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            known = ", ".join(f"{p}:" for p in self.prefixes)
            hint = did_you_mean(prefix, self.prefixes) or f"Declared are {known}."
            message = f"the prefix '{prefix}:' is not declared"
            raise Mistake.SYNTAX.error(token.span, message, hint)
        return self.prefixes[prefix] + local

    def template(self, text: str, token: _Token) -> Template:
        read = read_template(text, token.span)
        if not isinstance(read, Template):
            raise MappingError(read)
        return read


def _constant_iri(template: Template) -> TermValue:
    text = str(template)
    return Iri(text) if not template.columns else template


def _constant(value: ColumnValue | Template, datatype: str | None, language: str) -> TermValue:
    """A literal without columns is a constant."""
    if isinstance(value, ColumnValue) or value.columns:
        parts = value.parts if isinstance(value, Template) else ()
        # "{col}" in quotes means the column's text, as {col} does.
        if len(parts) == 1 and isinstance(parts[0], Identifier):
            return ColumnValue(parts[0])
        return value
    if language:
        return Literal(str(value), RDF + "langString", language)
    return Literal(str(value), datatype or XSD + "string")
