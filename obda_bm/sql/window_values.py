"""Expressions and comparisons of STARQL -> SQL over the tables of patterns, for DuckDB.

A term is a number in these tables. What is asked about it stands in columns beside it, its facets:
`order` puts terms that compare with each other in order, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from obda_bm.ir.formulas import (
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duplicates,
    Duration,
    Expression,
    Function,
    FunctionCall,
    Minus,
    Operand,
    State,
)
from obda_bm.ir.lexical import NUMERIC_DATATYPES, read_instant, read_number
from obda_bm.ir.rdf import RDF, STRING, XSD, Iri, Literal, RdfTerm, Variable
from obda_bm.ir.terms import Op
from obda_bm.ir.window_plan import Facet

_TEXTS = {Function.STR, Function.LANG, Function.DATATYPE, Function.UCASE, Function.LCASE}
_EXTREMES = {AggregateFunction.MIN, AggregateFunction.MAX}
_FAMILY = 32
"""The bits of an order below the family: terms of different families do not compare."""


@dataclass(slots=True)
class Ledger:
    """What the SQL reads: facets of variables, and constants of the query."""

    facets: set[tuple[Variable, Facet]] = field(default_factory=set)
    constants: list[Iri | Literal] = field(default_factory=list)

    def constant(self, term: Iri | Literal) -> str:
        if term not in self.constants:
            self.constants.append(term)
        return f"c{self.constants.index(term)}"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the variables and states in sight stand: `a.v1` and `a`.

    In a group, what is the same everywhere is read from any row of it: `each` says how.
    """

    ledger: Ledger
    values: Mapping[Variable, str] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0
    each: str = "{}"

    def term(self, variable: Variable) -> str:
        return self.each.format(self.values[variable])

    def facet(self, variable: Variable, facet: Facet) -> str:
        self.ledger.facets.add((variable, facet))
        return self.each.format(f"{self.values[variable]}_{facet.value}")


def comparison_sql(comparison: Comparison, scope: Scope) -> str:
    """When the comparison is true; comparing what does not compare is never true."""
    left, op, right = comparison.left, comparison.op, comparison.right
    if _is_temporal(left) or _is_temporal(right):
        by_time = _needs_time(left) or _needs_time(right)
        moment = _time if by_time else _position
        return f"{moment(left, scope)} {op.value} {moment(right, scope)}"
    if _is_ordered(left) and _is_ordered(right):
        return _in_order(_order(left, scope), op, _order(right, scope))
    if is_text(left) or is_text(right):
        return f"{text_sql(left, scope)} {op.value} {text_sql(right, scope)}"
    return f"{number_sql(left, scope)} {op.value} {number_sql(right, scope)}"


def _in_order(left: str, op: Op, right: str) -> str:
    """Family 0 are things, which are only equal or not; family 1 has no order nor difference."""
    families = (f"({left} >> {_FAMILY})", f"({right} >> {_FAMILY})")
    same = f"{families[0]} = {families[1]} AND {families[0]}"
    match op:
        case Op.EQ:
            return f"{left} = {right}"
        case Op.NE:
            things = f"{families[0]} = 0 OR {families[1]} = 0"
            return f"({left} <> {right} AND ({things} OR {same} > 1))"
        case _:
            return f"({left} {op.value} {right} AND {same} > 1)"


def _is_ordered(expression: Expression) -> bool:
    match expression:
        case Operand():
            return True
        case Aggregate(function, Operand()):
            return function in _EXTREMES
        case _:
            return False


def _order(expression: Expression, scope: Scope) -> str:
    match expression:
        case Operand(Variable() as variable):
            return scope.facet(variable, Facet.ORDER)
        case Operand(Iri() | Literal() as constant):
            return f"(SELECT {scope.ledger.constant(constant)}_order FROM constants)"
        case Aggregate(function, Operand() as argument):
            return f"{function.value}({_order(argument, _rows(scope))})"
    raise AssertionError(f"no term: {expression}")


def _rows(scope: Scope) -> Scope:
    """The rows of a group, for its aggregates."""
    return replace(scope, each="{}")


def _is_temporal(expression: Expression) -> bool:
    match expression:
        case State() | Duration():
            return True
        case Arithmetic(left, _, right):
            return _is_temporal(left) or _is_temporal(right)
        case _:
            return False


def _needs_time(expression: Expression) -> bool:
    """Whether it speaks of lengths of time or timestamps, not only of the order of states."""
    match expression:
        case Duration() | Operand(Literal(datatype="http://www.w3.org/2001/XMLSchema#dateTime")):
            return True
        case Arithmetic(State(), ArithmeticOp.SUB, State()):
            return True
        case Arithmetic(left, _, right):
            return _needs_time(left) or _needs_time(right)
        case _:
            return False


def _position(expression: Expression, scope: Scope) -> str:
    match expression:
        case State(name):
            return f"{scope.states[name]}.at"
        case Operand(Literal(lexical)):
            return str(int(lexical))
        case Arithmetic(left, op, right):
            return f"({_position(left, scope)} {op.value} {_position(right, scope)})"
    raise AssertionError(f"no state: {expression}")


def _time(expression: Expression, scope: Scope) -> str:
    """Microseconds, of a point in time or of a length."""
    match expression:
        case State(name):
            return f"{scope.states[name]}.at_time"
        case Duration(microseconds):
            return f"({microseconds})"
        case Operand(Literal(lexical)):
            moment = read_instant(lexical)
            return "NULL" if moment is None else f"({moment})"
        case Arithmetic(left, op, right):
            return f"({_time(left, scope)} {op.value} {_time(right, scope)})"
    raise AssertionError(f"no time: {expression}")


def number_sql(expression: Expression, scope: Scope) -> str:
    match expression:
        case Operand(Variable() as variable):
            return scope.facet(variable, Facet.NUMBER)
        case Operand(constant):
            return _number(constant)
        case Minus(operand):
            return f"(-{number_sql(operand, scope)})"
        case Arithmetic(left, ArithmeticOp.DIV, right):
            return f"({number_sql(left, scope)} / nullif({number_sql(right, scope)}, 0))"
        case Arithmetic(left, op, right):
            return f"({number_sql(left, scope)} {op.value} {number_sql(right, scope)})"
        case Aggregate():
            return _aggregate(expression, _rows(scope))
        case FunctionCall():
            return _numeric_call(expression, scope)
        case State() | Duration():
            raise AssertionError("times are compared as times")


def _number(constant: RdfTerm) -> str:
    if not isinstance(constant, Literal) or constant.datatype not in NUMERIC_DATATYPES:
        return "CAST(NULL AS DOUBLE)"
    if read_number(constant.lexical) is None:
        return "CAST(NULL AS DOUBLE)"
    if constant.datatype in {XSD + "double", XSD + "float"}:
        return f"CAST({float(constant.lexical)!r} AS DOUBLE)"
    return f"({constant.lexical.strip()})"


def _aggregate(aggregate: Aggregate, rows: Scope) -> str:
    distinct = "DISTINCT " if aggregate.duplicates is Duplicates.ELIMINATE else ""
    match aggregate:
        case Aggregate(_, None):
            return "count(*)"
        case Aggregate(AggregateFunction.COUNT, Operand(Variable() as variable)):
            return f"count({distinct}{rows.term(variable)})"
        case Aggregate(function, argument):
            assert argument is not None, "matched above"
            return f"{function.value}({distinct}{number_sql(argument, rows)})"


_CALLS = {
    Function.ABS: "abs({})",
    Function.CEIL: "ceil({})",
    Function.FLOOR: "floor({})",
    Function.ROUND: "floor({} + 0.5)",
}
_PARTS = {
    Function.YEAR: "date_part('year', {})",
    Function.MONTH: "date_part('month', {})",
    Function.DAY: "date_part('day', {})",
    Function.HOURS: "date_part('hour', {})",
    Function.MINUTES: "date_part('minute', {})",
    Function.SECONDS: "CAST(date_part('microsecond', {}) / 1000000 AS DECIMAL(9, 6))",
}


def _numeric_call(call: FunctionCall, scope: Scope) -> str:
    (argument,) = call.arguments
    if call.function in _CALLS:
        return _CALLS[call.function].format(number_sql(argument, scope))
    if call.function in _PARTS:
        return _PARTS[call.function].format(_instant(argument, scope))
    if call.function is Function.STRLEN:
        return f"length({text_sql(argument, scope)})"
    return "CAST(NULL AS DOUBLE)"  # a text or a condition is no number


def _instant(expression: Expression, scope: Scope) -> str:
    match expression:
        case Operand(Variable() as variable):
            return scope.facet(variable, Facet.INSTANT)
        case Operand(Literal(lexical)) if (moment := read_instant(lexical)) is not None:
            return f"make_timestamp({moment})"
        case _:
            return "CAST(NULL AS TIMESTAMP)"


def is_text(expression: Expression) -> bool:
    return isinstance(expression, FunctionCall) and expression.function in _TEXTS


def text_sql(expression: Expression, scope: Scope) -> str:
    """The text of a string; NULL for what is none."""
    match expression:
        case Operand(Variable() as variable):
            kinds = f"('{STRING}', '{RDF}langString')"
            datatype, text = (scope.facet(variable, f) for f in (Facet.DATATYPE, Facet.TEXT))
            return f"CASE WHEN {datatype} IN {kinds} THEN {text} END"
        case Operand(Iri(text) | Literal(text)):
            return _quoted(text)
        case FunctionCall(function, (Operand(Variable() as variable),)) if function in _FACETS:
            return scope.facet(variable, _FACETS[function])
        case FunctionCall(Function.STR, (Operand(Iri(text) | Literal(text)),)):
            return _quoted(text)
        case FunctionCall(Function.UCASE, (argument,)):
            return f"upper({text_sql(argument, scope)})"
        case FunctionCall(Function.LCASE, (argument,)):
            return f"lower({text_sql(argument, scope)})"
        case _:
            return "CAST(NULL AS VARCHAR)"


_FACETS = {
    Function.STR: Facet.TEXT,
    Function.LANG: Facet.LANGUAGE,
    Function.DATATYPE: Facet.DATATYPE,
}
_TESTS = {
    Function.CONTAINS: "contains({}, {})",
    Function.STRSTARTS: "starts_with({}, {})",
    Function.STRENDS: "suffix({}, {})",
    Function.REGEX: "regexp_matches({}, {})",
}


def holds_sql(call: FunctionCall, scope: Scope) -> str:
    """Whether a condition on texts holds; NULL where an argument is no text."""
    return _TESTS[call.function].format(*(text_sql(a, scope) for a in call.arguments))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def answer_sql(expression: Expression, scope: Scope) -> str:
    """A term, by its number, or a value that becomes a literal."""
    match expression:
        case Operand(Variable() as variable):
            return scope.term(variable)
        case Operand(Iri() | Literal() as constant):
            return f"(SELECT {scope.ledger.constant(constant)} FROM constants)"
        case Aggregate(AggregateFunction.MIN | AggregateFunction.MAX as function, Operand() as of):
            rows = _rows(scope)
            term, order = answer_sql(of, rows), _order(of, rows)
            return f"arg_{function.value.lower()}({term}, {order})"
        case _ if is_text(expression):
            return text_sql(expression, scope)
        case _:
            return number_sql(expression, scope)


def is_term(expression: Expression) -> bool:
    """Whether the answer is a term of the data, not a calculated value."""
    return _is_ordered(expression)
