"""What lies outside select-project-join queries, and why: the diagnostics OBM3xx."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from obda_bm.diagnostics import Diagnostic, OutsideFragment, Span
from obda_bm.sql.reasons import reason_against
from obda_bm.sql.spans import SqlText

MAX_BRANCHES = 64
MAX_OCCURRENCES = 256
MAX_SIZE = 20_000  # columns in scope and conditions: views of views can double them each time

_CLAUSES = {
    "group": ("GROUP BY", "Remove it; aggregate the results where they are used."),
    "having": ("HAVING", "Remove it; aggregate the results where they are used."),
    "order": ("ORDER BY", "Remove it: results are emitted in the order of their markers."),
    "limit": ("LIMIT", "Remove it: a query over streams never has all of its results."),
    "offset": ("OFFSET", "Remove it: a query over streams never has all of its results."),
    "qualify": ("QUALIFY", "Remove it; filter with WHERE."),
    "windows": ("WINDOW", "Remove it; bound the time columns with a condition instead."),
    "sample": ("TABLESAMPLE", "Remove it; sample in the source."),
    "pivots": ("PIVOT", "Remove it; pivot the results where they are used."),
    "laterals": ("LATERAL", "Write a join with a condition."),
    "into": ("INTO", "Remove it: the results go where the run sends them."),
    "join_mark": ("the outer join (+)", "Remove it: only inner joins can be used."),
    "locks": ("FOR UPDATE", "Remove it: queries do not lock."),
}


def outside(code: str, message: str, span: Span | None, hint: str | None = None) -> OutsideFragment:
    return OutsideFragment(Diagnostic(code, message, span, hint))


def require_only(node: exp.Expr, allowed: Collection[str], text: SqlText) -> None:
    """Refuse every clause of `node` that is not in `allowed`.

    Listing what is allowed, not what is refused, so that no clause is ever silently dropped.
    """
    for name, value in node.args.items():
        if not value or name in allowed:
            continue
        part = value[0] if isinstance(value, list) else value
        span = text.span(part if isinstance(part, exp.Expr) else node)
        clause, hint = _CLAUSES.get(name, (name.strip("_").replace("_", " "), None))
        raise outside("OBM303", f"{clause} is not select-project-join", span, hint)


def unsupported(node: exp.Expr, text: SqlText) -> OutsideFragment:
    """The expression `node` cannot be read."""
    reason = reason_against(node)
    return outside(reason.code, reason.message, text.span(node), reason.hint)


def not_a_table(node: exp.Expr, text: SqlText) -> OutsideFragment:
    """`node` cannot stand in FROM."""
    match node:
        case exp.Lateral():
            message, hint = "LATERAL is not a join of tables", "Write a join with a condition."
        case exp.Subquery():
            message, hint = "an alias for a whole join", "Give each table its own alias."
        case exp.Values():
            message, hint = "VALUES is not a table", "Declare a relation in the catalog."
        case _:
            message, hint = (
                "not a table, a view or a subquery",
                "Declare a relation in the catalog.",
            )
    return outside("OBM311", message, text.span(node), hint)
