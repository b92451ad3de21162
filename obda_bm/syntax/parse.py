"""STARQL text to a document."""

from __future__ import annotations

from obda_bm.diagnostics import SourceText, StarqlError
from obda_bm.ir.starql import StarqlDocument
from obda_bm.syntax.check import check_document
from obda_bm.syntax.cursor import Cursor
from obda_bm.syntax.declarations import parse_declarations
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.tokens import tokenize


def parse_starql(source: SourceText) -> StarqlDocument:
    """The document that `source` writes down, checked.

    Raises:
        StarqlError: with every mistake that was found, in the order of the text.
    """
    document = read_document(source)
    problems = check_document(document)
    if problems:
        raise StarqlError(*problems)
    return document


def read_document(source: SourceText) -> StarqlDocument:
    """The document, well-formed but not checked for names and safety."""
    read = tokenize(source)
    cursor = Cursor(read.tokens, diagnostics=list(read.diagnostics))
    declarations = parse_declarations(cursor)
    if not declarations and not cursor.diagnostics:
        message, hint = "the text has no query", "Write a query, as CREATE STREAM out AS SELECT ..."
        cursor.note(Mistake.MISSING_CLAUSE, cursor.token.span, message, hint)
    if cursor.diagnostics:
        found = dict.fromkeys(cursor.diagnostics)
        raise StarqlError(*sorted(found, key=lambda d: d.span.start if d.span else 0))
    return StarqlDocument(tuple(cursor.prefixes), declarations, cursor.base)
