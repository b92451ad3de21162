"""Comparisons as conjunctive queries have them: two terms, and an offset between states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from obda_bm.ir.formulas import (
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duration,
    Expression,
    Operand,
    State,
)
from obda_bm.ir.rdf import XSD, Literal, RdfTerm, Variable
from obda_bm.ir.starql_text import iso_text
from obda_bm.ir.ucq import TermComparison
from obda_bm.syntax.times import parse_timestamp


@dataclass(frozen=True, slots=True)
class Inexpressible:
    """The comparison calculates; `by_states` when it counts states, as in `i + 1`."""

    by_states: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """`term - minus + offset`, the offset in microseconds."""

    term: RdfTerm | None
    minus: Variable | None = None
    offset: int = 0


def as_term_comparison(comparison: Comparison) -> TermComparison | Inexpressible:
    """`comparison` between two terms, the right one shifted.

    >>> from obda_bm.ir.terms import Op
    >>> later = Arithmetic(State("i"), ArithmeticOp.ADD, Duration(5_000_000))
    >>> print(as_term_comparison(Comparison(State("j"), Op.LE, later)))
    ?j <= ?i + 5000000
    """
    left, right = _side(comparison.left), _side(comparison.right)
    if isinstance(left, Inexpressible):
        return left
    if isinstance(right, Inexpressible):
        return right
    if left.minus is None and left.term is not None:
        return _plain(left, right, comparison)
    if right.minus is None and right.term is not None:
        mirrored = replace(comparison, op=comparison.op.mirrored)
        return _plain(right, left, mirrored)
    return _distance(left, right, comparison)


def _plain(left: Side, right: Side, comparison: Comparison) -> TermComparison | Inexpressible:
    """`term + a op term + b`."""
    if left.term is None or right.term is None or right.minus is not None:
        return Inexpressible()
    offset = right.offset - left.offset
    if offset and isinstance(left.term, Literal):
        return _plain(right, left, replace(comparison, op=comparison.op.mirrored))
    if offset and isinstance(right.term, Literal):
        moved = _moved(right.term, offset)
        return TermComparison(left.term, comparison.op, moved, 0, comparison.span)
    return TermComparison(left.term, comparison.op, right.term, offset, comparison.span)


def _moved(timestamp: Literal, microseconds: int) -> Literal:
    time = parse_timestamp(timestamp.lexical) + timedelta(microseconds=microseconds)
    return Literal(iso_text(time), timestamp.datatype)


def _distance(left: Side, right: Side, comparison: Comparison) -> TermComparison | Inexpressible:
    """`i - j op d`, which is `i op j + d`; and the same the other way round."""
    if left.term is not None and left.minus is not None and right.term is None:
        offset = right.offset - left.offset
        return TermComparison(left.term, comparison.op, left.minus, offset, comparison.span)
    if right.term is not None and right.minus is not None and left.term is None:
        return _distance(right, left, replace(comparison, op=comparison.op.mirrored))
    return Inexpressible()


def _side(expression: Expression) -> Side | Inexpressible:
    match expression:
        case Operand(term):
            return Side(term)
        case State(name):
            return Side(Variable(name))
        case Duration(microseconds):
            return Side(None, None, microseconds)
        case Arithmetic(State(name), ArithmeticOp.SUB, State(minus)):
            return Side(Variable(name), Variable(minus))
        case Arithmetic(inner, ArithmeticOp.ADD | ArithmeticOp.SUB as op, Duration(length)):
            side = _side(inner)
            if isinstance(side, Inexpressible) or not _is_time(inner):
                return Inexpressible()
            return replace(
                side, offset=side.offset + (length if op is ArithmeticOp.ADD else -length)
            )
        case Arithmetic(inner, _, Operand(Literal(_, datatype))) if datatype == XSD + "integer":
            return Inexpressible(by_states=_is_time(inner))
        case _:
            return Inexpressible()


def _is_time(expression: Expression) -> bool:
    """Whether it is a state, shifted or not; only these are known to be points in time."""
    match expression:
        case State():
            return True
        case Arithmetic(inner, ArithmeticOp.ADD | ArithmeticOp.SUB, _):
            return _is_time(inner)
        case _:
            return False
