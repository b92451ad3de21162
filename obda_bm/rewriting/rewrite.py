"""UnionOfCQs x TBox -> the smallest union of conjunctive queries with all certain answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from obda_bm.ir.hierarchy import Hierarchy
from obda_bm.ir.tbox import Axiom, Exists, Role, SubClassOf, TBox
from obda_bm.ir.ucq import PropertyAtom, UnionOfCQs
from obda_bm.rewriting.drop_contained import drop_contained
from obda_bm.rewriting.drop_implied_atoms import drop_implied_atoms
from obda_bm.rewriting.explore import explore
from obda_bm.rewriting.flatten import flatten
from obda_bm.rewriting.limits import Limits, refuse_atoms, refuse_disjuncts
from obda_bm.rewriting.places import number_fresh
from obda_bm.rewriting.steps import Derived, Knowledge, axioms_of

DEFAULT_LIMITS = Limits()


class Form(Enum):
    """FLAT queries are over the data; in COMPILED ones an atom stands for everything below it."""

    FLAT = "flat"
    COMPILED = "compiled"


@dataclass(frozen=True)
class Rewriting:
    """A minimal union of conjunctive queries, and what led to each of them."""

    names: tuple[str, ...]
    form: Form
    derived: tuple[Derived, ...]
    hierarchy: Hierarchy

    @property
    def ucq(self) -> UnionOfCQs:
        return UnionOfCQs(self.names, tuple(d.query for d in self.derived))

    @cached_property
    def chains(self) -> tuple[tuple[Axiom, ...], ...]:
        """Per disjunct, the axioms that made it out of the user's query."""
        return tuple(axioms_of(d.steps, self.hierarchy) for d in self.derived)

    def __len__(self) -> int:
        return len(self.derived)

    def __str__(self) -> str:
        return str(self.ucq)


def rewrite_ucq(
    ucq: UnionOfCQs, tbox: TBox, form: Form = Form.FLAT, limits: Limits = DEFAULT_LIMITS
) -> Rewriting:
    """The minimal rewriting of `ucq`: its answers over the data are the certain answers.

    Raises:
        RewritingError: if it is larger than `limits` allow.
    """
    largest = max((len(q.body) for q in ucq.disjuncts), default=0)
    if largest > limits.atoms:
        raise refuse_atoms(limits, largest)
    knowledge = know(tbox)
    explored = explore(ucq.disjuncts, knowledge, limits)
    with_data = (d for d in explored if not _needs_fresh(d, knowledge))
    compiled = drop_contained(with_data, knowledge)
    found = compiled if form is Form.COMPILED else _flat(compiled, knowledge, limits)
    tidy = tuple(replace(d, query=number_fresh(d.query)) for d in found)
    return Rewriting(ucq.names, form, tidy, knowledge.hierarchy)


def know(tbox: TBox) -> Knowledge:
    """`tbox`, indexed."""
    generators: dict[Role, list[SubClassOf]] = defaultdict(list)
    for axiom in tbox.axioms:
        if isinstance(axiom, SubClassOf) and isinstance(axiom.sup, Exists):
            generators[axiom.sup.role].append(axiom)
    return Knowledge(
        Hierarchy(tbox),
        {role: tuple(axioms) for role, axioms in generators.items()},
        tbox.data_properties,
        tbox.fresh,
    )


def _flat(compiled: Iterable[Derived], knowledge: Knowledge, limits: Limits) -> list[Derived]:
    plain = Knowledge(Hierarchy(TBox(())), {}, knowledge.data_properties, knowledge.fresh)
    spelt = _at_most(limits, (f for d in compiled for f in flatten(d, knowledge)))
    distinct = {d.query: d for d in (drop_implied_atoms(d, plain) for d in spelt)}
    return drop_contained(distinct.values(), plain)


def _at_most(limits: Limits, queries: Iterable[Derived]) -> Iterator[Derived]:
    for number, query in enumerate(queries):
        if number >= limits.disjuncts:
            raise refuse_disjuncts(limits)
        yield query


def _needs_fresh(derived: Derived, knowledge: Knowledge) -> bool:
    """Whether an atom asks for a role that normalisation invented, with nothing else below it."""
    return any(
        isinstance(atom, PropertyAtom)
        and all(r.iri in knowledge.fresh for r in knowledge.hierarchy.roles_below(Role(atom.iri)))
        for atom in derived.query.body
    )
