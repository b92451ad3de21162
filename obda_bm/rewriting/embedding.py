"""Homomorphisms: mappings of the terms of one query into those of another.

[CM77]: a query contains another iff it maps into it, answers onto answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.ucq import Atom
from obda_bm.rewriting.steps import Step

Binding = dict[Variable, RdfTerm]

PATIENCE = 100_000
"""Attempts before a homomorphism is given up; a query may then stay that another contains."""


@dataclass(frozen=True, slots=True)
class Image:
    """Terms of the target that an atom may map to, and the inclusion that lets it."""

    terms: tuple[RdfTerm, ...]
    reason: Step | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """An atom to map, with every image that the target has for it."""

    atom: Atom
    images: tuple[Image, ...]


def embed(
    goals: Iterable[Goal],
    binding: Binding,
    accept: Callable[[Binding], bool],
    once: frozenset[RdfTerm] = frozenset(),
) -> tuple[Image, ...] | None:
    """One image per goal, such that all agree with `binding`, or None.

    Args:
        accept: says whether the finished mapping will do.
        once: terms of the target to which at most one variable may go.
    """
    ordered = sorted(goals, key=lambda goal: len(goal.images))
    if ordered and not ordered[0].images:
        return None
    return _Search(ordered, accept, once).extend(0, binding)


class _Search:
    def __init__(
        self,
        goals: Sequence[Goal],
        accept: Callable[[Binding], bool],
        once: frozenset[RdfTerm],
    ) -> None:
        self._goals, self._accept, self._once = goals, accept, once
        self._attempts = 0

    def extend(self, position: int, binding: Binding) -> tuple[Image, ...] | None:
        if position == len(self._goals):
            return () if self._accept(binding) else None
        goal = self._goals[position]
        for image in goal.images:
            self._attempts += 1
            if self._attempts > PATIENCE:
                return None
            extended = self._bind(goal.atom.terms, image.terms, binding)
            if extended is not None:
                rest = self.extend(position + 1, extended)
                if rest is not None:
                    return (image, *rest)
        return None

    def _bind(
        self, terms: tuple[RdfTerm, ...], image: tuple[RdfTerm, ...], binding: Binding
    ) -> Binding | None:
        extended = binding
        for term, value in zip(terms, image, strict=True):
            if not isinstance(term, Variable):
                if term != value:
                    return None
            elif term not in extended:
                if value in self._once and value in extended.values():
                    return None
                extended = {**extended, term: value}
            elif extended[term] != value:
                return None
        return extended
