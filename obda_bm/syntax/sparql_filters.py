"""FILTER: conjunctions of comparisons."""

from __future__ import annotations

from collections.abc import Iterator

from obda_bm.diagnostics import Diagnostic, SparqlError, cover
from obda_bm.ir.rdf import Variable
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import TermComparison
from obda_bm.syntax.sparql_terms import Names, is_term, read_term
from obda_bm.syntax.sparql_tokens import Cursor, Kind, Token

_OPS = {"=": Op.EQ, "!=": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
MAX_DEPTH = 100
_HINT = "A FILTER compares two terms with = != < <= > >=; join several with &&."


def read_filter(cursor: Cursor, names: Names) -> Iterator[TermComparison]:
    """The comparisons of `FILTER ( … )`, the word itself read already."""
    if not cursor.at("("):
        raise outside(cursor.here, "a FILTER with a function", _HINT)
    yield from _bracketed(cursor, names, 0)


def _bracketed(cursor: Cursor, names: Names, depth: int) -> Iterator[TermComparison]:
    opening = cursor.expect("(", _HINT)
    if depth > MAX_DEPTH:
        raise outside(opening, "so deep a nesting", "Leave out brackets.")
    while True:
        if cursor.at("("):
            yield from _bracketed(cursor, names, depth + 1)
        else:
            yield _comparison(cursor, names)
        if cursor.at("||"):
            raise outside(cursor.here, "|| in a FILTER", "Write { … } UNION { … } instead.")
        if not cursor.take("&&"):
            break
    cursor.expect(")", _HINT)


def _comparison(cursor: Cursor, names: Names) -> TermComparison:
    start = cursor.here
    if not is_term(start):
        raise outside(start, f"{start} in a FILTER", _HINT)
    left = read_term(cursor, names)
    if cursor.here.kind is not Kind.SYMBOL or cursor.here.text not in _OPS:
        raise cursor.unexpected("a comparison", _HINT)
    op = _OPS[cursor.advance().text]
    end = cursor.here
    right = read_term(cursor, names)
    if not isinstance(left, Variable) and not isinstance(right, Variable):
        hint = "Compare a variable with it."
        raise outside(start, "a comparison of two constants", hint)
    return TermComparison(left, op, right, span=cover((start.span, end.span)))


def outside(token: Token, what: str, hint: str) -> SparqlError:
    """The complaint that `what` is no part of basic graph patterns."""
    return SparqlError(Diagnostic("OBM643", f"{what} is not supported", token.span, hint))
