"""An evaluator of STARQL conditions that knows nothing of rewriting, unfolding or plans.

A state is the set of assertions with one timestamp. Each is closed under the ontology, together
with the static assertions, by a chase, which invents individuals; the condition is then tried on
all states and all bindings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product

Term = str | int
"""IRIs and invented individuals are texts, the latter with a leading `_:`; literals are numbers."""
Triple = tuple[Term, str, Term]
Binding = Mapping[str, Term]

TYPE = "a"
DEPTH = 4
"""Patterns have two triples at most, so deeper inventions cannot be part of a match."""


@dataclass(frozen=True)
class Axiom:
    """`kind` is sub, subrole, inverse, domain, range or some (sub ⊑ ∃sup)."""

    kind: str
    sub: str
    sup: str


def chase(triples: Iterable[Triple], axioms: Sequence[Axiom]) -> frozenset[Triple]:
    """`triples` closed under `axioms`; individuals are invented up to DEPTH from named ones."""
    known = set(triples)
    fresh, depth = count(), dict[Term, int]()
    while True:
        found = {t for axiom in axioms for t in _implied(known, axiom)} - known
        for axiom in axioms:
            if axiom.kind == "some":
                for x in sorted({s for s, p, o in known if (p, o) == (TYPE, axiom.sub)}, key=str):
                    has = any(s == x and p == axiom.sup for s, p, _ in known | found)
                    if not has and depth.get(x, 0) < DEPTH:
                        new = f"_:n{next(fresh)}"
                        depth[new] = depth.get(x, 0) + 1
                        found.add((x, axiom.sup, new))
        if not found:
            return frozenset(known)
        known |= found


def _implied(known: set[Triple], axiom: Axiom) -> Iterator[Triple]:
    for s, p, o in known:
        match axiom:
            case Axiom("sub", sub, sup) if (p, o) == (TYPE, sub):
                yield (s, TYPE, sup)
            case Axiom("subrole", sub, sup) if p == sub:
                yield (s, sup, o)
            case Axiom("inverse", sub, sup) if p == sub and isinstance(o, str):
                yield (o, sup, s)
            case Axiom("domain", sub, sup) if p == sub:
                yield (s, TYPE, sup)
            case Axiom("range", sub, sup) if p == sub and isinstance(o, str):
                yield (o, TYPE, sup)


def matches(
    pattern: Sequence[Triple], triples: frozenset[Triple], given: Binding
) -> Iterator[Binding]:
    """The bindings of variables (`?x`) that extend `given` and make `pattern` part of `triples`."""
    if not pattern:
        yield given
        return
    for triple in triples:
        extended = dict(given)
        if all(_bind(extended, p, t) for p, t in zip(pattern[0], triple, strict=True)):
            yield from matches(pattern[1:], triples, extended)


def _bind(binding: dict[str, Term], wanted: Term, found: Term) -> bool:
    if isinstance(wanted, str) and wanted.startswith("?"):
        return binding.setdefault(wanted, found) == found
    return wanted == found


@dataclass(frozen=True)
class Condition:
    """WHERE where HAVING EXISTS states (the patterns hold in them, and the comparisons)."""

    head: tuple[str, ...]
    where: tuple[Triple, ...]
    patterns: Mapping[str, tuple[Triple, ...]]
    comparisons: tuple[tuple[str, str, str | int], ...] = ()
    window: int | None = None


def answers(
    condition: Condition,
    static: Iterable[Triple],
    states: Mapping[int, set[Triple]],
    axioms: Sequence[Axiom],
) -> set[tuple[Term, ...]]:
    """All certain answers over the states there are."""
    facts = list(static)
    told = chase(facts, axioms)
    # Individuals that one state invents are none of another's.
    closed = {t: _renamed(chase([*facts, *s], axioms), f"{t}") for t, s in states.items()}
    found = set()
    for times in product(sorted(states), repeat=len(condition.patterns)):
        chosen = dict(zip(condition.patterns, times, strict=True))
        if not _within(condition, times):
            continue
        for binding in matches(condition.where, told, {}):
            found |= set(_in_states(condition, chosen, closed, binding))
    return found


def _in_states(
    condition: Condition,
    chosen: Mapping[str, int],
    closed: Mapping[int, frozenset[Triple]],
    binding: Binding,
) -> Iterator[tuple[Term, ...]]:
    bindings = [binding]
    for state, pattern in condition.patterns.items():
        bindings = [m for b in bindings for m in matches(pattern, closed[chosen[state]], b)]
    for full in bindings:
        row = tuple(full[v] for v in condition.head)
        named = not any(isinstance(t, str) and t.startswith("_:") for t in row)
        if named and all(_holds(c, {**full, **chosen}) for c in condition.comparisons):
            yield row


def _within(condition: Condition, times: tuple[int, ...]) -> bool:
    return condition.window is None or max(times) - min(times) <= condition.window


def _holds(comparison: tuple[str, str, str | int], values: Mapping[str, Term]) -> bool:
    left, op, right = comparison
    a, b = values[left], values[right] if isinstance(right, str) else right
    if not isinstance(a, int) or not isinstance(b, int):
        return False
    return {"<": a < b, "<=": a <= b, "=": a == b, ">": a > b, ">=": a >= b, "!=": a != b}[op]


def _renamed(triples: frozenset[Triple], tag: str) -> frozenset[Triple]:
    def new(term: Term) -> Term:
        return f"{term}@{tag}" if isinstance(term, str) and term.startswith("_:") else term

    return frozenset((new(s), p, new(o)) for s, p, o in triples)
