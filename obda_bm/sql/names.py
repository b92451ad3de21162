"""What the names in a query stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from obda_bm.diagnostics import Diagnostic, Span, SqlError, did_you_mean
from obda_bm.ir.catalog import Relation
from obda_bm.ir.spj import SpjQuery
from obda_bm.ir.sqltypes import SqlType
from obda_bm.ir.terms import ColumnRef, Constant, Term
from obda_bm.sql.fragment import require_only
from obda_bm.sql.spans import SqlText


@dataclass(frozen=True, slots=True)
class Item:
    """A term, what comparisons need to know about it, and the name of the column that it is."""

    term: Term
    type: SqlType
    is_time: bool = False
    name: str = ""

    def at(self, span: Span | None) -> Item:
        return replace(self, term=replace(self.term, span=span))


@dataclass(frozen=True, slots=True)
class Table:
    """An item of FROM: its alias and its columns, in order.

    `merged` are columns that USING joined to a table further left: the bare name points there.
    """

    alias: str
    columns: tuple[Item, ...]
    merged: frozenset[str] = frozenset()

    def named(self, name: str) -> tuple[Item, ...]:
        """The columns called `name`; in any case, if none is spelled exactly so."""
        exact = tuple(item for item in self.columns if item.name == name)
        folded = name.lower()
        return exact or tuple(item for item in self.columns if item.name.lower() == folded)

    def visible(self) -> tuple[Item, ...]:
        return tuple(item for item in self.columns if item.name.lower() not in self.merged)


@dataclass(frozen=True, slots=True)
class Scope:
    tables: tuple[Table, ...] = ()

    def table(self, alias: str) -> Table | None:
        return next((t for t in self.tables if t.alias.lower() == alias.lower()), None)

    def unqualified(self, name: str) -> tuple[tuple[Table, Item], ...]:
        return tuple(
            (table, item)
            for table in self.tables
            if name.lower() not in table.merged
            for item in table.named(name)
        )


def relation_table(alias: str, relation: Relation) -> Table:
    """`relation` as an item of FROM.

    An empty alias gives columns without an occurrence, as in CHECK constraints.
    """
    return Table(
        alias,
        tuple(
            Item(ColumnRef(alias, c.name), c.type, c.name == relation.time, c.name)
            for c in relation.columns
        ),
    )


def query_table(alias: str, query: SpjQuery) -> Table:
    """A derived table: its columns are the outputs of `query`."""
    outputs = query.projection
    return Table(alias, tuple(replace(item_of(o.term, query), name=o.name) for o in outputs))


def item_of(term: Term, query: SpjQuery) -> Item:
    match term:
        case ColumnRef():
            return Item(term, query.column(term).type, query.is_time(term))
        case Constant(_, kind):
            return Item(term, kind)


def resolve_column(column: exp.Column, scope: Scope, text: SqlText) -> Item:
    """What `column` stands for.

    Raises:
        SqlError: where it stands for nothing, or for several things.
    """
    require_only(column, {"this", "table", "db", "catalog"}, text)
    span = text.span(column)
    if not column.table:
        return resolve_name(column.name, scope, span)[1].at(span)
    table = find_table(column, scope, text)
    match table.named(column.name):
        case (item,):
            return item.at(span)
        case ():
            raise SqlError(_unknown_column(column.name, (table,), text.span(column.this)))
        case _:
            raise SqlError(_ambiguous(column.name, (table,), span))


def find_table(column: exp.Column, scope: Scope, text: SqlText) -> Table:
    """The table that qualifies `column`."""
    qualifier = ".".join(part.name for part in column.parts[:-1])
    table = scope.table(qualifier)
    if table is None:
        aliases = [t.alias for t in scope.tables]
        hint = did_you_mean(qualifier, aliases) or _listing("The tables here are", aliases)
        span = text.span(column.args["table"])
        raise SqlError(Diagnostic("OBM202", f"unknown table or alias '{qualifier}'", span, hint))
    return table


def resolve_name(name: str, scope: Scope, span: Span | None) -> tuple[Table, Item]:
    match scope.unqualified(name):
        case (found,):
            return found
        case ():
            raise SqlError(_unknown_column(name, scope.tables, span))
        case several:
            raise SqlError(_ambiguous(name, [table for table, _ in several], span))


def _unknown_column(name: str, tables: Sequence[Table], span: Span | None) -> Diagnostic:
    columns = list(dict.fromkeys(item.name for table in tables for item in table.columns))
    hint = did_you_mean(name, columns) or _listing("The columns here are", columns)
    return Diagnostic("OBM203", f"unknown column '{name}'", span, hint)


def _ambiguous(name: str, tables: Iterable[Table], span: Span | None) -> Diagnostic:
    owners = list(dict.fromkeys(table.alias for table in tables))
    candidates = [f"{owner}.{name}" for owner in owners]
    hint = _listing("Write one of", candidates) if len(owners) > 1 else "Give the columns aliases."
    return Diagnostic("OBM205", f"column '{name}' is ambiguous", span, hint)


def _listing(start: str, names: Sequence[str]) -> str | None:
    return f"{start} {', '.join(names[:12])}." if names else None
