"""Unions of select-project-join queries -> SQL text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokens import Tokenizer

from obda_bm.ir.spj import Occurrence, Output, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import DAY, Family
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Membership, NotNull, Predicate, Term
from obda_bm.sql.syntax import find_dialect

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

_UNITS = (
    ("DAY", DAY),
    ("HOUR", 3_600_000_000),
    ("MINUTE", 60_000_000),
    ("SECOND", 1_000_000),
    ("MILLISECOND", 1_000),
    ("MICROSECOND", 1),
)


def render_sql(
    query: SpjUnion, dialect: str | None = None, notes: Sequence[Sequence[str]] = ()
) -> str:
    """`query` as SQL text that `parse_sql` reads back.

    `notes` are lines for each branch, which stand before it as comments.

    Raises:
        SqlError: where sqlglot knows no such dialect.
    """
    target = find_dialect(dialect)
    union = f"\n{_union_keyword(query.semantics, target)}\n"
    # A UNION eliminates duplicates by itself.
    alone = query.semantics is Semantics.SET and len(query.branches) == 1
    select = "SELECT DISTINCT" if alone else "SELECT"
    branches = [_render_branch(branch, select, target) for branch in query.branches]
    for i, lines in enumerate(notes):
        branches[i] = "\n".join((*map(_comment, lines), branches[i]))
    return union.join(branches)


def _comment(line: str) -> str:
    return "-- " + " ".join(line.split())


def _union_keyword(semantics: Semantics, dialect: Dialect) -> str:
    if semantics is Semantics.BAG:
        return "UNION ALL"
    return "UNION" if dialect.SET_OP_DISTINCT_BY_DEFAULT.get(exp.Union) else "UNION DISTINCT"


def _render_branch(branch: SpjQuery, select: str, dialect: Dialect) -> str:
    outputs = [_render_output(o, i, dialect) for i, o in enumerate(branch.projection, start=1)]
    lines = [f"{select} {', '.join(outputs) or '1'}"]
    if branch.occurrences:
        tables = (_render_occurrence(o, dialect) for o in branch.occurrences)
        lines.append("FROM " + ", ".join(tables))
    if branch.predicates:
        conditions = (_render_predicate(p, branch, dialect) for p in branch.predicates)
        lines.append("WHERE " + "\n  AND ".join(conditions))
    return "\n".join(lines)


def _render_output(output: Output, position: int, dialect: Dialect) -> str:
    match output.term:
        case ColumnRef(_, implied):
            pass
        case Constant():
            implied = f"col{position}"
    term = _render_term(output.term, dialect)
    return term if output.name == implied else f"{term} AS {_render_name(output.name, dialect)}"


def _render_occurrence(occurrence: Occurrence, dialect: Dialect) -> str:
    table = exp.Table(this=_identifier(occurrence.relation.name, dialect))
    if occurrence.alias != occurrence.relation.name:
        table.set("alias", exp.TableAlias(this=_identifier(occurrence.alias, dialect)))
    return table.sql(dialect=dialect)


def _render_predicate(predicate: Predicate, branch: SpjQuery, dialect: Dialect) -> str:
    match predicate:
        case Comparison(left, op, right, offset):
            shift = _render_shift(offset, right, branch, dialect)
            sides = (_render_term(left, dialect), _render_term(right, dialect))
            return f"{sides[0]} {op.value} {sides[1]}{shift}"
        case Membership(column, values):
            listed = ", ".join(_render_term(value, dialect) for value in values)
            return f"{_render_term(column, dialect)} IN ({listed})" if values else "1 = 0"
        case NotNull(column):
            return f"{_render_term(column, dialect)} IS NOT NULL"


def _render_shift(offset: int, time: Term, branch: SpjQuery, dialect: Dialect) -> str:
    if not offset:
        return ""
    sign = "+" if offset > 0 else "-"
    assert isinstance(time, ColumnRef), "only a time column is shifted"
    if branch.column(time).type.family is Family.NUMBER:
        return f" {sign} {abs(offset)}"
    return f" {sign} {_interval(abs(offset)).sql(dialect=dialect)}"


def _interval(ticks: int) -> exp.Interval:
    unit, length = next((u, n) for u, n in _UNITS if ticks % n == 0)
    return exp.Interval(this=exp.Literal.string(str(ticks // length)), unit=exp.Var(this=unit))


def _render_term(term: Term, dialect: Dialect) -> str:
    match term:
        case ColumnRef(occurrence, name):
            qualifier = f"{_render_name(occurrence, dialect)}." if occurrence else ""
            return qualifier + _render_name(name, dialect)
        case Constant():
            return _render_constant(term, dialect)


def _render_constant(constant: Constant, dialect: Dialect) -> str:
    written = constant.type.literal(constant.value)
    match constant.type.family:
        case Family.TEXT:
            return exp.Literal.string(str(constant.value)).sql(dialect=dialect)
        case Family.BOOLEAN:
            return exp.Boolean(this=bool(constant.value)).sql(dialect=dialect)
        case Family.INSTANT if type(dialect) is not Dialect:
            keyword, _, quoted = written.partition(" ")
            moment = exp.Literal.string(quoted.strip("'"))
            return exp.Cast(this=moment, to=exp.DataType.build(keyword)).sql(dialect=dialect)
        case _:
            return written


def _render_name(name: str, dialect: Dialect) -> str:
    return _identifier(name, dialect).sql(dialect=dialect)


def _identifier(name: str, dialect: Dialect) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=not _is_plain(name, dialect))


def _is_plain(name: str, dialect: Dialect) -> bool:
    """No quotes are needed: `name` has no odd characters and is no keyword."""
    keywords = _keywords(dialect.tokenizer_class)
    return _PLAIN_NAME.fullmatch(name) is not None and name.upper() not in keywords


@cache
def _keywords(tokenizer: type[Tokenizer]) -> frozenset[str]:
    """The first words of the keywords: GROUP BY reserves GROUP."""
    return frozenset(keyword.split()[0] for keyword in tokenizer.KEYWORDS if keyword.strip())
