"""A union of conjunctive queries as SPARQL, which any endpoint answers without reasoning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from obda_bm.ir.rdf import RdfTerm, Variable
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    PropertyAtom,
    TermComparison,
    UnionOfCQs,
)

_SPLIT = re.compile(r"(.*[#/:])([A-Za-z_](?:[\w-]*\w)?)")


class Prefixes:
    """Abbreviations for the namespaces that occur most."""

    def __init__(self, iris: Iterable[str]) -> None:
        spaces = Counter(match[1] for iri in iris if (match := _SPLIT.fullmatch(iri)))
        ranked = sorted(spaces, key=lambda space: (-spaces[space], space))
        self._names = {s: "" if n == 0 else f"n{n}" for n, s in enumerate(ranked)}

    def shorten(self, iri: str) -> str:
        match = _SPLIT.fullmatch(iri)
        return f"{self._names[match[1]]}:{match[2]}" if match else f"<{iri}>"

    def declarations(self) -> Iterator[str]:
        yield from (f"PREFIX {name}: <{space}>" for space, name in self._names.items())


def ucq_as_sparql(ucq: UnionOfCQs) -> str:
    """The query text: SELECT DISTINCT, or ASK for a boolean query.

    Atoms of states have no SPARQL; only plain queries are written.
    """
    prefixes = Prefixes(atom.iri for query in ucq.disjuncts for atom in query.body)
    columns = " ".join(f"?{name}" for name in ucq.names)
    form = f"SELECT DISTINCT {columns} WHERE" if ucq.names else "ASK"
    groups = [_group(query, ucq.names, prefixes) for query in ucq.disjuncts]
    body = "\n  UNION\n".join(groups) if groups else "  FILTER(false)"
    return "\n".join((*prefixes.declarations(), f"{form} {{", body, "}"))


def _group(query: ConjunctiveQuery, names: tuple[str, ...], prefixes: Prefixes) -> str:
    lines = [
        *(_triple(atom, prefixes) for atom in query.body),
        *map(_filter, query.comparisons),
        *_bindings(query.head, names),
    ]
    return "  { " + "\n    ".join(lines) + " }"


def _triple(atom: Atom, prefixes: Prefixes) -> str:
    match atom:
        case ClassAtom(iri, term):
            return f"{term} a {prefixes.shorten(iri)} ."
        case PropertyAtom(iri, subject, object_):
            return f"{subject} {prefixes.shorten(iri)} {object_} ."


def _filter(comparison: TermComparison) -> str:
    op = "!=" if comparison.op is Op.NE else comparison.op.value
    return f"FILTER({comparison.left} {op} {comparison.right})"


def _bindings(head: tuple[RdfTerm, ...], names: tuple[str, ...]) -> Iterator[str]:
    """What gives answer columns their values where the variable has become another term."""
    for term, name in zip(head, names, strict=True):
        if term != Variable(name):
            yield f"BIND({term} AS ?{name})"
