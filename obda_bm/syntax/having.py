"""The conditions of HAVING: quantifiers over states, patterns in a state, IF THEN."""

from __future__ import annotations

from dataclasses import replace

from obda_bm.diagnostics import Span, cover
from obda_bm.ir.formulas import (
    Comparison,
    Expression,
    Formula,
    IfThen,
    Quantified,
    Quantifier,
    State,
    StatePattern,
    conjunction,
)
from obda_bm.ir.rdf import Variable
from obda_bm.syntax.cursor import Cursor
from obda_bm.syntax.expressions import (
    RESERVED,
    Node,
    accept_op,
    as_expression,
    as_formula,
    parse_not,
    parse_or,
    parse_sum,
)
from obda_bm.syntax.patterns import parse_group, parse_variable
from obda_bm.syntax.substitute import Substitution, substitute
from obda_bm.syntax.tokens import Kind, Token

_QUANTIFIER_HINT = "A quantifier reads EXISTS i IN seq ?x ( ... )."


def parse_condition(cursor: Cursor) -> Formula:
    return as_formula(parse_or(cursor, parse_logical))


def parse_value(cursor: Cursor) -> Expression:
    return as_expression(parse_sum(cursor, parse_logical))


def parse_logical(cursor: Cursor) -> Node | None:
    """A quantifier, a pattern in a state or an IF; None when none of these begins here."""
    if cursor.at_word("EXISTS", "FORALL"):
        return parse_quantified(cursor)
    if cursor.at_word("IF"):
        return parse_if(cursor)
    if cursor.at_word("GRAPH"):
        return parse_graph(cursor)
    if cursor.at_symbol("{"):
        return parse_marked_pattern(cursor)
    return None


def parse_if(cursor: Cursor) -> IfThen:
    """`IF condition THEN condition`."""
    start = cursor.take()
    guard = parse_condition(cursor)
    cursor.expect_word("THEN", hint="Every IF has a THEN.")
    consequence = parse_condition(cursor)
    return IfThen(guard, consequence, cursor.span_from(start))


def parse_graph(cursor: Cursor) -> StatePattern:
    """`GRAPH i { pattern }`."""
    start = cursor.take()
    state = parse_state(cursor)
    pattern = parse_group(cursor, parse_condition)
    return StatePattern(state, pattern, cursor.span_from(start))


def parse_marked_pattern(cursor: Cursor) -> StatePattern:
    """`{ pattern }<i>`, the notation of the earlier publications."""
    start = cursor.token
    pattern = parse_group(cursor, parse_condition)
    state = parse_mark(cursor)
    return StatePattern(state, pattern, cursor.span_from(start))


def parse_mark(cursor: Cursor) -> str:
    """`<i>`, which looks like an IRI unless there are spaces in it."""
    if cursor.token.kind is Kind.IRI:
        return cursor.take().text[1:-1].removeprefix("?")
    cursor.expect_symbol("<", "Say in which state it holds: { ... }<i> or GRAPH i { ... }.")
    state = parse_state(cursor)
    cursor.expect_symbol(">")
    return state


def parse_state(cursor: Cursor) -> str:
    """The name of a state variable, which some publications write with a question mark."""
    token = cursor.token
    if token.kind is Kind.VARIABLE:
        return parse_variable(cursor).name
    if token.kind is not Kind.WORD or token.word in RESERVED:
        raise cursor.unexpected("a state variable", "Name a state, as in GRAPH i { ... }.")
    return cursor.take().text


def parse_quantified(cursor: Cursor) -> Quantified:
    """`EXISTS i, j IN seq ?x, ?y ( ... )`, and the variants `i < j IN` and `: ...`."""
    start = cursor.take()
    quantifier = Quantifier(start.word)
    first = cursor.index
    states, order = _parse_states(cursor)
    marked = {t.text for t in cursor.tokens[first : cursor.index] if t.kind is Kind.VARIABLE}
    cursor.expect_word("IN", hint=_QUANTIFIER_HINT)
    sequence, colon = _parse_sequence(cursor)
    values = _parse_values(cursor)
    body = _parse_body(cursor, colon or _accept_colon(cursor))
    # `?i` before IN makes `?i` a state in the body, too.
    plain = Substitution(terms={Variable(m[1:]): State(m[1:]) for m in marked if m[0] == "?"})
    body = _with_order(quantifier, order, substitute(body, plain))
    span = cursor.span_from(start)
    return Quantified(quantifier, states, sequence, values, body, span)


def _parse_states(cursor: Cursor) -> tuple[tuple[str, ...], tuple[Comparison, ...]]:
    """The states before IN, and the order between them if it is written there."""
    tokens, order = [cursor.token], []
    states = [parse_state(cursor)]
    while not cursor.at_word("IN"):
        op = None if cursor.accept_symbol(",") else accept_op(cursor)
        if op is None and cursor.tokens[cursor.index - 1].text != ",":
            break
        tokens.append(cursor.token)
        states.append(parse_state(cursor))
        if op is not None:
            sides = [State(s, t.span) for s, t in zip(states[-2:], tokens[-2:], strict=True)]
            where = cover(t.span for t in tokens[-2:])
            order.append(Comparison(sides[0], op, sides[1], where))
    return tuple(dict.fromkeys(states)), tuple(order)


def _parse_sequence(cursor: Cursor) -> tuple[str, Token | None]:
    """The name of the sequence, and the colon if it is glued to it."""
    token = cursor.token
    if token.kind is Kind.NAME and token.text.endswith(":") and len(token.text) > 1:
        return cursor.take().text[:-1], token
    return cursor.expect(Kind.WORD, "the name of a sequence", _QUANTIFIER_HINT).text, None


def _parse_values(cursor: Cursor) -> tuple[Variable, ...]:
    values: list[Variable] = []
    cursor.accept_symbol(",")
    while cursor.token.kind is Kind.VARIABLE:
        values.append(parse_variable(cursor))
        if cursor.accept_symbol(",") and cursor.token.kind is not Kind.VARIABLE:
            raise cursor.unexpected("a variable", _QUANTIFIER_HINT)
    return tuple(dict.fromkeys(values))


def _accept_colon(cursor: Cursor) -> Token | None:
    return cursor.take() if cursor.token.text == ":" else None


def _parse_body(cursor: Cursor, colon: Token | None) -> Formula:
    """After a colon the body goes as far as it can; otherwise it is one condition."""
    if colon is not None:
        return parse_condition(cursor)
    if not (cursor.at_symbol("(", "{") or cursor.at_word("IF", "GRAPH", "EXISTS", "FORALL", "NOT")):
        raise cursor.unexpected("'('", _QUANTIFIER_HINT)
    return as_formula(parse_not(cursor, parse_logical))


def _with_order(quantifier: Quantifier, order: tuple[Comparison, ...], body: Formula) -> Formula:
    """`body` for states in that order only."""
    if not order:
        return body
    span: Span | None = body.span
    if quantifier is Quantifier.EXISTS:
        return conjunction((*order, body), span)
    if isinstance(body, IfThen):
        return replace(body, guard=conjunction((*order, body.guard)))
    return IfThen(conjunction(order), body, span)
