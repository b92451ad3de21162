"""Turtle text -> a graph whose terms know where they stand ([TURTLE]).

rdflib reads Turtle, too, but forgets the places, and a mapping is repaired by line number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

from obda_bm.diagnostics import MappingError, SourceText, Span, cover, did_you_mean
from obda_bm.ir.rdf import RDF, XSD, Iri, Literal
from obda_bm.r2rml.graph import Blank, Graph, Node, Triple
from obda_bm.r2rml.mistakes import Mistake
from obda_bm.r2rml.tokens import Kind, Token, tokenize

MAX_DEPTH = 100


def parse_turtle(source: SourceText, base: str = "") -> Graph:
    """The graph that `source` writes.

    Raises:
        MappingError: where the text is not Turtle.
    """
    parser = _Parser(tokenize(source), base)
    while parser.next.kind is not Kind.END:
        parser.statement()
    return Graph(source, tuple(parser.triples), parser.base)


@dataclass(slots=True)
class _Parser:
    """Where the reading stands: one token ahead, and what has been read."""

    tokens: Iterator[Token]
    base: str
    prefixes: dict[str, str] = field(default_factory=dict)
    triples: list[Triple] = field(default_factory=list)
    blanks: int = 0
    depth: int = 0
    last: Span | None = None
    next: Token = field(init=False)

    def __post_init__(self) -> None:
        self.next = next(self.tokens)

    def take(self) -> Token:
        token = self.next
        self.last = token.span
        if token.kind is not Kind.END:
            self.next = next(self.tokens)
        return token

    def accept(self, sign: str) -> bool:
        if self.next.kind is Kind.SIGN and self.next.text == sign:
            self.take()
            return True
        return False

    def expect(self, sign: str, hint: str) -> None:
        if not self.accept(sign):
            # A missing full stop is missed at the next token, but belongs after the last one.
            missed = self.last if sign == "." else None
            raise self.unexpected(f"'{sign}'", hint, missed)

    def unexpected(self, wanted: str, hint: str, at: Span | None = None) -> MappingError:
        message = f"expected {wanted}, found {self.next}"
        return Mistake.SYNTAX.error(at or self.next.span, message, hint)

    def statement(self) -> None:
        word = self.next.text.lower()
        match self.next.kind:
            case Kind.AT_WORD if word in {"@prefix", "@base"}:
                self.take()
                self.directive(word[1:])
                self.expect(".", "End the directive with a full stop.")
            case Kind.WORD if word in {"prefix", "base"}:
                self.take()
                self.directive(word)
            case _:
                self.sentence()
                self.expect(".", "End the statement with a full stop, or go on with ; or ,.")

    def directive(self, word: str) -> None:
        if word == "prefix":
            name = self.take()
            if name.kind is not Kind.NAME or not name.text.endswith(":"):
                hint = "Write @prefix name: <iri> ."
                raise Mistake.SYNTAX.error(name.span, f"expected a prefix, found {name}", hint)
            self.prefixes[name.text[:-1]] = self.reference()
        else:
            self.base = self.reference()

    def reference(self) -> str:
        token = self.take()
        if token.kind is not Kind.IRI:
            hint = "Write the IRI in angle brackets, <…>."
            raise Mistake.SYNTAX.error(token.span, f"expected an IRI, found {token}", hint)
        return self.resolve(token)

    def resolve(self, token: Token) -> str:
        return resolve_iri(self.base, _unescaped(token.text[1:-1], token))

    def sentence(self) -> None:
        bracketed = self.next.text == "["
        subject = self.subject()
        if not (bracketed and self.next.text == "."):
            self.predicates(subject)

    def subject(self) -> Node:
        node = self.node()
        if isinstance(node.term, Literal):
            hint = "A statement starts with an IRI or a blank node."
            raise Mistake.SYNTAX.error(node.span, "a literal cannot be the subject", hint)
        return node

    def predicates(self, subject: Node) -> None:
        while True:
            predicate = self.predicate()
            while True:
                self.triples.append(Triple(subject, predicate, self.node()))
                if not self.accept(","):
                    break
            if not self.accept(";"):
                return
            while self.accept(";"):
                pass
            if self.next.text in {".", "]"} or self.next.kind is Kind.END:
                return

    def predicate(self) -> Node:
        token = self.next
        if token.kind is Kind.WORD and token.text == "a":
            self.take()
            return Node(Iri(RDF + "type"), token.span)
        if token.kind in {Kind.IRI, Kind.NAME}:
            return self.node()
        hint = (
            "A predicate is an IRI or a prefixed name; end the statement before with a full stop."
        )
        raise self.unexpected("a predicate", hint)

    def node(self) -> Node:
        token = self.take()
        match token.kind:
            case Kind.IRI:
                return Node(Iri(self.resolve(token)), token.span)
            case Kind.NAME:
                return Node(Iri(self.expanded(token)), token.span)
            case Kind.BLANK:
                return Node(Blank(token.text[2:]), token.span)
            case Kind.STRING:
                return self.literal(token)
            case Kind.NUMBER:
                return Node(Literal(token.text, _number_type(token.text)), token.span)
            case Kind.WORD if token.text in {"true", "false"}:
                return Node(Literal(token.text, XSD + "boolean"), token.span)
            case Kind.SIGN if token.text == "[":
                return self.nested(token, self.property_list)
            case Kind.SIGN if token.text == "(":
                return self.nested(token, self.collection)
        hint = "Write an IRI, a prefixed name, a literal in quotes, or [ … ]."
        raise Mistake.SYNTAX.error(token.span, f"expected a term, found {token}", hint)

    def nested(self, opening: Token, read: Callable[[Token], Node]) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            hint = "No mapping needs more than a few levels of brackets."
            raise Mistake.SYNTAX.error(opening.span, "nested too deeply", hint)
        node = read(opening)
        self.depth -= 1
        return node

    def fresh(self) -> Blank:
        self.blanks += 1
        return Blank(f"[{self.blanks}]")  # no label that a file writes has brackets

    def property_list(self, opening: Token) -> Node:
        node = Node(self.fresh(), opening.span)
        if self.next.text != "]":
            self.predicates(node)
        if self.next.text == "." or self.next.kind is Kind.END:
            # The statement ends: the bracket that was forgotten is this one, not the full stop.
            hint = "Close the bracket before the full stop."
            raise Mistake.SYNTAX.error(opening.span, "a bracket that is not closed", hint)
        self.expect("]", "Close the bracket, and separate what is in it by ; and ,.")
        return Node(node.term, cover((opening.span, self.last)))

    def collection(self, opening: Token) -> Node:
        members: list[Node] = []
        while not self.accept(")"):
            if self.next.kind is Kind.END:
                raise self.unexpected("')'", "Close the list.")
            members.append(self.node())
        rest = Node(Iri(RDF + "nil"), opening.span)
        for member in reversed(members):
            cell = Node(self.fresh(), member.span)
            self.triples.append(Triple(cell, Node(Iri(RDF + "first"), member.span), member))
            self.triples.append(Triple(cell, Node(Iri(RDF + "rest"), member.span), rest))
            rest = cell
        return rest

    def literal(self, token: Token) -> Node:
        quotes = 3 if token.text[:3] in {'"""', "'''"} else 1
        lexical = _unescaped(token.text[quotes:-quotes], token)
        inside = Span(token.span.source, token.span.start + quotes, token.span.end - quotes)
        if self.next.kind is Kind.AT_WORD:
            tag = self.take()
            language = Literal(lexical, RDF + "langString", tag.text[1:].lower())
            return Node(language, cover((token.span, tag.span)), inside)
        if self.accept("^^"):
            datatype = self.node()
            if not isinstance(datatype.term, Iri):
                raise Mistake.SYNTAX.error(datatype.span, "a datatype is an IRI", "Name an IRI.")
            typed = Literal(lexical, datatype.term.value)
            return Node(typed, cover((token.span, datatype.span)), inside)
        return Node(Literal(lexical), token.span, inside)

    def expanded(self, token: Token) -> str:
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            declared = f"Declare it: @prefix {prefix}: <…> ."
            hint = did_you_mean(prefix, self.prefixes) or declared
            raise Mistake.SYNTAX.error(token.span, f"the prefix '{prefix}:' is not declared", hint)
        return self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)


def resolve_iri(base: str, reference: str) -> str:
    """`reference` against `base`; as it is where it is absolute.

    >>> resolve_iri("http://example.com/base/", "TriplesMap1")
    'http://example.com/base/TriplesMap1'
    """
    if not base or re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:", reference):
        return reference
    # urljoin drops an empty fragment, which ends many namespaces.
    return urljoin(base, reference) + ("#" if reference == "#" else "")


def _number_type(text: str) -> str:
    if "e" in text.lower():
        return XSD + "double"
    return XSD + ("decimal" if "." in text else "integer")


_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_CHARACTERS |= {char: char for char in "\"'\\"}


def _unescaped(text: str, token: Token) -> str:
    def char(escape: re.Match[str]) -> str:
        code = escape[1] or escape[2]
        known = code is None and escape[3] in _CHARACTERS
        if (code is not None and int(code, 16) > 0x10FFFF) or (code is None and not known):
            start = token.span.start + (token.text.find(escape[0]))
            where = Span(token.span.source, start, start + len(escape[0]))
            hint = "Write a backslash itself as two."
            raise Mistake.SYNTAX.error(where, f"unknown escape {escape[0]!r}", hint)
        return chr(int(code, 16)) if code else _CHARACTERS[escape[3]]

    return _ESCAPE.sub(char, text) if "\\" in text else text
