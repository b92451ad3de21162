"""What lies below and above each concept and role of a TBox: its positive inclusions, closed.

Rewriting compiles hierarchies into atoms with it, and unfolding into T-mappings. Closures are
computed when asked for: all of them together would take a chain of n classes n² pairs.

>>> pump, device, feeds = Named("Pump"), Named("Device"), Role("feeds")
>>> tbox = TBox((SubClassOf(pump, device), SubClassOf(Exists(feeds), pump)))
>>> [str(concept) for concept in Hierarchy(tbox).concepts_below(device)]
['Device', 'Pump', '∃feeds']
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, KeysView, Mapping
from typing import Generic, TypeVar

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

Element = TypeVar("Element", bound=Hashable)
Step = tuple[Element, Axiom]

TOP = Named(THING)

REMEMBERED = 1_000_000
"""How many members the closures of one hierarchy keep before they are forgotten."""


class Closure(Generic[Element]):
    """The elements reachable from one along direct inclusions, remembered."""

    def __init__(self) -> None:
        self._next: dict[Element, list[Step[Element]]] = defaultdict(list)
        self._known: dict[Element, dict[Element, Step[Element] | None]] = {}
        self._size = 0

    def add(self, start: Element, end: Element, axiom: Axiom) -> None:
        self._next[start].append((end, axiom))

    def of(self, start: Element) -> Mapping[Element, Step[Element] | None]:
        """What is reached from `start`, nearest first, each with the step before it."""
        if start not in self._known:
            found = self._search(start)
            if self._size + len(found) > REMEMBERED:
                self._known.clear()
                self._size = 0
            self._known[start] = found
            self._size += len(found)
        return self._known[start]

    def path(self, start: Element, end: Element) -> tuple[Axiom, ...]:
        """The axioms on a shortest way from `end` back to `start`."""
        return tuple(_walk(self.of(start), end))

    def _search(self, start: Element) -> dict[Element, Step[Element] | None]:
        found: dict[Element, Step[Element] | None] = {start: None}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for reached, axiom in self._next.get(here, ()):
                if reached not in found:
                    found[reached] = (here, axiom)
                    queue.append(reached)
        return found


def _walk(found: Mapping[Element, Step[Element] | None], end: Element) -> Iterator[Axiom]:
    step = found[end]
    while step is not None:
        before, axiom = step
        yield axiom
        step = found[before]


class Hierarchy:
    """The inclusions that the axioms of `tbox` entail between basic concepts and between roles.

    A ⊑ ∃R and ∃R ⊑ B give A ⊑ B; a reflexive role has every individual in its domain and range.
    Everything is below ⊤, which the closures do not list.
    """

    def __init__(self, tbox: TBox) -> None:
        self._concepts: Closure[Concept] = Closure()
        self._roles: Closure[Role] = Closure()
        self._concepts_up: Closure[Concept] = Closure()
        self._roles_up: Closure[Role] = Closure()
        self.reflexive = {a.role: a for a in tbox.axioms if isinstance(a, Reflexive)}
        for axiom in tbox.axioms:
            self._add(axiom)

    def concepts_below(self, concept: Concept) -> KeysView[Concept]:
        """The concepts that `concept` includes, itself first."""
        return self._concepts.of(concept).keys()

    def concepts_above(self, concept: Concept) -> KeysView[Concept]:
        """The concepts that include `concept`, itself first."""
        return self._concepts_up.of(concept).keys()

    def roles_below(self, role: Role) -> KeysView[Role]:
        """The roles that `role` includes, itself first; inverses are told apart."""
        return self._roles.of(role).keys()

    def roles_above(self, role: Role) -> KeysView[Role]:
        """The roles that include `role`, itself first."""
        return self._roles_up.of(role).keys()

    def reflexive_below(self, role: Role) -> Role | None:
        """A role that `tbox` says to be reflexive and `role` includes, or None."""
        if not self.reflexive:
            return None
        return next((r for r in self.roles_below(role) if self._is_reflexive(r)), None)

    def reflexivity(self, role: Role) -> Reflexive:
        """The axiom that makes `role` reflexive."""
        return self.reflexive.get(role) or self.reflexive[role.inverted()]

    def why_concept(self, sub: Concept, sup: Concept) -> tuple[Axiom, ...]:
        """The axioms of a shortest proof of `sub` ⊑ `sup`."""
        return () if sup == TOP else self._concepts.path(sup, sub)

    def why_role(self, sub: Role, sup: Role) -> tuple[Axiom, ...]:
        """The axioms of a shortest proof of `sub` ⊑ `sup`."""
        return self._roles.path(sup, sub)

    def _is_reflexive(self, role: Role) -> bool:
        return role in self.reflexive or role.inverted() in self.reflexive

    def _add(self, axiom: Axiom) -> None:
        match axiom:
            case SubClassOf(sub, sup):
                self._include_concept(sub, sup, axiom)
            case SubRoleOf(sub, sup):
                self._include_role(sub, sup, axiom)
                self._include_role(sub.inverted(), sup.inverted(), axiom)
            case Reflexive(role):
                self._include_concept(TOP, Exists(role), axiom)
                self._include_concept(TOP, Exists(role.inverted()), axiom)
            case _:
                pass

    def _include_concept(self, sub: Concept, sup: Concept, axiom: Axiom) -> None:
        self._concepts.add(sup, sub, axiom)
        self._concepts_up.add(sub, sup, axiom)

    def _include_role(self, sub: Role, sup: Role, axiom: Axiom) -> None:
        self._roles.add(sup, sub, axiom)
        self._roles_up.add(sub, sup, axiom)
        self._include_concept(Exists(sub), Exists(sup), axiom)
