"""The ladder of operators, from OR down to single values.

Conditions and values share their brackets, so one ladder reads both; what was read is then asked
whether it is of the sort that its place needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from obda_bm.diagnostics import Span, StarqlError, cover
from obda_bm.ir.formulas import (
    Aggregate,
    AggregateFunction,
    Argument,
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duplicates,
    Duration,
    Expression,
    Formula,
    Function,
    FunctionCall,
    MacroCall,
    Minus,
    Not,
    Operand,
    State,
    conjunction,
    disjunction,
)
from obda_bm.ir.rdf import Literal
from obda_bm.ir.terms import Op
from obda_bm.syntax.cursor import Cursor
from obda_bm.syntax.literals import STRINGS, number, parse_literal
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.patterns import parse_term
from obda_bm.syntax.tokens import Kind, Token

T = TypeVar("T")
Node = Formula | Expression
PrimaryParser = Callable[[Cursor], Node | None]

_OPS = {"<": Op.LT, "<=": Op.LE, "=": Op.EQ, "!=": Op.NE, ">=": Op.GE, ">": Op.GT}
_AGGREGATES = {function.value for function in AggregateFunction}
_FUNCTIONS = {function.value for function in Function}


def as_formula(node: Node) -> Formula:
    """`node`, if it is a condition.

    Raises:
        StarqlError: it is a value.
    """
    match node:
        case FunctionCall(function) if not function.is_condition:
            raise _wrong_sort(node.span, "a condition", "a value")
        case Operand() | State() | Duration() | Arithmetic() | Minus() | Aggregate():
            raise _wrong_sort(node.span, "a condition", "a value")
        case _:
            return node


def as_expression(node: Node) -> Expression:
    """`node`, if it is a value."""
    match node:
        case FunctionCall(function) if not function.is_condition:
            return node
        case Operand() | State() | Duration() | Arithmetic() | Minus() | Aggregate():
            return node
        case _:
            raise _wrong_sort(node.span, "a value", "a condition")


def _wrong_sort(span: Span | None, wanted: str, found: str) -> StarqlError:
    hint = "Compare values with <, <=, =, !=, >= or >; join conditions with AND, OR and NOT."
    return Mistake.WRONG_SORT.error(span, f"{wanted} is needed here, not {found}", hint)


def parse_or(cursor: Cursor, primary: PrimaryParser) -> Node:
    start, first = cursor.token, parse_and(cursor, primary)
    parts = [first]
    while cursor.accept_word("OR") or cursor.accept_symbol("||"):
        parts.append(parse_and(cursor, primary))
    if len(parts) == 1:
        return first
    return disjunction(tuple(map(as_formula, parts)), cursor.span_from(start))


def parse_and(cursor: Cursor, primary: PrimaryParser) -> Node:
    start, first = cursor.token, parse_not(cursor, primary)
    parts = [first]
    while cursor.accept_word("AND") or cursor.accept_symbol("&&"):
        parts.append(parse_not(cursor, primary))
    if len(parts) == 1:
        return first
    return conjunction(tuple(map(as_formula, parts)), cursor.span_from(start))


def parse_not(cursor: Cursor, primary: PrimaryParser) -> Node:
    start = cursor.token
    if cursor.accept_word("NOT") or cursor.accept_symbol("!"):
        with cursor.deeper():
            part = as_formula(parse_not(cursor, primary))
        return Not(part, cursor.span_from(start))
    return parse_comparison(cursor, primary)


def parse_comparison(cursor: Cursor, primary: PrimaryParser) -> Node:
    start, left = cursor.token, parse_sum(cursor, primary)
    op = accept_op(cursor)
    if op is None:
        return left
    right = as_expression(parse_sum(cursor, primary))
    return Comparison(as_expression(left), op, right, cursor.span_from(start))


def accept_op(cursor: Cursor) -> Op | None:
    if cursor.token.kind is Kind.IRI and cursor.token.text == "<>":
        cursor.take()
        return Op.NE
    token = cursor.accept_symbol(*_OPS)
    return _OPS[token.text] if token else None


def parse_sum(cursor: Cursor, primary: PrimaryParser) -> Node:
    node = parse_product(cursor, primary)
    while token := cursor.accept_symbol("+", "-"):
        node = _arithmetic(node, token, parse_product(cursor, primary))
    return node


def parse_product(cursor: Cursor, primary: PrimaryParser) -> Node:
    node = parse_unary(cursor, primary)
    while token := cursor.accept_symbol("*", "/"):
        node = _arithmetic(node, token, parse_unary(cursor, primary))
    return node


def _arithmetic(left: Node, op: Token, right: Node) -> Arithmetic:
    first, second = as_expression(left), as_expression(right)
    return Arithmetic(first, ArithmeticOp(op.text), second, cover([first.span, second.span]))


def parse_unary(cursor: Cursor, primary: PrimaryParser) -> Node:
    start = cursor.token
    if not cursor.accept_symbol("-"):
        return parse_primary(cursor, primary)
    if cursor.token.kind is Kind.NUMBER:
        term = number("-" + cursor.take().text)
        return Operand(term, cursor.span_from(start))
    with cursor.deeper():
        operand = as_expression(parse_unary(cursor, primary))
    return Minus(operand, cursor.span_from(start))


def parse_primary(cursor: Cursor, primary: PrimaryParser) -> Node:
    """What `primary` reads, or a value, a call or something in brackets."""
    with cursor.deeper():
        node = primary(cursor)
        if node is not None:
            return node
        if cursor.at_symbol("("):
            return _bracketed(cursor, primary)
    if cursor.following.text == "(" and cursor.token.kind in (Kind.WORD, Kind.NAME):
        with cursor.deeper():
            return parse_call(cursor, primary)
    if cursor.token.kind is Kind.WORD:
        return _word(cursor, primary)
    return _value(cursor)


def _bracketed(cursor: Cursor, primary: PrimaryParser) -> Node:
    opening = cursor.take()
    node = parse_or(cursor, primary)
    hint = f"Close the bracket that opens in line {opening.span.line}."
    cursor.expect_symbol(")", hint)
    return node


def _word(cursor: Cursor, primary: PrimaryParser) -> Node:
    """A state variable, true, false, or a call whose name has a dot in it."""
    token = cursor.token
    if token.text in ("true", "false"):
        return Operand(parse_term(cursor, "a value"), token.span)
    dotted = cursor.following.text == "." and cursor.tokens[cursor.index + 2].kind is Kind.WORD
    if dotted:
        return parse_call(cursor, primary)
    if token.word in RESERVED:
        raise cursor.unexpected("a condition or a value")
    return State(cursor.take().text, token.span)


RESERVED = {"AND", "OR", "NOT", "THEN", "IN", "BY", "AS", "AGGREGATE", "FILTER", "STREAM", "PULSE"}
RESERVED |= {"FROM", "STATIC", "ONTOLOGY", "USING", "WHERE", "SEQUENCE", "HAVING", "GROUP", "ABOX"}
RESERVED |= {"TBOX", "PREFIX", "BASE", "CREATE", "SELECT", "CONSTRUCT", "WITH", "NOW"}
RESERVED |= {"IF", "EXISTS", "FORALL", "GRAPH"}


def _value(cursor: Cursor) -> Expression:
    token = cursor.token
    if token.kind in (*STRINGS, Kind.NUMBER, Kind.DURATION):
        value = parse_literal(cursor)
        if isinstance(value, Literal):
            return Operand(value, cursor.span_from(token))
        return Duration(value.microseconds, cursor.span_from(token))
    term = parse_term(cursor, "a condition or a value")
    return Operand(term, cursor.span_from(token))


def parse_call(cursor: Cursor, primary: PrimaryParser) -> Node:
    """A call of an aggregate function, a function of SPARQL, or a macro."""
    start = cursor.take()
    name = start.text
    if cursor.accept_symbol("."):
        name += "." + cursor.take().text
    cursor.expect_symbol("(")
    if name.upper() in _AGGREGATES:
        return _aggregate(cursor, start, primary)
    if name.upper() in _FUNCTIONS:
        return _function(cursor, start, primary)
    arguments = _separated(cursor, _argument)
    return MacroCall(name, arguments, cursor.span_from(start))


def _aggregate(cursor: Cursor, start: Token, primary: PrimaryParser) -> Aggregate:
    function = AggregateFunction(start.text.upper())
    distinct = Duplicates.ELIMINATE if cursor.accept_word("DISTINCT") else Duplicates.KEEP
    argument = None
    if not (function is AggregateFunction.COUNT and cursor.accept_symbol("*")):
        argument = as_expression(parse_sum(cursor, primary))
    cursor.expect_symbol(")")
    return Aggregate(function, argument, distinct, cursor.span_from(start))


def _function(cursor: Cursor, start: Token, primary: PrimaryParser) -> FunctionCall:
    function = Function(start.text.upper())
    arguments = _separated(cursor, lambda c: as_expression(parse_sum(c, primary)))
    span = cursor.span_from(start)
    if len(arguments) != function.arity:
        plural = "s" if function.arity > 1 else ""
        message = f"{function.value} takes {function.arity} argument{plural}, not {len(arguments)}"
        raise Mistake.WRONG_ARITY.error(span, message, "Give it as many as it takes.")
    return FunctionCall(function, arguments, span)


def _argument(cursor: Cursor) -> Argument:
    if cursor.token.kind is Kind.WORD and cursor.token.text not in ("true", "false"):
        token = cursor.take()
        return State(token.text, token.span)
    return parse_term(cursor, "an argument")


def _separated(cursor: Cursor, parse: Callable[[Cursor], T]) -> tuple[T, ...]:
    """Items between commas, up to the closing bracket."""
    if cursor.accept_symbol(")"):
        return ()
    items = [parse(cursor)]
    while cursor.accept_symbol(","):
        items.append(parse(cursor))
    cursor.expect_symbol(")")
    return tuple(items)
