"""An independent evaluator: rows to triples, triples closed under axioms, queries by search.

It shares with the project the data types of axioms and queries only: terms are texts as N-Triples
writes them, and the views are executed by DuckDB itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from obda_bm.ir.rdf import Literal, RdfTerm, Variable
from obda_bm.ir.tbox import Exists, Named, SubClassOf, SubRoleOf, TBox
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import ClassAtom, ConjunctiveQuery

XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Term:
    """`pattern` is an IRI template, a constant in N-Triples, or a column; as in the Turtle text."""

    kind: str  # template, constant, column
    pattern: str
    datatype: str = ""

    def of(self, row: dict[str, Any]) -> str | None:
        if self.kind == "constant":
            return self.pattern
        if self.kind == "column":
            return _literal(row[self.pattern], self.datatype)
        names = re.findall(r"\{(\w+)\}", self.pattern)
        if any(row[name] is None for name in names):
            return None
        return "<" + re.sub(r"\{(\w+)\}", lambda m: _encoded(row[m[1]]), self.pattern) + ">"


def _encoded(value: Any) -> str:
    return "".join(c if c.isalnum() or c in "-._~" else quote(c, safe="") for c in str(value))


def _literal(value: Any, datatype: str) -> str | None:
    if value is None:
        return None
    natural = XSD + "integer" if isinstance(value, int) else ""
    kind = datatype or natural
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"' + (f"^^<{kind}>" if kind else "")


@dataclass(frozen=True)
class Rule:
    """Every row of `sql` makes the triple."""

    sql: str
    subject: Term
    predicate: Term
    object: Term


def graph(rules: list[Rule], connection: Any) -> Counter[Triple]:
    """The triples, each as often as rows make it."""
    made: Counter[Triple] = Counter()
    for rule in rules:
        cursor = connection.execute(rule.sql)
        names = [d[0] for d in cursor.description]
        for values in cursor.fetchall():
            row = dict(zip(names, values, strict=True))
            triple = tuple(t.of(row) for t in (rule.subject, rule.predicate, rule.object))
            if None not in triple:
                made[triple] += 1  # type: ignore[index]
    return made


def closed(triples: set[Triple], tbox: TBox, depth: int) -> set[Triple]:
    """The restricted chase, with nulls `_:n` of at most `depth` steps from the data."""
    facts = set(triples)
    level: dict[str, int] = {}
    while True:
        new = {f for axiom in tbox.axioms for f in _consequences(axiom, facts, level, depth)}
        if new <= facts:
            return facts
        facts |= new


def _consequences(
    axiom: object, facts: set[Triple], level: dict[str, int], depth: int
) -> Iterator[Triple]:
    match axiom:
        case SubRoleOf(sub, sup):
            for s, p, o in facts:
                if p == f"<{sub.iri}>":
                    a, b = (o, s) if sub.inverse else (s, o)
                    yield (b, f"<{sup.iri}>", a) if sup.inverse else (a, f"<{sup.iri}>", b)
        case SubClassOf(sub, Named(iri)):
            yield from ((x, TYPE, f"<{iri}>") for x in _members(sub, facts))
        case SubClassOf(sub, Exists(role)):
            have = _members(Exists(role), facts)
            for x in sorted(_members(sub, facts) - have):
                if level.get(x, 0) < depth:
                    null = f"_:n{len(level)}"
                    level[null] = level.get(x, 0) + 1
                    iri = f"<{role.iri}>"
                    yield (null, iri, x) if role.inverse else (x, iri, null)


def _members(concept: object, facts: set[Triple]) -> set[str]:
    match concept:
        case Named(iri):
            return {s for s, p, o in facts if p == TYPE and o == f"<{iri}>"}
        case Exists(role):
            return {o if role.inverse else s for s, p, o in facts if p == f"<{role.iri}>"}
    raise AssertionError(concept)


def evaluate(query: ConjunctiveQuery, triples: Counter[Triple]) -> Counter[tuple[str, ...]]:
    """The answers without nulls, with how often the triples give them."""
    found: Counter[tuple[str, ...]] = Counter()
    for binding, times in _matches(query.body, {}, triples):
        if all(_true(c.left, c.op, c.right, binding) for c in query.comparisons):
            answer = tuple(_value(t, binding) for t in query.head)
            if not any(term.startswith("_:n") for term in answer):
                found[answer] += times
    return found


def _matches(
    body: tuple[Any, ...], binding: dict[str, str], triples: Counter[Triple]
) -> Iterator[tuple[dict[str, str], int]]:
    if not body:
        yield binding, 1
        return
    atom = body[0]
    if isinstance(atom, ClassAtom):
        pattern = (atom.term, TYPE, f"<{atom.iri}>")
    else:
        pattern = (atom.subject, f"<{atom.iri}>", atom.object)
    for triple, times in triples.items():
        extended = dict(binding)
        if all(_fits(t, value, extended) for t, value in zip(pattern, triple, strict=True)):
            for rest, more in _matches(body[1:], extended, triples):
                yield rest, times * more


def _fits(term: RdfTerm | str, value: str, binding: dict[str, str]) -> bool:
    if isinstance(term, Variable):
        return binding.setdefault(term.name, value) == value
    return str(term) == value


def _value(term: RdfTerm, binding: dict[str, str]) -> str:
    return binding[term.name] if isinstance(term, Variable) else str(term)


def _true(left: RdfTerm, op: Op, right: RdfTerm, binding: dict[str, str]) -> bool:
    a, b = _value(left, binding), _value(right, binding)
    numbers = [re.fullmatch(r'"(-?\d+)"\^\^<.*#(?:integer|decimal)>', t) for t in (a, b)]
    if all(numbers):
        x, y = (int(n[1]) for n in numbers if n is not None)
        return {
            Op.LT: x < y,
            Op.LE: x <= y,
            Op.EQ: x == y,
            Op.NE: x != y,
            Op.GE: x >= y,
            Op.GT: x > y,
        }[op]
    resources = [not t.startswith('"') for t in (a, b)]
    texts = [t.startswith('"') and "^^" not in t for t in (a, b)]
    if a.startswith("_:n") or b.startswith("_:n"):
        return False  # no null takes part in a comparison
    if op is Op.EQ:
        return a == b
    if op is Op.NE:
        return a != b and (any(resources) or all(texts))
    return False


__all__ = ["Literal", "Rule", "Term", "Triple", "closed", "evaluate", "graph"]
