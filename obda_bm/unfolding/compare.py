"""Comparisons of RDF terms -> conditions on columns, as SPARQL's operators have it ([SPARQL] 17.3).

Comparing what cannot be compared is a type error in SPARQL, and an error keeps no row: then there
is no alternative at all.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from obda_bm.diagnostics import Span
from obda_bm.ir.lexical import (
    NUMBERS,
    NUMERIC_DATATYPES,
    Writing,
    read_instant,
    read_number,
    writing_of,
)
from obda_bm.ir.mapping import TermKind
from obda_bm.ir.rdf import RDF, STRING, XSD, Literal
from obda_bm.ir.sqltypes import BOOLEAN, DATE, INTEGER, TEXT, TIMESTAMP, SqlType, Value, decimal
from obda_bm.ir.terms import Comparison, Constant, Membership, NotNull, Op, Predicate, Term
from obda_bm.ir.unfolded import ColumnTerm, FixedTerm, TermBuilder
from obda_bm.unfolding.mistakes import Mistake
from obda_bm.unfolding.unify import Conditions, annotation, kind_of, unify

Alternatives = tuple[Conditions, ...]
"""A disjunction of conjunctions that exclude each other, so that bags stay right."""

NEVER: Alternatives = ()
ALWAYS: Alternatives = ((),)


class Category(Enum):
    """Values that SPARQL compares with each other, and the writings of columns that hold them."""

    NUMBER = NUMBERS
    INSTANT = frozenset({Writing.TIMESTAMP})
    DATE = frozenset({Writing.DATE})
    BOOLEAN = frozenset({Writing.BOOLEAN})
    TEXT = frozenset({Writing.TEXT})


@dataclass(frozen=True, slots=True)
class Operand:
    """A literal as SQL compares it."""

    category: Category
    term: Term
    language: str = ""


def compare(
    left: TermBuilder, op: Op, right: TermBuilder, base: str, span: Span | None
) -> Alternatives:
    """When the comparison is true.

    Raises:
        UnfoldingError: where select-project-join queries cannot say it.
    """
    both_literals = kind_of(left) is kind_of(right) is TermKind.LITERAL
    if not both_literals:
        return _compare_resources(left, op, right, base)
    one, other = _operand(left, span), _operand(right, span)
    if one is None or other is None:  # of datatypes without an order: only the same term is equal
        return _compare_opaque(left, op, right, base)
    if one.category is not other.category or one.language != other.language:
        return NEVER
    if one.category is Category.TEXT and op not in {Op.EQ, Op.NE}:
        hint = "Compare texts with = or !=; only numbers and times have an order here."
        raise Mistake.UNORDERED_TEXT.error(span, "texts are compared by order", hint)
    return _compare_values(one, op, other, span)


def _compare_resources(left: TermBuilder, op: Op, right: TermBuilder, base: str) -> Alternatives:
    if op not in {Op.EQ, Op.NE}:
        return NEVER
    same = unify(left, right, base)
    if op is Op.EQ:
        return NEVER if same is None else (same,)
    return ALWAYS if same is None else negate(same)


def _compare_opaque(left: TermBuilder, op: Op, right: TermBuilder, base: str) -> Alternatives:
    """Unknown datatypes: equal terms are equal, anything else is a type error."""
    same = unify(left, right, base) if op is Op.EQ else None
    return NEVER if same is None else (same,)


def negate(conditions: Conditions) -> Alternatives:
    """That not all of `conditions` hold, as alternatives of which one row meets at most one."""
    alternatives: list[Conditions] = []
    for i, condition in enumerate(conditions):
        alternatives.append((*conditions[:i], *_negated(condition)))
    return tuple(alternatives)


def _negated(condition: Predicate) -> Conditions:
    match condition:
        case Comparison(_, Op.EQ):
            return (replace(condition, op=Op.NE),)
        case Membership(column, values):
            return tuple(Comparison(column, Op.NE, value) for value in values)
        case Comparison() | NotNull():
            raise AssertionError(f"unification gives equalities: {condition}")


_COMPARE = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.GE: operator.ge,
    Op.GT: operator.gt,
}


def _compare_values(one: Operand, op: Op, other: Operand, span: Span | None) -> Alternatives:
    match one.term, other.term:
        case Constant(a), Constant(b):
            return ALWAYS if _COMPARE[op](a, b) else NEVER
        case Constant(), _:
            return ((Comparison(other.term, op.mirrored, one.term, span=span),),)
    return ((Comparison(one.term, op, other.term, span=span),),)


def _operand(builder: TermBuilder, span: Span | None) -> Operand | None:
    datatype, language = annotation(builder)
    category = _category(datatype)
    if category is None:
        return None
    match builder:
        case FixedTerm(Literal(lexical)):
            value = _constant(lexical, category)
            return None if value is None else Operand(category, value, language)
        case ColumnTerm(_, slot):
            if writing_of(slot.type) in category.value:
                return Operand(category, slot.column, language)
            message = f"{slot.column} is {slot.type}, but the mapping makes it <{datatype}>"
            hint = "Give the column a type in the catalog that fits the datatype."
            raise Mistake.INCOMPARABLE.error(slot.column.span or span, message, hint)
    hint = "Compare a column's value, not a text built from several."
    raise Mistake.INCOMPARABLE.error(span, f"{builder} is built from a template", hint)


def _category(datatype: str) -> Category | None:
    if datatype in NUMERIC_DATATYPES:
        return Category.NUMBER
    named = {
        XSD + "dateTime": Category.INSTANT,
        XSD + "date": Category.DATE,
        XSD + "boolean": Category.BOOLEAN,
        STRING: Category.TEXT,
        RDF + "langString": Category.TEXT,
    }
    return named.get(datatype)


def _constant(lexical: str, category: Category) -> Constant | None:
    """The value of a literal of the query; None where its lexical form is wrong."""
    match category:
        case Category.TEXT:
            return Constant(lexical, TEXT)
        case Category.BOOLEAN:
            value = {"true": 1, "1": 1, "false": 0, "0": 0}.get(lexical)
            return None if value is None else Constant(value, BOOLEAN)
        case Category.INSTANT | Category.DATE:
            moment = read_instant(lexical)
            kind = TIMESTAMP if category is Category.INSTANT else DATE
            return None if moment is None else Constant(moment, kind)
        case Category.NUMBER:
            number = read_number(lexical)
            return None if number is None else number_constant(number)


def number_constant(number: Fraction) -> Constant:
    value: Value = int(number) if number.denominator == 1 else number
    return Constant(value, INTEGER if isinstance(value, int) else _decimal_type(number))


def _decimal_type(number: Fraction) -> SqlType:
    scale = 0
    while (number * 10**scale).denominator != 1:
        scale += 1
    return decimal(max(18, 2 * scale), scale)
