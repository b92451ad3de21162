"""The oracle: a materialised canonical model, and the plainest evaluation of queries over it.

Nothing here is shared with the rewriting but the types of axioms and queries.

How deep the model has to be: below an invented individual it depends only on the role for which
that one was invented. A match of a connected part of a query, with n variables, lies at most n
levels below its topmost element. If that is invented, the shallowest individual invented for the
same role serves as well, and lies no deeper than there are such roles. So a depth of roles + n is
enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from obda_bm.ir.rdf import Iri, Literal, RdfTerm, Variable
from obda_bm.ir.tbox import (
    THING,
    Axiom,
    Concept,
    Exists,
    Named,
    Reflexive,
    Role,
    SubClassOf,
    SubRoleOf,
    TBox,
)
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom, TermComparison

State = int | None
LARGEST = 600


@dataclass(frozen=True)
class Null:
    """An individual invented for `parent`; it is a literal if the role is a data property.

    Each state invents its own.
    """

    state: State
    parent: Any
    role: Role | None
    depth: int
    literal: bool = False


Element = Iri | Literal | Null


class TooLarge(Exception):
    """The model outgrows what a test should take."""


@dataclass
class World:
    """What holds in one state."""

    members: dict[str, set[Element]] = field(default_factory=dict)
    pairs: dict[str, set[tuple[Element, Element]]] = field(default_factory=dict)
    individuals: set[Element] = field(default_factory=set)
    state: State = None

    def is_in(self, concept: Concept) -> set[Element]:
        match concept:
            case Named(iri):
                return self.individuals if iri == THING else self.members.get(iri, set())
            case Exists(Role(iri, inverse)):
                return {pair[1 if inverse else 0] for pair in self.pairs.get(iri, set())}

    def add_member(self, iri: str, element: Element) -> bool:
        known = self.members.setdefault(iri, set())
        new = element not in known
        known.add(element)
        return new

    def add_pair(self, role: Role, start: Element, end: Element) -> bool:
        known = self.pairs.setdefault(role.iri, set())
        pair = (end, start) if role.inverse else (start, end)
        new = pair not in known
        known.add(pair)
        return new


Data = dict[State, World]


def chase(data: Data, tbox: TBox, depth: int) -> Data:
    """The canonical model of `data` and `tbox` in every state, up to `depth` inventions deep."""
    everybody = {i for world in data.values() for i in world.individuals}
    return {state: _chased(world, everybody, tbox, depth, state) for state, world in data.items()}


def _chased(world: World, everybody: set[Element], tbox: TBox, depth: int, state: State) -> World:
    # No domain is empty: somebody exists, of whom nothing is known.
    somebody = Null(state, None, None, 0)
    model = World(
        {iri: set(members) for iri, members in world.members.items()},
        {iri: set(pairs) for iri, pairs in world.pairs.items()},
        {*everybody, somebody},
        state,
    )
    changed = True
    while changed:
        changed = False
        for axiom in tbox.axioms:
            changed |= _apply(axiom, model, tbox, depth)
    return model


def _apply(axiom: Axiom, model: World, tbox: TBox, depth: int) -> bool:
    match axiom:
        case SubClassOf(sub, Named(iri)):
            return sum(model.add_member(iri, e) for e in set(model.is_in(sub)) if iri != THING) > 0
        case SubClassOf(sub, Exists(role)):
            found = [_invent(model, e, role, tbox, depth) for e in set(model.is_in(sub))]
            return any(found)
        case SubRoleOf(Role(iri, inverse), sup):
            pairs = set(model.pairs.get(iri, set()))
            turned = [(b, a) if inverse else (a, b) for a, b in pairs]
            return sum(model.add_pair(sup, a, b) for a, b in turned) > 0
        case Reflexive(role):
            return sum(model.add_pair(role, e, e) for e in set(model.individuals)) > 0
        case _:
            return False


def _invent(model: World, element: Element, role: Role, tbox: TBox, depth: int) -> bool:
    below = element.depth if isinstance(element, Null) else 0
    if below >= depth or (isinstance(element, Null) and element.literal):
        return False
    literal = role.iri in tbox.data_properties
    null = Null(model.state, element, role, below + 1, literal)
    if not model.add_pair(role, element, null):
        return False
    if not literal:
        model.individuals.add(null)
    if len(model.individuals) > LARGEST:
        raise TooLarge
    return True


def named_part(model: Data) -> Data:
    """What `model` says of named individuals and literals only."""
    return {state: _named_world(world) for state, world in model.items()}


def _named_world(world: World) -> World:
    def named(*elements: Element) -> bool:
        return not any(isinstance(e, Null) for e in elements)

    return World(
        {iri: {m for m in members if named(m)} for iri, members in world.members.items()},
        {iri: {p for p in pairs if named(*p)} for iri, pairs in world.pairs.items()},
        {i for i in world.individuals if named(i)},
    )


def answers(queries: Iterable[ConjunctiveQuery], data: Data) -> set[tuple[RdfTerm, ...]]:
    """The answers of the union of `queries` over `data`, all of them named."""
    found: set[tuple[RdfTerm, ...]] = set()
    for query in queries:
        for binding in _visible_bindings(query, data):
            parts = _apart(query.body, binding.keys())
            if _holds(query.comparisons, binding) and all(
                any(True for _ in _matches(part, data, binding)) for part in parts
            ):
                found.add(tuple(binding.get(t, t) for t in query.head))
    return found


Binding = dict[Variable, Any]


def _visible_bindings(query: ConjunctiveQuery, data: Data) -> Iterator[Binding]:
    """Answer variables and compared variables with every value that the data name."""
    states = {atom.state for atom in query.body}
    compared = (t for c in query.comparisons for t in (c.left, c.right))
    shown = sorted({t for t in (*query.head, *compared) if isinstance(t, Variable)})
    named = _named(data)
    labels = [state for state in data if state is not None]
    for values in product(*(labels if v in states else named for v in shown)):
        yield dict(zip(shown, values, strict=True))


def _named(data: Data) -> list[Element]:
    elements: set[Element] = set()
    for world in data.values():
        elements |= world.individuals
        elements |= {e for pairs in world.pairs.values() for pair in pairs for e in pair}
    return sorted((e for e in elements if not isinstance(e, Null)), key=str)


def _apart(body: tuple[Atom, ...], bound: Collection[Variable]) -> list[tuple[Atom, ...]]:
    """The parts of `body` that share no variables but those of `bound`."""
    parts: list[tuple[Atom, ...]] = []
    left = list(body)
    while left:
        part = [left.pop()]
        for atom in part:
            free = _variables(atom) - set(bound)
            linked = [other for other in left if free & _variables(other)]
            left = [other for other in left if other not in linked]
            part += linked
        parts.append(tuple(part))
    return parts


def _variables(atom: Atom) -> set[Variable]:
    return {t for t in (*atom.terms, atom.state) if isinstance(t, Variable)}


def _matches(atoms: tuple[Atom, ...], data: Data, binding: Binding) -> Iterator[Binding]:
    if not atoms:
        yield binding
        return
    # The most bound atom first, or the search takes forever.
    atom = max(atoms, key=lambda a: sum(_is_bound(t, binding) for t in a.terms))
    rest = tuple(a for a in atoms if a is not atom)
    for state, world in data.items():
        placed = _unify(((atom.state, state),), binding) if atom.state else binding
        if (atom.state is None) != (state is None) or placed is None:
            continue
        for row in _rows(atom, world, data, placed):
            extended = _unify(zip(atom.terms, row, strict=True), placed)
            if extended is not None:
                yield from _matches(rest, data, extended)


def _is_bound(term: RdfTerm, binding: Binding) -> bool:
    return not isinstance(term, Variable) or term in binding


def _rows(atom: Atom, world: World, data: Data, binding: Binding) -> Iterable[tuple[Element, ...]]:
    match atom:
        case ClassAtom(iri) if iri == THING:
            named = {i for w in data.values() for i in w.individuals if isinstance(i, Iri)}
            return [(e,) for e in world.individuals | named]
        case ClassAtom(iri):
            return [(e,) for e in world.members.get(iri, set())]
        case PropertyAtom(iri):
            return world.pairs.get(iri, set())


def _unify(pairs: Iterable[tuple[Any, Any]], binding: Binding) -> Binding | None:
    extended = dict(binding)
    for term, value in pairs:
        if isinstance(term, Variable):
            if extended.setdefault(term, value) != value:
                return None
        elif term != value:
            return None
    return extended


def _holds(comparisons: Iterable[TermComparison], binding: Binding) -> bool:
    return all(_compares(c, binding) for c in comparisons)


def _compares(comparison: TermComparison, binding: Binding) -> bool:
    left, right = (
        binding[t] if isinstance(t, Variable) else t for t in (comparison.left, comparison.right)
    )
    if isinstance(left, Null) or isinstance(right, Null):
        return False
    first, second = (_rank(left), _rank(right))
    match comparison.op:
        case Op.LT:
            return first < second
        case Op.LE:
            return first <= second
        case Op.EQ:
            return first == second
        case Op.NE:
            return first != second
        case Op.GE:
            return first >= second
        case Op.GT:
            return first > second


def _rank(value: Any) -> tuple[str, Any]:
    """Any total order will do, as long as it is the same on both sides."""
    return (type(value).__name__, value if isinstance(value, int) else str(value))
