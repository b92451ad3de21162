"""CHECK constraints of the catalog -> predicates."""

from __future__ import annotations

from obda_bm.diagnostics import Diagnostic, SourceText, Span, SqlError
from obda_bm.ir.catalog import Relation
from obda_bm.ir.spj import Semantics
from obda_bm.ir.terms import Predicate
from obda_bm.sql.conditions import Conditions, read_condition
from obda_bm.sql.names import Scope, relation_table
from obda_bm.sql.spans import SqlText
from obda_bm.sql.syntax import find_dialect, parse_condition, tokenize


def parse_check(text: str, relation: Relation, span: Span | None) -> tuple[Predicate, ...]:
    """The conjunction that the constraint `text` states; its columns have no occurrence.

    `span` is where the constraint stands in the user's text; positions point into it where it is
    there literally, and at all of it where it is not, as in a string with escapes.

    Raises:
        SqlError: where the text is malformed, or does not fit `relation`.
        OutsideFragment: where it is not a conjunction of comparisons.
    """
    try:
        return _read_check(text, relation, span)
    except RecursionError:
        place = span or Span(SourceText("check", text), 0, len(text))
        raise SqlError(Diagnostic("OBM212", "the condition is nested too deeply", place)) from None


def _read_check(text: str, relation: Relation, span: Span | None) -> tuple[Predicate, ...]:
    dialect = find_dialect(None)
    parsed = tokenize(placed(text, span), dialect)
    condition = parse_condition(parsed, dialect)
    scope = Scope((relation_table("", relation),))
    # Under bag semantics a disjunction is refused, so there is exactly one conjunction.
    (conjunction,) = read_condition(condition, Conditions(scope, parsed, Semantics.BAG))
    return conjunction


def placed(text: str, span: Span | None) -> SqlText:
    """The text with its place in the user's file, as far as that is known."""
    if span is None:
        return SqlText(text, SourceText("check", text))
    literal = len(span.text) == len(text)
    return SqlText(text, span.source, base=span.start, whole=None if literal else span)
