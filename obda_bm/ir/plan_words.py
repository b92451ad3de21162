"""How the parts of a plan read: in the user's units, not in the plan's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from obda_bm.ir.catalog import Column
from obda_bm.ir.plan import BranchPlan, Extreme, Range, Scan, Side, Synopsis
from obda_bm.ir.sqltypes import Family
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Membership, Op, Predicate


@dataclass(frozen=True, slots=True)
class Words:
    branch: BranchPlan

    def filters(self, scan: Scan) -> list[str]:
        """What a tuple must satisfy; ranges only where they say more than the filters."""
        implied = [r for r in scan.ranges if not self._is_stated(r, scan.filters)]
        ranges = [f"{r.column} in {self.interval(r)}" for r in implied]
        return [*map(self.predicate, scan.filters), *ranges]

    def predicate(self, predicate: Predicate) -> str:
        """The predicate, its interval in units of time."""
        match predicate:
            case Comparison(ColumnRef() as left, _, _, offset) if offset:
                sign = "+" if offset > 0 else "-"
                interval = self.duration(left, abs(offset))
                return f"{replace(predicate, offset=0)} {sign} {interval}"
        return str(predicate)

    def interval(self, range_: Range) -> str:
        low, high = (self.literal(range_.column, end) for end in (range_.lower, range_.upper))
        return f"{low or '-∞'}..{high or '∞'}"

    def extreme(self, extreme: Extreme) -> str:
        asked = f"{extreme}, asked by {', '.join(map(str, extreme.tests))}"
        low, high = (self.literal(extreme.tests[0], end) for end in (extreme.lower, extreme.upper))
        if extreme.side is Side.MIN:
            return asked if low is None else f"{asked}; below {low} all are alike"
        return asked if high is None else f"{asked}; above {high} all are alike"

    def forgets(self, synopsis: Synopsis) -> Iterator[str]:
        """When entries go, and what is no longer told apart."""
        for expiry in synopsis.expiries:
            age = self.duration(expiry.time, expiry.ticks)
            yield f"an entry goes {age} after its {expiry.time}"
        times = [c for c in synopsis.key if self._is_time(c)]
        if synopsis.horizon is not None and times and not synopsis.expiries:
            yield f"times more than {self.duration(times[0], synopsis.horizon)} ago are alike"
        if synopsis.different:
            texts = ", ".join(map(str, synopsis.different))
            yield f"of {texts} a few represent all: only <> is asked of them"

    def duration(self, time: ColumnRef, ticks: int) -> str:
        return self._column(time).type.duration(ticks)

    def literal(self, column: ColumnRef, number: int | None) -> str | None:
        """A number of the plan as the user writes it."""
        if number is None:
            return None
        value = Fraction(number, self._unit(column))
        whole = value.denominator == 1
        return self._column(column).type.literal(value.numerator if whole else value)

    def _unit(self, column: ColumnRef) -> int:
        scaled = self._column(column).type.family is Family.NUMBER and not self._is_time(column)
        return self.branch.scale if scaled else 1

    def _is_stated(self, range_: Range, filters: tuple[Predicate, ...]) -> bool:
        """Whether the filters themselves say what the range says."""
        if any(isinstance(f, Membership) and f.column == range_.column for f in filters):
            return True
        limits = [limit for f in filters for limit in self._limits(f, range_.column)]
        lowers = {None, *(at for op, at in limits if op is not Op.LE)}
        uppers = {None, *(at for op, at in limits if op is not Op.GE)}
        return range_.lower in lowers and range_.upper in uppers

    def _limits(self, filter_: Predicate, column: ColumnRef) -> Iterator[tuple[Op, Fraction]]:
        """`column op constant` as `>=`, `<=` or `=` a number of the plan."""
        match filter_:
            case Comparison(Constant() as left, op, ColumnRef() as right):
                yield from self._limits(Comparison(right, op.mirrored, left), column)
            case Comparison(left, op, Constant(int() | Fraction() as value)) if left == column:
                grain = self._column(column).type.grain
                closed = {Op.GT: (Op.GE, value + grain), Op.LT: (Op.LE, value - grain)}
                relation, at = closed.get(op, (op, Fraction(value)))
                if relation is not Op.NE:
                    yield relation, at * self._unit(column)

    def _is_time(self, column: ColumnRef) -> bool:
        return self._scan(column).relation.time == column.column

    def _column(self, column: ColumnRef) -> Column:
        return self._scan(column).relation.column(column.column)

    def _scan(self, column: ColumnRef) -> Scan:
        return next(
            scan
            for given in self.branch.inputs
            for scan in (*given.scans, *given.statics)
            if scan.alias == column.occurrence
        )
