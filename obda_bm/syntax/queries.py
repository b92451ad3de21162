"""A query: SELECT or CONSTRUCT, and its clauses in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from obda_bm.diagnostics import Span
from obda_bm.ir.formulas import Duplicates, Operand
from obda_bm.ir.rdf import Iri, Variable
from obda_bm.ir.starql import Construct, GroupBy, Output, Resource, Select, SelectItem, StarqlQuery
from obda_bm.syntax.cursor import CLAUSES, DECLARATIONS, Cursor, nearest
from obda_bm.syntax.having import parse_condition, parse_mark, parse_value
from obda_bm.syntax.iris import resolve
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.patterns import parse_group, parse_variable
from obda_bm.syntax.tokens import Kind, Token
from obda_bm.syntax.windows import parse_sequence_by, parse_streams, parse_using

ClauseParser = Callable[[Cursor, StarqlQuery, Token], StarqlQuery]


def parse_query(cursor: Cursor) -> StarqlQuery:
    """The query at the cursor; clauses with mistakes are left out, and the mistakes noted."""
    start = cursor.token
    output = cursor.attempt(parse_output) or Select(())
    query = StarqlQuery(output, ())
    while cursor.token.kind is not Kind.END and not cursor.at_word(*DECLARATIONS):
        query = cursor.attempt(partial(parse_clause, query)) or query
    return replace(query, span=cursor.span_from(start))


def parse_output(cursor: Cursor) -> Output:
    """`SELECT ...` or `CONSTRUCT ...`."""
    start = cursor.expect_word("SELECT", "CONSTRUCT", hint="A query begins so.")
    if start.word == "CONSTRUCT":
        return _parse_construct(cursor, start)
    distinct = Duplicates.ELIMINATE if cursor.accept_word("DISTINCT") else Duplicates.KEEP
    braces = cursor.accept_symbol("{")
    items = [_parse_item(cursor)]
    while not _at_end_of_items(cursor):
        if not cursor.accept_symbol(",") and cursor.token.kind is Kind.END:
            break
        items.append(_parse_item(cursor))
    if braces:
        cursor.expect_symbol("}", "Close the list that SELECT opens.")
    return Select(tuple(items), distinct, cursor.span_from(start))


def _at_end_of_items(cursor: Cursor) -> bool:
    if cursor.at_symbol("}") or cursor.at_word(*CLAUSES, *DECLARATIONS):
        return True
    # Without braces, a misspelt clause must not be taken for one more column.
    return cursor.following.text != "(" and nearest(cursor.token, CLAUSES) is not None


def _parse_item(cursor: Cursor) -> SelectItem:
    """`?x`, `expression AS ?x` or `(expression AS ?x)`."""
    start = cursor.token
    if _at_end_of_items(cursor):
        raise cursor.unexpected("a variable", "Name what the query answers with, as in { ?s }.")
    inside = _parse_bracketed_item(cursor)
    if inside is not None:
        return inside
    expression = parse_value(cursor)
    alias = _parse_alias(cursor) if cursor.accept_word("AS") else None
    if alias is None and not (
        isinstance(expression, Operand) and isinstance(expression.term, Variable)
    ):
        raise cursor.unexpected("AS", "Name the column, as in AVG(?x) AS ?mean.")
    return SelectItem(expression, alias, cursor.span_from(start))


def _parse_bracketed_item(cursor: Cursor) -> SelectItem | None:
    """SPARQL's `(expression AS ?x)`; None, and nothing taken, when AS is not in the brackets."""
    start, index = cursor.token, cursor.index
    if not cursor.accept_symbol("("):
        return None
    expression = parse_value(cursor)
    if not cursor.accept_word("AS"):
        cursor.index = index
        return None
    alias = _parse_alias(cursor)
    cursor.expect_symbol(")")
    return SelectItem(expression, alias, cursor.span_from(start))


def _parse_alias(cursor: Cursor) -> Variable:
    if cursor.token.kind is not Kind.VARIABLE:
        raise cursor.unexpected("a variable", "Name the column, as in AVG(?x) AS ?mean.")
    return parse_variable(cursor)


def _parse_construct(cursor: Cursor, start: Token) -> Construct:
    """`GRAPH NOW { ... }` or `{ ... }<NOW>`."""
    hint = "Results hold at the time of output: CONSTRUCT GRAPH NOW { ... }."
    if cursor.accept_word("GRAPH"):
        cursor.expect_word("NOW", hint=hint)
        group = parse_group(cursor, parse_condition)
    else:
        group = parse_group(cursor, parse_condition)
        if parse_mark(cursor).upper() != "NOW":
            before = cursor.tokens[cursor.index - 1]
            raise Mistake.UNEXPECTED.error(before.span, "only <NOW> can be constructed", hint)
    if group.filters:
        span = group.filters[0].span
        message, hint = "FILTER cannot be constructed", "Move it into WHERE or HAVING."
        raise Mistake.UNSUPPORTED_PATTERN.error(span, message, hint)
    return Construct(group.atoms, cursor.span_from(start))


def parse_clause(query: StarqlQuery, cursor: Cursor) -> StarqlQuery:
    """`query` with the clause at the cursor; a misspelt keyword is noted and understood."""
    token = cursor.token
    keyword = token.word if token.word in CLAUSES else nearest(token, CLAUSES)
    if keyword is None:
        cursor.take()
        hint = "After the output come FROM STREAM, USING, WHERE, SEQUENCE BY, HAVING and GROUP BY."
        message = f"expected a clause, found {token}"
        raise Mistake.UNEXPECTED.error(token.span, message, hint)
    if keyword != token.word:
        cursor.misspelt(keyword)
    cursor.take()
    return _PARSERS[keyword](cursor, query, token)


def _from(cursor: Cursor, query: StarqlQuery, token: Token) -> StarqlQuery:
    if cursor.at_word("STATIC", "ABOX", "ONTOLOGY", "TBOX", "DATA"):
        word = cursor.take().word
        is_ontology = word in ("ONTOLOGY", "TBOX") or cursor.at_word("ONTOLOGY", "TBOX")
        return (_ontology if is_ontology else _static)(cursor, query, token)
    cursor.expect_word("STREAM", hint="Write FROM STREAM and the name of a stream.")
    return replace(query, streams=query.streams + parse_streams(cursor))


def _static(cursor: Cursor, query: StarqlQuery, token: Token) -> StarqlQuery:
    cursor.accept_word("DATA", "ABOX")
    query = replace(query, static_data=(*query.static_data, _parse_resource(cursor)))
    while cursor.accept_symbol(","):
        if cursor.at_word("ONTOLOGY", "TBOX"):
            return _ontology(cursor, query, token)
        query = replace(query, static_data=(*query.static_data, _parse_resource(cursor)))
    return query


def _ontology(cursor: Cursor, query: StarqlQuery, token: Token) -> StarqlQuery:
    cursor.accept_word("ONTOLOGY", "TBOX")
    query = replace(query, ontologies=(*query.ontologies, _parse_resource(cursor)))
    while cursor.accept_symbol(","):
        if cursor.accept_word("DATA", "ABOX"):
            return _static(cursor, query, token)
        query = replace(query, ontologies=(*query.ontologies, _parse_resource(cursor)))
    return query


def _parse_resource(cursor: Cursor) -> Resource:
    token = cursor.token
    if token.kind in (Kind.IRI, Kind.NAME):
        return Resource(Iri(resolve(cursor, cursor.take())), token.span)
    hint = "Name the data by an IRI, or by a name of the setting."
    return Resource(cursor.expect(Kind.WORD, "an IRI or a name", hint).text, token.span)


def _using(cursor: Cursor, query: StarqlQuery, token: Token) -> StarqlQuery:
    _once(cursor, token, query.pulse)
    return replace(query, pulse=parse_using(cursor))


def _where(cursor: Cursor, query: StarqlQuery, token: Token) -> StarqlQuery:
    _once(cursor, token, query.where)
    group = parse_group(cursor, parse_condition)
    return replace(query, where=replace(group, span=cursor.span_from(token)))


def _sequence(cursor: Cursor, query: StarqlQuery, token: Token) -> StarqlQuery:
    _once(cursor, token, query.sequence)
    return replace(query, sequence=parse_sequence_by(cursor))


def _having(cursor: Cursor, query: StarqlQuery, token: Token) -> StarqlQuery:
    if cursor.accept_word("AGGREGATE"):
        _once(cursor, token, query.having_aggregate)
        return replace(query, having_aggregate=parse_condition(cursor))
    _once(cursor, token, query.having)
    return replace(query, having=parse_condition(cursor))


def _group(cursor: Cursor, query: StarqlQuery, token: Token) -> StarqlQuery:
    cursor.expect_word("BY", hint="Write GROUP BY and variables.")
    _once(cursor, token, query.group_by)
    variables = [_parse_grouped(cursor)]
    while cursor.accept_symbol(",") or cursor.token.kind is Kind.VARIABLE:
        variables.append(_parse_grouped(cursor))
    return replace(query, group_by=GroupBy(tuple(variables), cursor.span_from(token)))


def _parse_grouped(cursor: Cursor) -> Variable:
    if cursor.token.kind is not Kind.VARIABLE:
        raise cursor.unexpected("a variable", "Write GROUP BY and variables.")
    return parse_variable(cursor)


def _once(cursor: Cursor, token: Token, value: object) -> None:
    if value is not None:
        span: Span = token.span
        message, hint = f"{token.text} is given twice", "Keep one, or join them with AND or '.'."
        cursor.note(Mistake.REPEATED, span, message, hint)


_PARSERS: dict[str, ClauseParser] = {
    "FROM": _from,
    "STATIC": _static,
    "ABOX": _static,
    "ONTOLOGY": _ontology,
    "TBOX": _ontology,
    "USING": _using,
    "WHERE": _where,
    "SEQUENCE": _sequence,
    "HAVING": _having,
    "GROUP": _group,
}
