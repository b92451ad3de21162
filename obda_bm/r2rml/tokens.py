"""Turtle text -> tokens with their places ([TURTLE] section 6.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from obda_bm.diagnostics import MappingError, SourceText, Span
from obda_bm.r2rml.mistakes import Mistake


class Kind(Enum):
    IRI = "an IRI"
    NAME = "a prefixed name"
    BLANK = "a blank node"
    STRING = "a string"
    AT_WORD = "@word"
    NUMBER = "a number"
    WORD = "a word"
    SIGN = "punctuation"
    END = "the end of the file"


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    span: Span

    def __str__(self) -> str:
        return self.kind.value if self.kind is Kind.END else repr(self.text[:40])


# A dot belongs to a name only if the name goes on after it; else it ends the statement.
_PART = r"(?: [\w:%\-] | \\[_~.\-!$&'()*+,;=/?\#@%] | \.+ (?=[\w:%\-]) )"
_TOKEN = re.compile(
    rf"""
      (?P<skip>   [ \t\r\n\ufeff]+ | \#[^\n\r]* )
    | (?P<IRI>    < (?: [^\x00-\x20<>"{{}}|^`\\] | \\u[0-9A-Fa-f]{{4}} | \\U[0-9A-Fa-f]{{8}} )* > )
    | (?P<STRING> \"\"\" (?: "{{0,2}} (?: [^"\\] | \\. ) )* \"\"\"
                | \'\'\' (?: '{{0,2}} (?: [^'\\] | \\. ) )* \'\'\'
                | " (?: [^"\\\n\r] | \\[^\n\r] )* "
                | ' (?: [^'\\\n\r] | \\[^\n\r] )* ' )
    | (?P<NUMBER> [+-]? (?: \d+\.\d*[eE][+-]?\d+ | \.?\d+[eE][+-]?\d+ | \d*\.\d+ | \d+ )
                  (?! [\w:] ) )
    | (?P<BLANK>  _:\w (?: [\w\-] | \.+ (?=[\w\-]) )* )
    | (?P<NAME>   (?: [^\W\d_] (?: [\w\-] | \.+ (?=[\w\-:]) )* )? : {_PART}* )
    | (?P<AT_WORD> @[A-Za-z]+ (?: -[A-Za-z0-9]+ )* )
    | (?P<WORD>   [A-Za-z]\w* )
    | (?P<SIGN>   \^\^ | [.;,\[\]()] )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokenize(source: SourceText) -> Iterator[Token]:
    """The tokens of a Turtle document, the last of them its end.

    Raises:
        MappingError: where the text cannot be a token of Turtle.
    """
    at, text = 0, source.text
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _not_a_token(source, at)
        if found.lastgroup != "skip":
            assert found.lastgroup is not None
            yield Token(Kind[found.lastgroup], found[0], Span(source, at, found.end()))
        at = found.end()
    end = len(text.rstrip())
    yield Token(Kind.END, "", Span(source, end, end))


_HINTS = {
    '"': "Close the string with the quotes that open it, and escape quotes within it.",
    "'": "Close the string with the quotes that open it, and escape quotes within it.",
    "<": 'Close the IRI with >; it has no spaces and none of < > " { } | ^ ` \\.',
    "_": "A blank node is _: and a name.",
}


def _not_a_token(source: SourceText, at: int) -> MappingError:
    char = source.text[at]
    hint = _HINTS.get(char, "The file must be Turtle: subject, predicate, object and a full stop.")
    what = {"<": "an IRI", '"': "a string", "'": "a string"}.get(char)
    message = f"{what} that does not end" if what else f"unexpected character {char!r}"
    return Mistake.SYNTAX.error(Span(source, at, at + 1), message, hint)
