"""Normal forms mean what the formulas mean: random worlds, an evaluator that tries everything."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from obda_bm.ir.formulas import (
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duration,
    Formula,
    GroupPattern,
    IfThen,
    Not,
    Operand,
    Quantified,
    Quantifier,
    State,
    StatePattern,
    conjunction,
    disjunction,
)
from obda_bm.ir.rdf import XSD, Literal, Variable
from obda_bm.ir.starql import (
    OutputStream,
    Select,
    SelectItem,
    SequenceBy,
    SourceStream,
    StarqlDocument,
    StarqlQuery,
)
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import ClassAtom, PropertyAtom, TermComparison, UnionOfCQs
from obda_bm.syntax import is_monotone, monotone_union, negation_normal_form
from obda_bm.syntax.check import check_document
from obda_bm.syntax.compare_states import as_term_comparison
from obda_bm.syntax.safety import bound_by, ranged_by_guards
from obda_bm.syntax.variables import bound_in_group
from tests.syntax.states import OPS, World, answers, conjunctive_answers, ground, holds

DOMAIN = (0, 1)
VALUES = ("s", "x", "i")
STATES = ("i", "j")

numbers = st.sampled_from(DOMAIN).map(lambda n: Operand(Literal(str(n), XSD + "integer")))
variables = st.sampled_from(VALUES).map(Variable)
ops = st.sampled_from(Op)
atoms = st.one_of(
    st.builds(ClassAtom, st.sampled_from(["A", "B"]), variables),
    st.builds(PropertyAtom, st.just("p"), variables, variables),
)
value_comparisons = st.builds(
    Comparison, variables.map(Operand), ops, variables.map(Operand) | numbers
)


def times(scope: tuple[str, ...]) -> st.SearchStrategy[Comparison]:
    state = st.sampled_from(scope).map(State)
    length = st.sampled_from([1, 2]).map(Duration)
    shift = st.sampled_from([ArithmeticOp.ADD, ArithmeticOp.SUB])
    moved = st.builds(Arithmetic, state, shift, length)
    distance = st.builds(Arithmetic, state, st.just(ArithmeticOp.SUB), state)
    return st.one_of(
        st.builds(Comparison, state | moved, ops, state | moved),
        st.builds(Comparison, distance, ops, length),
        st.builds(Comparison, length, ops, distance),
    )


def leaves(scope: tuple[str, ...]) -> st.SearchStrategy[Formula]:
    if not scope:
        return value_comparisons
    groups = st.builds(
        GroupPattern,
        st.lists(atoms, min_size=1, max_size=2).map(tuple),
        st.lists(value_comparisons | value_comparisons.map(Not), max_size=1).map(tuple),
    )
    patterns = st.builds(StatePattern, st.sampled_from(scope), groups)
    return st.one_of(patterns, patterns, patterns, value_comparisons, times(scope))


@st.composite
def formulas(
    draw: st.DrawFn,
    quantifiers: tuple[Quantifier, ...],
    depth: int = 3,
    scope: tuple[str, ...] = (),
) -> Formula:
    """Formulas in which every state is in scope; with FORALL also NOT and IF."""
    if depth == 0:
        return draw(leaves(scope))
    inner: Callable[[], Formula] = lambda: draw(formulas(quantifiers, depth - 1, scope))  # noqa: E731
    kinds = ["leaf", "and", "and", "or", "quantifier", "quantifier"]
    kinds += ["not", "if"] if Quantifier.FORALL in quantifiers else []
    match draw(st.sampled_from(kinds)):
        case "and":
            return conjunction((inner(), inner()))
        case "or":
            return disjunction((inner(), inner()))
        case "not":
            return Not(inner())
        case "if":
            return IfThen(inner(), inner())
        case "quantifier" if len(scope) < len(STATES):
            state = STATES[len(scope)]
            values = draw(st.lists(variables, max_size=1).map(tuple))
            body = draw(formulas(quantifiers, depth - 1, (*scope, state)))
            kind = draw(st.sampled_from(quantifiers))
            return Quantified(kind, (state,), "seq", values, body)
        case _:
            return draw(leaves(scope))


facts = st.one_of(
    st.tuples(st.sampled_from(["A", "B"]), st.sampled_from(DOMAIN)),
    st.tuples(st.just("p"), st.sampled_from(DOMAIN), st.sampled_from(DOMAIN)),
)
worlds = st.builds(
    World,
    st.frozensets(facts, max_size=5),
    st.dictionaries(st.integers(0, 4), st.frozensets(facts, max_size=5), max_size=3),
    st.just(DOMAIN),
)


@settings(max_examples=300)
@given(times(STATES), st.tuples(st.integers(0, 4), st.integers(0, 4)))
def test_comparisons_of_states_mean_the_same(comparison: Comparison, at: tuple[int, int]) -> None:
    binding = dict(zip(STATES, at, strict=True))
    world = World(frozenset(), {}, DOMAIN)
    expected = holds(comparison, world, binding, {})
    term = as_term_comparison(comparison)
    assert isinstance(term, TermComparison)
    assert OPS[term.op](ground(term.left, binding), ground(term.right, binding) + term.offset) == (
        expected
    )


@settings(max_examples=120)
@given(formulas(tuple(Quantifier)), worlds)
def test_negation_normal_form_means_the_same(formula: Formula, world: World) -> None:
    normal = negation_normal_form(formula)
    negated = negation_normal_form(Not(formula))
    for value in DOMAIN:
        binding = dict.fromkeys(VALUES, value)
        assert holds(normal, world, {}, binding) == holds(formula, world, {}, binding)
        assert holds(negated, world, {}, binding) != holds(formula, world, {}, binding)


def query_of(
    formula: Formula, where: GroupPattern | None, selected: tuple[str, ...] = VALUES
) -> StarqlQuery:
    items = tuple(SelectItem(Operand(Variable(name))) for name in selected)
    return StarqlQuery(
        Select(items),
        (SourceStream("m"),),
        where=where,
        sequence=SequenceBy("StdSeq", "seq"),
        having=formula,
    )


static = st.one_of(
    st.just(GroupPattern(tuple(ClassAtom("A", Variable(name)) for name in VALUES))),
    st.builds(GroupPattern, st.lists(atoms, min_size=1, max_size=3).map(tuple)),
)


@settings(max_examples=120)
@given(formulas((Quantifier.EXISTS,)), static, st.lists(worlds, min_size=3, max_size=3))
def test_the_union_answers_what_the_query_answers(
    formula: Formula, where: GroupPattern, some: list[World]
) -> None:
    query = query_of(formula, where)
    document = StarqlDocument((), (OutputStream("", query),))
    assume(not check_document(document))
    assert is_monotone(formula)
    union = monotone_union(query)
    event(type(union).__name__)
    assume(isinstance(union, UnionOfCQs))
    assert isinstance(union, UnionOfCQs)
    for world in some:
        found = set().union(*(conjunctive_answers(q, world) for q in union.disjuncts))
        assert found == answers(query, VALUES, world)


@settings(max_examples=120)
@given(formulas(tuple(Quantifier)), worlds, st.integers(0, 4), st.frozensets(facts, max_size=5))
def test_what_is_called_monotone_is(
    formula: Formula, world: World, time: int, more: frozenset[tuple[str, int]]
) -> None:
    """A state that is added, or that gets more facts, takes no answer away."""
    assume(is_monotone(formula))
    grown = {**world.states, time: world.states.get(time, frozenset()) | more}
    later = World(world.static, grown, world.domain)
    query = query_of(formula, None)
    assert answers(query, VALUES, world) <= answers(query, VALUES, later)


one = st.frozensets(st.sampled_from([("A", 0), ("B", 0), ("p", 0, 0)]))
small_worlds = st.builds(
    World, one, st.dictionaries(st.integers(0, 2), one, max_size=2), st.just((0,))
)


@settings(max_examples=120)
@given(formulas(tuple(Quantifier)), atoms, small_worlds)
def test_safe_queries_answer_with_what_the_data_has(
    formula: Formula, static_atom: ClassAtom | PropertyAtom, world: World
) -> None:
    """Safety is domain independence: things that no fact mentions change no answer."""
    where = GroupPattern((static_atom,))
    query = query_of(formula, where, VALUES[:1])
    assume(not check_document(StarqlDocument((), (OutputStream("", query),))))
    # What a guard ranges over has a meaning of its own, which the evaluator does not know.
    assume(ranged_by_guards(formula) <= bound_in_group(where) | bound_by(formula))
    wider = World(world.static, world.states, (0, 1, 2))
    found, wide = answers(query, VALUES, world), answers(query, VALUES, wider)
    assert {answer[:1] for answer in wide} == {answer[:1] for answer in found}
