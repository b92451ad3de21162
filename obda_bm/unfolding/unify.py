"""When two terms made from rows are equal: conditions on their columns, never on built strings.

Percent-encoded values have no reserved characters, so reserved characters in templates separate
the values as brackets would. Between two of them there is mostly one column, and templates are
equal exactly if these columns are, pairwise. What cannot be said so is refused, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from obda_bm.diagnostics import UnfoldingError
from obda_bm.ir.lexical import (
    NUMBERS,
    NUMERIC_DATATYPES,
    Writing,
    from_iri_safe,
    read_number,
    read_value,
    writing_of,
)
from obda_bm.ir.mapping import TermKind
from obda_bm.ir.rdf import RDF, Iri, Literal
from obda_bm.ir.sqltypes import TEXT, Value
from obda_bm.ir.terms import Comparison, Constant, Membership, Op, Predicate
from obda_bm.ir.unfolded import ColumnTerm, FixedTerm, Slot, TemplateTerm, TermBuilder, slots_of
from obda_bm.unfolding.mistakes import Mistake

Conditions = tuple[Predicate, ...]
Segment = tuple[str | Slot, ...]


def unify(left: TermBuilder, right: TermBuilder, base: str) -> Conditions | None:
    """The conditions under which both build the same term; None where they never do.

    Raises:
        UnfoldingError: where no comparison of columns says when.
    """
    if kind_of(left) is not kind_of(right):
        return None
    match left, right:
        case FixedTerm(a), FixedTerm(b):
            return () if a == b else None
        case _ if kind_of(left) is TermKind.LITERAL:
            return _unify_literals(left, right)
        case (ColumnTerm(TermKind.IRI) as column, other) | (
            other,
            ColumnTerm(TermKind.IRI) as column,
        ):
            return _unify_iri_column(column, other, base)
    return _unify_templates(left, right)


def kind_of(builder: TermBuilder) -> TermKind:
    match builder:
        case FixedTerm(term):
            return TermKind.IRI if isinstance(term, Iri) else TermKind.LITERAL
        case TemplateTerm(kind) | ColumnTerm(kind):
            return kind


def annotation(builder: TermBuilder) -> tuple[str, str]:
    """Datatype and language of a literal; literals that differ in them are different terms."""
    match builder:
        case FixedTerm(Literal(_, datatype, language)):
            return (datatype, language)
        case TemplateTerm(_, _, datatype, language) | ColumnTerm(_, _, datatype, language):
            return (RDF + "langString" if language else datatype, language)
        case FixedTerm():
            return ("", "")


def _unify_iri_column(column: ColumnTerm, other: TermBuilder, base: str) -> Conditions | None:
    match other:
        case ColumnTerm(_, slot):
            return _equal(column.slot, slot)
        case FixedTerm(Iri(value)):
            # A relative IRI in the data is resolved by putting the base before it.
            forms = [value, value.removeprefix(base)] if value.startswith(base) else [value]
            constants = tuple(Constant(form, TEXT) for form in forms)
            if len(constants) == 1:
                return (Comparison(column.slot.column, Op.EQ, constants[0]),)
            return (Membership(column.slot.column, constants),)
    raise _undecided(column, other)


def _unify_literals(left: TermBuilder, right: TermBuilder) -> Conditions | None:
    if annotation(left) != annotation(right):
        return None
    match left, right:
        case ColumnTerm(_, a, datatype), ColumnTerm(_, b):
            both = {writing_of(a.type), writing_of(b.type)}
            if datatype in NUMERIC_DATATYPES and both <= NUMBERS:
                return (Comparison(a.column, Op.EQ, b.column),)  # both are written canonically
            return _equal(a, b)
        case (ColumnTerm(_, slot, datatype), FixedTerm(Literal(lexical))) | (
            FixedTerm(Literal(lexical)),
            ColumnTerm(_, slot, datatype),
        ):
            return _equals_literal(slot, datatype, lexical)
    return _match_segments(_parts(left), _parts(right), left, right)


def _equals_literal(slot: Slot, datatype: str, lexical: str) -> Conditions | None:
    writing = writing_of(slot.type)
    if datatype in NUMERIC_DATATYPES and writing in NUMBERS:
        number = read_number(lexical)
        return None if number is None else _constant_equal(slot, number)
    value = read_value(lexical, writing)
    return None if value is None else _constant_equal(slot, value)


def _parts(builder: TermBuilder) -> Segment:
    match builder:
        case FixedTerm(Iri(text) | Literal(text)):
            return (text,) if text else ()
        case TemplateTerm(_, parts):
            return parts
        case ColumnTerm(_, slot):
            return (slot,)


def _unify_templates(left: TermBuilder, right: TermBuilder) -> Conditions | None:
    start, other = _first_text(left), _first_text(right)
    if not (start.startswith(other) or other.startswith(start)):
        return None  # the most frequent case by far
    slots = (*slots_of(left), *slots_of(right))
    first, second = _split(_parts(left), slots), _split(_parts(right), slots)
    if [d for _, d in first] != [d for _, d in second]:
        return None
    conditions: Conditions = ()
    for (a, _), (b, _) in zip(first, second, strict=True):
        found = _match_segments(a, b, left, right)
        if found is None:
            return None
        conditions += found
    return conditions


def _first_text(builder: TermBuilder) -> str:
    first = next(iter(_parts(builder)), "")
    return first if isinstance(first, str) else ""


def _split(parts: Segment, slots: Iterable[Slot]) -> list[tuple[Segment, str]]:
    """The parts cut at the characters that no value of `slots` can have when encoded."""
    alphabets = "|".join(sorted({writing_of(slot.type).alphabet for slot in slots}))
    value_char = re.compile(alphabets or r"(?!)")
    segments: list[tuple[Segment, str]] = []
    current: list[str | Slot] = []
    for part in parts:
        if isinstance(part, Slot):
            current.append(part)
            continue
        for char in part:
            if value_char.fullmatch(char):
                _append_char(current, char)
            else:
                segments.append((tuple(current), char))
                current = []
    return [*segments, (tuple(current), "")]


def _append_char(parts: list[str | Slot], char: str) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += char
    else:
        parts.append(char)


def _match_segments(
    a: Segment, b: Segment, left: TermBuilder, right: TermBuilder
) -> Conditions | None:
    """When two segments are the same text; the terms they are of are for the message."""
    trimmed = _trim(a, b)
    if trimmed is None:
        return None
    match trimmed:
        case (), ():
            return ()
        case ((Slot() as one,), (Slot() as other,)):
            return _equal(one, other)
        case ((Slot() as slot,), (str(text),)) | ((str(text),), (Slot() as slot,)):
            return _equals_text(slot, text, kind_of(left))
        case ((), rest) | (rest, ()):
            return _all_empty(rest)
        case (one, other) if _same_texts(one, other):
            return _pairwise(one, other)
        case (one, other) if _no_slots(one) and _no_slots(other):
            return None
    raise _undecided(left, right)


def _trim(a: Segment, b: Segment) -> tuple[Segment, Segment] | None:
    """Both without the text that they begin and end with alike; None where these differ."""
    if _no_slots(a) and _no_slots(b):
        return ((), ()) if a == b else None
    first = _trim_start(a, b)
    if first is None:
        return None
    second = _trim_start(_reversed(first[0]), _reversed(first[1]))
    return None if second is None else (_reversed(second[0]), _reversed(second[1]))


def _trim_start(a: Segment, b: Segment) -> tuple[Segment, Segment] | None:
    if not (a and b and isinstance(a[0], str) and isinstance(b[0], str)):
        return a, b
    common = min(len(a[0]), len(b[0]))
    if a[0][:common] != b[0][:common]:
        return None
    rest_a = ((a[0][common:],) if a[0][common:] else ()) + a[1:]
    rest_b = ((b[0][common:],) if b[0][common:] else ()) + b[1:]
    return rest_a, rest_b


def _reversed(segment: Segment) -> Segment:
    return tuple(part[::-1] if isinstance(part, str) else part for part in reversed(segment))


def _no_slots(segment: Segment) -> bool:
    return not any(isinstance(part, Slot) for part in segment)


def _same_texts(a: Segment, b: Segment) -> bool:
    """The same texts around as many columns; more than one column is compared pairwise then.

    That is exact where no value contains the text between; validation warns where one may.
    """
    return len(a) == len(b) and all(
        (isinstance(x, Slot) and isinstance(y, Slot)) or x == y for x, y in zip(a, b, strict=True)
    )


def _pairwise(a: Segment, b: Segment) -> Conditions | None:
    conditions: Conditions = ()
    for x, y in zip(a, b, strict=True):
        if isinstance(x, Slot) and isinstance(y, Slot):
            equal = _equal(x, y)
            if equal is None:
                return None
            conditions += equal
    return conditions


def _all_empty(segment: Segment) -> Conditions | None:
    """Only columns of empty texts make no text."""
    slots = [part for part in segment if isinstance(part, Slot)]
    possible = all(writing_of(slot.type) is Writing.TEXT for slot in slots)
    if not possible or len(slots) < len(segment):
        return None
    return tuple(p for slot in slots for p in _constant_equal(slot, "") or ())


def _equal(a: Slot, b: Slot) -> Conditions | None:
    one, other = writing_of(a.type), writing_of(b.type)
    if one is other or {one, other} == {Writing.INTEGER, Writing.DECIMAL}:
        return (Comparison(a.column, Op.EQ, b.column),)
    if Writing.TEXT not in {one, other}:
        return None  # 12, 12.0E0 and 2012-01-01 are never the same text
    message = f"{a.column} is {a.type}, {b.column} is {b.type}, and the mapping joins them"
    hint = "Give both columns one type in the catalog, or use different templates."
    raise Mistake.MIXED_TYPES.error(a.column.span or b.column.span, message, hint)


def _equals_text(slot: Slot, text: str, kind: TermKind) -> Conditions | None:
    decoded = text if kind is TermKind.LITERAL else from_iri_safe(text)
    value = None if decoded is None else read_value(decoded, writing_of(slot.type))
    return None if value is None else _constant_equal(slot, value)


def _constant_equal(slot: Slot, value: Value) -> Conditions | None:
    if slot.type.values is not None and value not in slot.type.values:
        return None
    whole = isinstance(value, Fraction) and value.denominator == 1
    constant = Constant(int(value) if whole else value, slot.type)
    return (Comparison(slot.column, Op.EQ, constant),)


def _undecided(left: TermBuilder, right: TermBuilder) -> UnfoldingError:
    message = f"whether {left} and {right} are equal is no matter of comparing columns"
    hint = "Use one template for the same things, and separate its columns by / or ;."
    spans = [slot.column.span for term in (left, right) for slot in slots_of(term)]
    span = next((s for s in spans if s is not None), None)
    return Mistake.UNDECIDED_TEMPLATES.error(span, message, hint)
