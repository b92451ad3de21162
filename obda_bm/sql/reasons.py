"""Why an expression lies outside select-project-join queries."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Reason:
    code: str
    message: str
    hint: str


Kinds = tuple[type[exp.Expr], ...]

_ARITHMETIC: Kinds = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.IntDiv,
    exp.Mod,
    exp.Neg,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
    exp.BitwiseNot,
    exp.BitwiseLeftShift,
    exp.BitwiseRightShift,
)

# The first that fits counts: an aggregate is a function too, and an AND is one to sqlglot.
_REASONS: tuple[tuple[Kinds, Reason], ...] = (
    (
        (exp.Window,),
        Reason(
            "OBM304",
            "a window function is not select-project-join",
            "Remove it; compute it over the results.",
        ),
    ),
    (
        (exp.AggFunc,),
        Reason(
            "OBM304",
            "aggregation is not select-project-join",
            "Select the rows; aggregate the results where they are used.",
        ),
    ),
    (
        (exp.Query, exp.Exists, exp.Any, exp.All),
        Reason(
            "OBM308",
            "a subquery inside an expression is not select-project-join",
            "Join with the subquery in FROM.",
        ),
    ),
    (
        (exp.NullSafeEQ, exp.NullSafeNEQ),
        Reason(
            "OBM307",
            "IS [NOT] DISTINCT FROM compares NULLs",
            "Use = or <>, which NULL never satisfies.",
        ),
    ),
    (
        (exp.Is,),
        Reason(
            "OBM307",
            "IS asks for something other than a value",
            "Only IS NOT NULL, IS TRUE and IS FALSE can be used.",
        ),
    ),
    (
        (exp.Placeholder, exp.Parameter, exp.SessionParameter),
        Reason("OBM320", "the query has a parameter", "Write the value itself."),
    ),
    (
        (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike, exp.Glob),
        Reason(
            "OBM305",
            "pattern matching is not a comparison",
            "Compare with = or IN, or add a column to the source.",
        ),
    ),
    (
        (exp.Concat, exp.DPipe),
        Reason(
            "OBM305",
            "string concatenation is not a comparison of columns",
            "Compare the columns themselves, or add a column to the source.",
        ),
    ),
    (
        (exp.Case,),
        Reason("OBM305", "CASE is not a column or a constant", "Write a UNION of the cases."),
    ),
    (
        (exp.Cast,),
        Reason(
            "OBM305",
            "only a string can be cast, and only to a date or timestamp",
            "Write the value as a literal, or change the type in the catalog.",
        ),
    ),
    (
        (exp.Tuple,),
        Reason("OBM305", "a row value is not a column", "Compare the columns one by one."),
    ),
    (
        (exp.Interval,),
        Reason(
            "OBM312",
            "an interval stands where no time column or time constant is shifted",
            "Add it to a time column, as in t.ts + INTERVAL '5' MINUTE.",
        ),
    ),
    (
        _ARITHMETIC,
        Reason(
            "OBM312",
            "arithmetic on columns is not a comparison of columns",
            "Compare the columns themselves, or add a column to the source.",
        ),
    ),
    (
        (exp.Predicate, exp.Connector, exp.Boolean),
        Reason(
            "OBM305",
            "a condition is used as a value",
            "Conditions can stand in WHERE and ON only.",
        ),
    ),
    (
        (exp.Func,),
        Reason(
            "OBM305",
            "a function is not a column or a constant",
            "Add a column with the computed value to the source.",
        ),
    ),
    (
        (exp.Expr,),
        Reason(
            "OBM305",
            "this expression is not a column or a constant",
            "Use columns, constants and comparisons between them.",
        ),
    ),
)


def reason_against(node: exp.Expr) -> Reason:
    """Why `node` cannot be read as a value or a condition."""
    match node:
        case exp.Not():
            return _reason_against_not(node.this)
        case exp.Is(expression=exp.Null()):
            return Reason(
                "OBM307",
                "IS NULL asks for a missing value",
                "Remove it: comparisons are about values that are there.",
            )
        case _:
            return next(reason for kinds, reason in _REASONS if isinstance(node, kinds))


def _reason_against_not(negated: exp.Expr) -> Reason:
    match negated.unnest():
        case exp.In(expressions=[_, *_]):
            return Reason("OBM307", "NOT IN is a negation", "Write a <> condition for each value.")
        case exp.In() | exp.Exists():
            hint = "A negated subquery has no select-project-join form."
            return Reason("OBM307", "a negated subquery is not select-project-join", hint)
        case exp.Between():
            return Reason("OBM307", "NOT BETWEEN is a disjunction", "Write a UNION of < and >.")
        case _:
            hint = "Write the opposite comparison: <> for =, >= for <, and so on."
            return Reason("OBM307", "NOT is a negation", hint)
