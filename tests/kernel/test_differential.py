"""Random bounded queries on random streams, cut into random batches: kernel against reference.

`pytest tests/kernel/test_differential.py --differential 20000 --seed today` tries more, and others.
A failure prints the seed of its pair, and the pair with as few tuples as still show it;
`--differential 0 --seed SEED` tries that pair again.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from obda_bm.analysis import assess
from obda_bm.execution.reference import Row, Tuple, Tuples, emit_reference
from obda_bm.ir.catalog import Column, Extent, Relation
from obda_bm.ir.spj import Occurrence, Output, Semantics, SpjQuery, SpjUnion
from obda_bm.ir.sqltypes import DATE, INTEGER, TIMESTAMP, Family, Order, SqlType
from obda_bm.ir.terms import ColumnRef, Comparison, Constant, Membership, NotNull, Op, Predicate
from obda_bm.ir.verdict import Bounded
from tests.analysis.queries import EVERY, MIXED, Shape, constant, random_query
from tests.kernel.streams import (
    Emitted,
    arrow_table,
    batches,
    emitted,
    every_timestamp,
    one_batch,
    random_cuts,
    random_tuples,
    relations_of,
    tick_start,
    tick_unit,
    timestamps,
)

CHUNKS = 8
SHOWN = 3
"""So many kinds of failures of a chunk are shrunk and shown; the others are counted."""

_ANY = Shape(streams=(2, 3), operators=EVERY, joins=(0, 3), filters=(0, 4), lists=0.3)
_TIMES = (Op.LT, Op.LE, Op.LT, Op.EQ)
SHAPES = {
    "no order": _ANY,
    "ordered": replace(_ANY, times=_TIMES, local=0.1),
    "types": replace(_ANY, times=_TIMES, types=MIXED),
    "static": replace(_ANY, statics=2, times=_TIMES, types=MIXED),
    "finite": replace(_ANY, finite=0.4, times=_TIMES),
    "self-join": replace(_ANY, self_joins=0.6, times=_TIMES),
    "intervals": replace(_ANY, times=_TIMES, intervals=0.6),
    "four": replace(_ANY, streams=(4, 4), columns=1, joins=(1, 4), filters=(1, 4), times=_TIMES),
    "everything": replace(
        _ANY, statics=1, finite=0.3, self_joins=0.3, intervals=0.2, times=_TIMES, types=MIXED
    ),
}


def random_case(rng: Random) -> SpjUnion:
    """A query of any shape, bounded or not."""
    shape = rng.choice(list(SHAPES.values()))
    query = _bounding(rng, shape, random_query(rng, shape))
    if rng.random() < 0.25:
        query = _union(rng, shape, query)
    if set(shape.types) == {INTEGER} and rng.random() < 0.2:
        query = _recast(query, rng.choice((DATE, TIMESTAMP)))
    if rng.random() < 0.3:
        query = _windows(rng, query)
    query = _constrained(rng, shape, query)
    query = _outputs(rng, query)
    return _retimed(rng, query, rng.choice((INTEGER, INTEGER, TIMESTAMP, DATE)))


def random_bounded(rng: Random) -> tuple[SpjUnion, Bounded]:
    """A bounded query; few of those whose answer is always empty."""
    while True:
        query = random_case(rng)
        verdict = assess(query)
        if not isinstance(verdict, Bounded):
            continue
        empty = any(r.condition == "satisfiability" for r in verdict.reasons)
        if not empty or rng.random() < 0.1:
            return query, verdict


def _change(
    query: SpjUnion,
    predicates: Callable[[SpjQuery], Sequence[Predicate]] = lambda branch: branch.predicates,
    relation: Callable[[Relation], Relation] = lambda relation: relation,
) -> SpjUnion:
    changed = {name: relation(r) for name, r in relations_of(query).items()}

    def branch(old: SpjQuery) -> SpjQuery:
        occurrences = [replace(o, relation=changed[o.relation.name]) for o in old.occurrences]
        return replace(old, occurrences=tuple(occurrences), predicates=tuple(predicates(old)))

    return replace(query, branches=tuple(map(branch, query.branches)))


def _values_of(branch: SpjQuery) -> list[tuple[ColumnRef, SqlType]]:
    return [
        (ColumnRef(o.alias, c.name), c.type)
        for o in branch.occurrences
        for c in o.relation.columns
        if c.name != o.relation.time
    ]


def _bounding(rng: Random, shape: Shape, query: SpjUnion) -> SpjUnion:
    """`query` with some columns bounded: otherwise hardly any bag query is."""
    likely = rng.choice((0.0, 0.4, 0.8, 1.0))

    def bounds(column: ColumnRef, kind: SqlType) -> list[Predicate]:
        if kind.order is Order.DISCRETE and kind.family is Family.NUMBER:
            low, high = Constant(rng.choice((0, 1)), INTEGER), Constant(rng.choice((2, 3)), INTEGER)
            return [Comparison(column, Op.GE, low), Comparison(column, Op.LE, high)]
        values = dict.fromkeys(constant(rng, shape, kind) for _ in range(3))
        return [Membership(column, tuple(values))]

    def more(branch: SpjQuery) -> list[Predicate]:
        columns = [c for c in _values_of(branch) if rng.random() < likely]
        return [*branch.predicates, *(p for c in columns for p in bounds(*c))]

    return _change(query, more)


def _union(rng: Random, shape: Shape, query: SpjUnion) -> SpjUnion:
    """`query` and a second branch: a variant of the first, or one over other streams."""
    (first,) = query.branches
    kinds = [_kind(first, o) for o in first.projection]
    for _ in range(30):
        second = _variant(rng, first) if rng.random() < 0.5 else _other(rng, shape)
        outputs = []
        for kind, output in zip(kinds, first.projection, strict=True):
            fitting = [c for c, other in _values_of(second) if (other.family, other.order) == kind]
            if isinstance(output.term, ColumnRef) and fitting:
                outputs.append(replace(output, term=rng.choice(fitting)))
            elif isinstance(output.term, Constant):
                outputs.append(output)
        if len(outputs) == len(first.projection):
            return replace(query, branches=(first, replace(second, projection=tuple(outputs))))
    return query


def _kind(branch: SpjQuery, output: Output) -> tuple[Family, Order]:
    """What columns of a union have in common: SQL would round decimals beside floats."""
    term = output.term
    type_ = branch.column(term).type if isinstance(term, ColumnRef) else term.type
    return type_.family, type_.order


def _variant(rng: Random, branch: SpjQuery) -> SpjQuery:
    kept = [p for p in branch.predicates if rng.random() < 0.8]
    return replace(branch, predicates=tuple(kept))


def _other(rng: Random, shape: Shape) -> SpjQuery:
    query = _bounding(rng, shape, random_query(rng, replace(shape, streams=(1, 2))))
    (branch,) = _change(query, relation=lambda r: replace(r, name=f"{r.name}_2")).branches
    return branch


def _recast(query: SpjUnion, kind: SqlType) -> SpjUnion:
    """Whole numbers become days or microseconds."""

    def date_of(term: ColumnRef | Constant) -> ColumnRef | Constant:
        if isinstance(term, ColumnRef):
            return term
        assert isinstance(term.value, int)
        return Constant(tick_start(kind) + term.value * int(kind.grain), kind)

    def predicates(branch: SpjQuery) -> Iterator[Predicate]:
        for p in branch.predicates:
            match p:
                case Comparison(left, _, right):
                    yield replace(p, left=date_of(left), right=date_of(right))
                case Membership(_, values):
                    recast = [date_of(value) for value in values]
                    yield replace(p, values=tuple(v for v in recast if isinstance(v, Constant)))
                case NotNull():
                    yield p

    def relation(old: Relation) -> Relation:
        columns = [c if c.name == old.time else replace(c, type=kind) for c in old.columns]
        return replace(old, columns=tuple(columns))

    return _change(query, lambda branch: list(predicates(branch)), relation)


def _windows(rng: Random, query: SpjUnion) -> SpjUnion:
    """Each stream within an interval of the one before, delayed, or exactly so much later."""

    def more(branch: SpjQuery) -> list[Predicate]:
        times = [o.time for o in branch.occurrences if o.time is not None]
        rng.shuffle(times)
        found: list[Predicate] = list(branch.predicates)
        for earlier, later in pairwise(times):
            ticks = rng.randint(1, 4)
            window = Comparison(later, Op.LE, earlier, ticks)
            order = Comparison(earlier, rng.choice((Op.LE, Op.LT)), later)
            back = Comparison(earlier, Op.LE, later, rng.randint(0, 2))
            delay = Comparison(earlier, Op.LE, later, -rng.randint(1, 2))
            exactly = Comparison(later, Op.EQ, earlier, ticks)
            found += rng.choice(
                ([window, order], [window, back], [delay], [window, delay], [exactly])
            )
        return found

    return _change(query, more)


def _constrained(rng: Random, shape: Shape, query: SpjUnion) -> SpjUnion:
    """`query` over relations with NULLs, keys, CHECKs and known numbers of rows."""
    nulls = rng.choice((0.0, 0.3, 0.7))

    def check(column: Column) -> list[Predicate]:
        if column.type.family is Family.INSTANT or rng.random() > 0.1:
            return []
        values = dict.fromkeys(constant(rng, shape, column.type) for _ in range(4))
        return [Membership(ColumnRef("", column.name), tuple(values))]

    def relation(old: Relation) -> Relation:
        columns = [
            replace(c, nullable=c.name != old.time and rng.random() < nulls) for c in old.columns
        ]
        checks = [p for c in old.columns if c.name != old.time for p in check(c)]
        static = old.extent is Extent.STATIC
        key = (old.columns[0].name,)
        return replace(
            old,
            columns=tuple(columns),
            checks=tuple(checks),
            keys=(key,) if static and rng.random() < 0.3 else (),
            rows=rng.randint(1, 5) if static and rng.random() < 0.7 else None,
        )

    def more(branch: SpjQuery) -> list[Predicate]:
        columns = [c for c, _ in _values_of(branch) if rng.random() < 0.05]
        return [*branch.predicates, *map(NotNull, columns)]

    return _change(query, more, relation)


def _outputs(rng: Random, query: SpjUnion) -> SpjUnion:
    """Sometimes a constant in the projection, or the same column twice."""
    if rng.random() < 0.8:
        return query
    if rng.random() < 0.5:
        extra = [Output("k", Constant("it's", SqlType("TEXT", Family.TEXT, Order.UNORDERED)))]
        more = [(*branch.projection, *extra) for branch in query.branches]
    else:
        more = [(*b.projection, replace(b.projection[0], name="again")) for b in query.branches]
    branches = [replace(b, projection=p) for b, p in zip(query.branches, more, strict=True)]
    return replace(query, branches=tuple(branches))


def _retimed(rng: Random, query: SpjUnion, kind: SqlType) -> SpjUnion:
    """Time columns of type `kind`, and now and then a comparison of time with a constant."""
    unit, start = tick_unit(kind), tick_start(kind)

    def relation(old: Relation) -> Relation:
        columns = [replace(c, type=kind) if c.name == old.time else c for c in old.columns]
        end = None if old.end is None else start + unit * old.end
        return replace(old, columns=tuple(columns), end=end)

    def predicates(branch: SpjQuery) -> Iterator[Predicate]:
        for p in branch.predicates:
            shifted = isinstance(p, Comparison) and p.offset
            yield replace(p, offset=p.offset * unit) if shifted else p  # type: ignore[union-attr, call-arg]
        for o in branch.occurrences:
            if o.time is not None and rng.random() < 0.05:
                tick = Constant(start + unit * rng.randint(0, 6), kind)
                yield Comparison(o.time, rng.choice((Op.GE, Op.GT, Op.LT, Op.LE, Op.EQ)), tick)

    return _change(query, lambda branch: list(predicates(branch)), relation)


@dataclass(frozen=True)
class Run:
    """What the kernel emitted, and the most units that its state had after a batch."""

    emitted: Emitted
    peak: int


def run_kernel(
    query: SpjUnion,
    verdict: Bounded,
    tuples: Tuples,
    cuts: Sequence[int],
    between: Callable[[Any, Any, Any], Any] = lambda plan, state, static: state,
    arriving: Callable[[Any, str, Any], Any] = lambda plan, stream, rows: rows,
) -> Run:
    """The kernel on `tuples`, cut into batches.

    `between` batches the state may be replaced, and rows may be as they are `arriving`.
    """
    from obda_bm.kernel import advance, initial_state, state_units
    from obda_bm.planning import build_plan

    relations = relations_of(query)
    plan = build_plan(query, verdict)
    static = {
        name: arrow_table(relation, tuples[name])
        for name, relation in relations.items()
        if relation.time is None
    }
    state = initial_state(plan, static)
    found: Emitted = {}
    peak = state_units(state)
    previous = None
    for until, batch in zip(cuts, batches(query, tuples, cuts), strict=True):
        tables = {name: arrow_table(relations[name], chosen) for name, chosen in batch.items()}
        rows = {name: arriving(plan, name, table) for name, table in tables.items()}
        done = advance(plan, state, rows, until)
        for time, counted in emitted(done.results).items():
            assert time < until, f"{time} is emitted in a batch that ends at {until}"
            assert previous is None or time >= previous, f"{time} is emitted after {previous}"
            found[time] = counted
        state = between(plan, done.state, static)
        previous = until
        peak = max(peak, state_units(state))
    return Run(found, peak)


def failure(query: SpjUnion, verdict: Bounded, tuples: Tuples, cuts: Sequence[int]) -> str | None:
    """What goes wrong, or None."""
    try:
        run = run_kernel(query, verdict, tuples, cuts)
    except Exception:  # whatever it is, the pair that shows it is wanted
        return traceback.format_exc(limit=-4)
    expected = emit_reference(query, tuples)
    for time in sorted(expected.keys() | run.emitted.keys()):
        right, actual = expected.get(time, Counter()), run.emitted.get(time, Counter())
        if right != actual:
            return f"at {time}:\n  expected {_shown(right)}\n  actual   {_shown(actual)}"
    bound = verdict.bound.units
    if bound is not None and run.peak > bound:
        return f"{run.peak} units, more than the bound {bound} = {verdict.bound.formula}"
    return None


def kind_of(text: str | None) -> str:
    """Failures of one kind have, with luck, one cause."""
    match (text or "passes").split():
        case ["Traceback", *_]:
            places = [line.strip() for line in (text or "").splitlines() if "  File " in line]
            where = places[-1].rpartition("/")[2].replace('",', "")
            return f"{(text or '').strip().splitlines()[-1][:60]} ({where})"
        case ["at", *_]:
            return "another answer"
        case [_, "units,", *_]:
            return "more units than the bound"
    return "passes"


def _shown(rows: Counter[Row]) -> str:
    return "{" + ", ".join(f"{_row(row)}: {n}" for row, n in sorted(rows.items(), key=str)) + "}"


def _row(row: Row) -> str:
    return "(" + ", ".join(map(str, row)) + ")"


def shrunk(tuples: Tuples, fails: Callable[[Tuples], bool]) -> Tuples:
    """As few of `tuples` as still fail, dropped one after another."""
    kept: dict[str, Sequence[Tuple]] = {name: list(rows) for name, rows in tuples.items()}
    smaller = True
    while smaller:
        smaller = False
        for name in tuples:
            for i in reversed(range(len(kept[name]))):
                fewer = {**kept, name: [*kept[name][:i], *kept[name][i + 1 :]]}
                if fails(fewer):
                    kept, smaller = fewer, True
    return kept


def report(
    seed: str, query: SpjUnion, verdict: Bounded, tuples: Tuples, cuts: Sequence[int]
) -> str:
    """A failing pair, shrunk."""
    kind = kind_of(failure(query, verdict, tuples, cuts))

    def fails(fewer: Tuples) -> bool:
        return kind_of(failure(query, verdict, fewer, cuts)) == kind

    small = shrunk(tuples, fails)
    streams = [f"  {r.name}: {_described(r)}" for r in relations_of(query).values()]
    rows = [f"  {n}: {_row(tuple(row.values()))}" for n, all_ in small.items() for row in all_]
    return "\n".join(
        [
            f"seed {seed!r}, {query.semantics.value}, bound {verdict.bound.formula}",
            *(f"  keeps {state}: {state.formula}" for state in verdict.bound.states),
            str(query),
            *streams,
            "tuples:",
            *rows,
            f"batches end before: {list(cuts)}",
            failure(query, verdict, small, cuts) or "(passes when tried again)",
        ]
    )


def _described(relation: Relation) -> str:
    columns = ", ".join(
        f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in relation.columns
    )
    facts = {"key": relation.keys, "check": relation.checks, "end": relation.end}
    facts["rows"] = relation.rows
    shown = "".join(f" {name} {_fact(fact)}" for name, fact in facts.items() if fact)
    return f"({columns}) {relation.extent.value}{shown}"


def _fact(fact: object) -> str:
    return " and ".join(map(str, fact)) if isinstance(fact, tuple) else str(fact)


@dataclass(frozen=True)
class Pair:
    seed: str
    query: SpjUnion
    verdict: Bounded
    tuples: Mapping[str, Sequence[Tuple]]
    cuts: Mapping[str, Sequence[int]]


def telling_tuples(rng: Random, query: SpjUnion) -> Tuples:
    """Random tuples; others where the answer is empty, which shows little."""
    for _ in range(4):
        tuples = random_tuples(rng, query)
        if emit_reference(query, tuples):
            break
    return tuples


def pair_of(seed: str) -> Pair:
    rng = Random(seed)
    query, verdict = random_bounded(rng)
    tuples = telling_tuples(rng, query)
    times = timestamps(query, tuples)
    cuts = {
        "random": random_cuts(rng, times),
        "every timestamp": every_timestamp(times),
        "one batch": one_batch(times),
    }
    return Pair(seed, query, verdict, tuples, cuts)


def failing_cuts(pair: Pair) -> Sequence[int] | None:
    for cuts in pair.cuts.values():
        if failure(pair.query, pair.verdict, pair.tuples, cuts) is not None:
            return cuts
    return None


def seeds(config: pytest.Config, chunk: int) -> list[str]:
    """The seeds of one chunk; a single seed is the whole of the first one."""
    pairs, seed = config.getoption("--differential"), config.getoption("--seed")
    if not pairs:
        return [seed] if chunk == 0 else []
    return [f"{seed}{chunk}-{i}" for i in range(-(-pairs // CHUNKS))]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_agrees_with_the_reference(chunk: int, pytestconfig: pytest.Config) -> None:
    reports: list[str] = []
    failed: Counter[str] = Counter()
    tried = seeds(pytestconfig, chunk)
    for seed in tried:
        pair = pair_of(seed)
        cuts = failing_cuts(pair)
        if cuts is None:
            continue
        kind = kind_of(failure(pair.query, pair.verdict, pair.tuples, cuts))
        failed[kind] += 1
        if failed[kind] == 1 and len(reports) < SHOWN:
            reports.append(report(pair.seed, pair.query, pair.verdict, pair.tuples, cuts))
    if failed:
        kinds = [f"  {n} times: {kind}" for kind, n in failed.most_common()]
        title = f"{failed.total()} of {len(tried)} pairs fail"
        pytest.fail("\n\n".join(["\n".join([title, *kinds]), *reports]), pytrace=False)


def test_pairs_are_worth_their_time() -> None:
    """Many pairs emit something, and every kind of query is among them."""
    pairs = [pair_of(f"0-{i}") for i in range(100)]
    answers = [emit_reference(pair.query, pair.tuples) for pair in pairs]
    assert sum(bool(answer) for answer in answers) >= 50
    assert sum(len(answer) >= 3 for answer in answers) >= 25
    queries = [pair.query for pair in pairs]
    assert {query.semantics for query in queries} == set(Semantics)
    assert sum(len(query.branches) > 1 for query in queries) >= 5
    assert sum(bool(pair.verdict.windows) for pair in pairs) >= 5
    extents = [r.extent for query in queries for r in relations_of(query).values()]
    assert min(Counter(extents)[extent] for extent in Extent) >= 5
    widths = {len(_streams(branch)) for query in queries for branch in query.branches}
    assert widths >= {2, 3, 4}
    assert any(_self_joined(branch) for query in queries for branch in query.branches)


def _streams(branch: SpjQuery) -> list[Occurrence]:
    return [o for o in branch.occurrences if o.time is not None]


def _self_joined(branch: SpjQuery) -> bool:
    return len({o.relation.name for o in branch.occurrences}) < len(branch.occurrences)
