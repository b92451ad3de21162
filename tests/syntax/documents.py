"""Random STARQL documents, well-formed but not always safe."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from hypothesis import strategies as st

from obda_bm.ir.formulas import (
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duplicates,
    Duration,
    Expression,
    Formula,
    Function,
    FunctionCall,
    GroupPattern,
    IfThen,
    MacroCall,
    Minus,
    Not,
    Operand,
    Quantified,
    Quantifier,
    State,
    StatePattern,
    conjunction,
    disjunction,
)
from obda_bm.ir.rdf import RDF, XSD, Iri, Literal, Variable
from obda_bm.ir.starql import (
    AggregateMacro,
    Construct,
    GroupBy,
    OutputStream,
    Prefix,
    Pulse,
    PulseName,
    Resource,
    Select,
    SelectItem,
    SequenceBy,
    SourceStream,
    StarqlDocument,
    StarqlQuery,
    Window,
)
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import ClassAtom, PropertyAtom

NAMESPACES = ("http://a.org/o#", "http://b.org/", "http://a.org/", "urn:x:")
PREFIXES = tuple(Prefix(n, ns) for n, ns in zip(("", "ex", "ex2"), NAMESPACES, strict=False))

locals_ = st.sampled_from(["Sensor", "hasValue", "a.b", "x-1", "ends.", "50%", "", "Δt", "9"])
iris = st.builds(str.__add__, st.sampled_from(NAMESPACES), locals_)
variables = st.builds(Variable, st.sampled_from(["x", "y", "z", "sensor", "x1", "AS", "i"]))
states = st.sampled_from(["i", "j", "k", "state_1"])
names = st.sampled_from(["seq", "SEQ1", "Measurements", "s_out", "pulseA"])
texts = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
numbers = st.one_of(
    st.integers(-99, 99).map(lambda n: Literal(str(n), XSD + "integer")),
    st.integers(0, 99).map(lambda n: Literal(f"{n}.5", XSD + "decimal")),
    st.integers(0, 99).map(lambda n: Literal(f"-{n}.25e{n}", XSD + "double")),
)
literals = st.one_of(
    numbers,
    texts.map(Literal),
    st.sampled_from(["true", "false"]).map(lambda t: Literal(t, XSD + "boolean")),
    st.builds(Literal, texts, st.just(RDF + "langString"), st.sampled_from(["en", "de-at"])),
    st.builds(Literal, texts, st.sampled_from([XSD + "double", XSD + "date", "urn:x:type"])),
    st.just(Literal("2026-01-31T12:00:00Z", XSD + "dateTime")),
)
durations = st.builds(Duration, st.integers(1, 10**13) | st.sampled_from([6 * 10**8, 36 * 10**8]))
terms = st.one_of(variables, iris.map(Iri), literals)
subjects = st.one_of(variables, iris.map(Iri))

atoms = st.one_of(
    st.builds(ClassAtom, iris, subjects), st.builds(PropertyAtom, iris, subjects, terms)
)
operands = st.one_of(terms.map(Operand), states.map(State), durations)


def _calls(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[FunctionCall]:
    values = [f for f in Function if not f.is_condition]
    return st.builds(lambda f, a: FunctionCall(f, (a,)), st.sampled_from(values), inner)


def _sums(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    ops = st.sampled_from(ArithmeticOp)
    return st.one_of(
        st.builds(Arithmetic, inner, ops, inner), st.builds(Minus, inner), _calls(inner)
    )


def _extended(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    aggregates = st.builds(
        Aggregate, st.sampled_from(AggregateFunction), inner, st.sampled_from(Duplicates)
    )
    count = st.just(Aggregate(AggregateFunction.COUNT, None))
    return st.one_of(_sums(inner), aggregates, count)


expressions: st.SearchStrategy[Expression] = st.recursive(operands, _extended, max_leaves=6)
comparisons = st.builds(Comparison, expressions, st.sampled_from(Op), expressions)
tests = st.builds(
    lambda f, a, b: FunctionCall(f, (a, b)),
    st.sampled_from([f for f in Function if f.is_condition]),
    expressions,
    expressions,
)
macro_calls = st.builds(
    MacroCall,
    st.sampled_from(["monInc", "MONOTONIC:HAVING", "MONOTONIC.HAVING"]),
    st.lists(st.one_of(terms, states.map(State)), max_size=3).map(tuple),
)


def tuples(of: st.SearchStrategy, least: int = 0, most: int = 3) -> st.SearchStrategy:  # type: ignore[type-arg]
    return st.lists(of, min_size=least, max_size=most).map(tuple)


def _groups(conditions: st.SearchStrategy[Formula]) -> st.SearchStrategy[GroupPattern]:
    return st.builds(GroupPattern, tuples(atoms), tuples(conditions, most=1))


def _logical(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = tuples(inner, 2)
    return st.one_of(
        several.map(conjunction),
        several.map(disjunction),
        st.builds(Not, inner),
        st.builds(IfThen, inner, inner),
        st.builds(StatePattern, states, _groups(inner)),
        st.builds(
            Quantified,
            st.sampled_from(Quantifier),
            st.lists(states, min_size=1, max_size=3, unique=True).map(tuple),
            names,
            st.lists(variables, max_size=2, unique=True).map(tuple),
            inner,
        ),
    )


formulas: st.SearchStrategy[Formula] = st.recursive(
    st.one_of(comparisons, tests, macro_calls, st.builds(StatePattern, states, _groups(tests))),
    _logical,
    max_leaves=8,
)
groups = _groups(st.one_of(comparisons, tests))

zones = st.one_of(st.none(), st.integers(-14, 14).map(lambda h: timezone(timedelta(hours=h))))
times = st.datetimes(datetime(1990, 1, 1), datetime(2050, 1, 1), timezones=zones)
settings = {
    "start": st.none() | times,
    "end": st.none() | times,
    "frequency": durations,
}
pulses = st.builds(Pulse, names, **settings)
windows = st.builds(Window, durations, durations | st.just(Duration(0)), st.none() | durations)
streams = st.builds(SourceStream, names, st.none() | windows, st.none() | durations)
resources = st.builds(Resource, iris.map(Iri) | names)
items = st.one_of(
    variables.map(lambda v: SelectItem(Operand(v))),
    st.builds(SelectItem, expressions, variables),
)
outputs = st.one_of(
    st.builds(Select, tuples(items, 1), st.sampled_from(Duplicates)),
    st.builds(Construct, tuples(atoms)),
)
queries = st.builds(
    StarqlQuery,
    outputs,
    tuples(streams),
    tuples(resources, most=2),
    tuples(resources, most=2),
    st.one_of(st.none(), names.map(PulseName), st.builds(Pulse, st.just(""), **settings)),
    st.none() | groups,
    st.none() | st.builds(SequenceBy, st.just("StdSeq"), names),
    st.none() | formulas,
    st.none() | st.builds(GroupBy, tuples(variables, 1)),
    st.none() | comparisons,
)
parameters = st.lists(st.sampled_from(["$p", "$q"]), unique=True).map(tuple)
declarations = st.one_of(
    pulses,
    st.builds(AggregateMacro, st.sampled_from(["monInc", "A:B", "a.b"]), parameters, formulas),
    st.builds(OutputStream, names, queries),
)
documents = st.builds(
    StarqlDocument,
    st.lists(st.sampled_from(PREFIXES), unique=True).map(tuple),
    tuples(declarations, 1),
    st.sampled_from(["", "http://b.org/", "http://a.org/o#"]),
)
