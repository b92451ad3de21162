"""Queries that a budget can run: two streams, compared by at least one pair of columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from struct import pack, unpack
from zlib import crc32

from obda_bm.budget.join import Side
from obda_bm.budget.store import Condition
from obda_bm.diagnostics import BudgetError, Diagnostic
from obda_bm.ir.catalog import Extent
from obda_bm.ir.spj import Occurrence, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import Family, Order, SqlType, Value
from obda_bm.ir.terms import (
    ColumnRef,
    Comparison,
    Constant,
    Membership,
    NotNull,
    Op,
    Predicate,
    Term,
    columns_of,
)

Row = Mapping[str, Value | None]
Match = Mapping[str, Row]
"""By alias."""

_COMPARE: dict[Op, Callable[[Value, Value], bool]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.GE: operator.ge,
    Op.GT: operator.gt,
}
_CONDITIONS = {
    Op.EQ: Condition.EQUAL,
    Op.LT: Condition.LESS,
    Op.LE: Condition.AT_MOST,
    Op.GT: Condition.GREATER,
    Op.GE: Condition.AT_LEAST,
}


@dataclass(frozen=True, slots=True)
class TwoStreams:
    """`r` and `s` joined by `key`, R's column first; `others` are all conditions about both."""

    branch: SpjQuery
    r: Occurrence
    s: Occurrence
    key: Comparison
    others: tuple[Comparison, ...]

    def side(self, side: Side) -> Occurrence:
        return self.r if side is Side.R else self.s

    @property
    def condition(self) -> Condition:
        return _CONDITIONS[self.key.op]

    def key_column(self, side: Side) -> ColumnRef:
        term = self.key.left if side is Side.R else self.key.right
        assert isinstance(term, ColumnRef)
        return term

    def admits(self, side: Side, row: Row) -> bool:
        """Whether the row passes the conditions about its own side, and has a key."""
        alias = self.side(side).alias
        alone = (p for p in self.branch.predicates if _aliases(p) <= {alias})
        return row[self.key_column(side).column] is not None and all(
            holds(p, {alias: row}) for p in alone
        )

    def joins(self, match: Match) -> bool:
        """Whether a row of each side satisfies all conditions about both."""
        return all(holds(p, match) for p in self.others)

    def code(self, side: Side, row: Row) -> int:
        """The key as a whole number: equal keys alike, and, but for texts, in their order."""
        value = row[self.key_column(side).column]
        assert value is not None
        return code_of(value, self._key_type())

    def _key_type(self) -> SqlType:
        """The finer of the two types, so that both sides count in the same unit."""
        types = [self.branch.column(self.key_column(side)).type for side in (Side.R, Side.S)]
        dense = [t for t in types if t.order is Order.DENSE]
        return dense[0] if dense else min(types, key=lambda t: t.grain)

    def deadline(self, side: Side, now: int) -> int | None:
        """Until when a row of `side` and of time `now` can meet partners; None is forever."""
        limits = [limit for p in self.others if (limit := self._limit(side, p)) is not None]
        return now + min(limits) if limits else None

    def _limit(self, side: Side, predicate: Comparison) -> int | None:
        """How long after a row of `side` the condition lets its partner come."""
        mine, partner = self.side(side).time, self.side(side.partner).time
        match predicate:
            case Comparison(left, op, right, offset) if (left, right) == (partner, mine):
                return _latest(op, offset)
            case Comparison(left, op, right, offset) if (left, right) == (mine, partner):
                return _latest(op.mirrored, -offset)
        return None


def _latest(op: Op, offset: int) -> int | None:
    match op:
        case Op.LT:
            return offset - 1
        case Op.LE | Op.EQ:
            return offset
        case _:
            return None


def two_streams(query: SpjUnion) -> TwoStreams:
    """The query as a join of two streams.

    Raises:
        BudgetError: where it is another kind of query.
    """
    if query.semantics is not Semantics.BAG or len(query.branches) != 1:
        raise _refuse("only a single query without DISTINCT runs within a budget")
    (branch,) = query.branches
    infinite = [o for o in branch.occurrences if o.relation.extent is not Extent.STATIC]
    if len(branch.occurrences) != 2 or len(infinite) != 2:
        raise _refuse("only a join of two streams runs within a budget")
    r, s = infinite
    both = [p for p in branch.predicates if len(_aliases(p)) == 2]
    others = tuple(p for p in both if isinstance(p, Comparison))
    keys = [k for p in others if (k := _oriented(p, r, branch)) is not None]
    if not keys:
        raise _refuse("no column of one stream is compared with one of the other")
    equal = [k for k in keys if k.op is Op.EQ]
    return TwoStreams(branch, r, s, (equal or keys)[0], others)


def _oriented(predicate: Comparison, r: Occurrence, branch: SpjQuery) -> Comparison | None:
    """The comparison with R's column first, if a budget can go by it."""
    left, right = predicate.left, predicate.right
    if not (isinstance(left, ColumnRef) and isinstance(right, ColumnRef)):
        return None
    texts = Family.TEXT in {branch.column(c).type.family for c in (left, right)}
    usable = predicate.op is Op.EQ or (predicate.op is not Op.NE and not texts)
    times = branch.is_time(left) and branch.is_time(right)
    if not usable or times or predicate.offset:
        return None
    if left.occurrence == r.alias:
        return predicate
    return Comparison(right, predicate.op.mirrored, left)


def _refuse(message: str) -> BudgetError:
    hint = "Repair the query as `obda-bm check` tells, or simplify it to such a join."
    return BudgetError(Diagnostic("OBM810", message, hint=hint))


def holds(predicate: Predicate, match: Match) -> bool:
    """Whether the predicate is true; with NULL it is not."""
    match predicate:
        case Comparison(left, op, right, offset):
            one, two = _value(left, match), _value(right, match)
            if one is None or two is None:
                return False
            if offset:
                assert isinstance(two, int)
                two += offset
            return _COMPARE[op](one, two)
        case Membership(column, values):
            return _value(column, match) in [constant.value for constant in values]
        case NotNull(column):
            return _value(column, match) is not None


def _value(term: Term, match: Match) -> Value | None:
    match term:
        case ColumnRef(alias, column):
            return match[alias][column]
        case Constant(value):
            return value


def _aliases(predicate: Predicate) -> set[str]:
    return {column.occurrence for column in columns_of(predicate)}


def code_of(value: Value, type_: SqlType) -> int:
    """A whole number for `value`: units of its grain, or bits of a float in order.

    >>> from obda_bm.ir.sqltypes import DOUBLE, INTEGER, TEXT, decimal
    >>> code_of(Fraction(7, 10), decimal(5, 1)), code_of(-4, INTEGER)
    (7, -4)
    >>> code_of(Fraction(-1, 2), DOUBLE) < code_of(Fraction(1, 4), DOUBLE)
    True
    """
    if isinstance(value, str):
        return crc32(value.encode()) << 20  # far apart: texts are names, not numbers
    if type_.order is Order.DENSE:
        (bits,) = unpack("<q", pack("<d", float(value)))
        return int(bits) if bits >= 0 else -(int(bits) & 0x7FFF_FFFF_FFFF_FFFF)
    return int(Fraction(value) / type_.grain)
