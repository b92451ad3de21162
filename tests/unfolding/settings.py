"""Random catalogs, data, mappings, axioms and queries."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from obda_bm.ir.catalog import Catalog, Column, Extent, ForeignKey, Relation
from obda_bm.ir.rdf import XSD, Iri, Literal, RdfTerm, Variable
from obda_bm.ir.sqltypes import INTEGER, TEXT
from obda_bm.ir.tbox import Axiom, Exists, Named, Role, SubClassOf, SubRoleOf, TBox
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom, TermComparison
from tests.unfolding.oracle import TYPE, Rule, Term

V = "http://e/v#"
CLASSES = [f"{V}C{i}" for i in range(2)]
ROLES = [f"{V}P{i}" for i in range(2)]
DATA = [f"{V}D{i}" for i in range(2)]

CATALOG = Catalog(
    (
        Relation(
            "r0",
            (Column("id", INTEGER, nullable=False), Column("a", INTEGER), Column("t", TEXT)),
            Extent.STATIC,
            keys=(("id",),),
        ),
        Relation(
            "r1",
            (Column("id", INTEGER, nullable=False), Column("f", INTEGER), Column("t", TEXT)),
            Extent.STATIC,
            keys=(("id",),),
            foreign_keys=(ForeignKey(("f",), "r0", ("id",)),),
        ),
        Relation(
            "r2",
            (Column("a", INTEGER), Column("b", INTEGER), Column("t", TEXT)),
            Extent.STATIC,
        ),
    )
)
TEXTS = ["x", "y", "a b", "x/y", "1", "é?", "%41", "", "x'y", "\\"]

# A logical table: its SQL, its columns of numbers, its columns of texts.
TABLES = [
    ("r0", ["id", "a"], ["t"]),
    ("r1", ["id", "f"], ["t"]),
    ("r2", ["a", "b"], ["t"]),
    ("SELECT id, a FROM r0 WHERE a >= 1", ["id", "a"], []),
    (
        "SELECT r1.id AS id, r0.t AS t, r0.id AS m FROM r1, r0 WHERE r1.f = r0.id",
        ["id", "m"],
        ["t"],
    ),
    ("SELECT id, 2 AS two, 'a b' AS word FROM r0", ["id", "two"], ["word"]),
    ("SELECT x.a AS a, y.b AS b FROM r2 AS x, r2 AS y WHERE x.b = y.a", ["a", "b"], []),
    ("SELECT id FROM r0 UNION ALL SELECT f FROM r1", ["id"], []),
]


@dataclass
class Mapping:
    """The same mapping twice: as Turtle for the project, as rules for the oracle."""

    turtle: str
    rules: list[Rule]


def fill(connection: Any, rng: random.Random) -> None:
    """Tables with rows that keep the constraints of the catalog."""
    connection.execute("CREATE TABLE r0 (id INTEGER, a INTEGER, t VARCHAR)")
    connection.execute("CREATE TABLE r1 (id INTEGER, f INTEGER, t VARCHAR)")
    connection.execute("CREATE TABLE r2 (a INTEGER, b INTEGER, t VARCHAR)")
    ids = rng.sample(range(4), rng.randint(1, 4))
    for i in ids:
        row = [i, rng.choice([0, 1, 2, None]), rng.choice([*TEXTS, None])]
        connection.execute("INSERT INTO r0 VALUES (?, ?, ?)", row)
    for i in rng.sample(range(4), rng.randint(0, 3)):
        row = [i, rng.choice([*ids, None]), rng.choice([*TEXTS, None])]
        connection.execute("INSERT INTO r1 VALUES (?, ?, ?)", row)
    for _ in range(rng.randint(0, 4)):
        row = [rng.choice([0, 1, 2, None]) for _ in "ab"]
        connection.execute("INSERT INTO r2 VALUES (?, ?, ?)", [*row, rng.choice([*TEXTS, None])])


def mapping(rng: random.Random) -> Mapping:
    lines = ["@prefix rr: <http://www.w3.org/ns/r2rml#> .", f"@prefix v: <{V}> ."]
    rules: list[Rule] = []
    maps: list[tuple[str, list[str], list[str], Term]] = []
    for number in range(rng.randint(3, 6)):
        sql, numbers, texts = rng.choice(TABLES)
        subject = _iri(rng, numbers, texts)
        lines += [f"<http://e/m{number}> rr:logicalTable [ {_table(sql)} ] ;"]
        lines += [f"  rr:subjectMap [ {_turtle(subject)} ] ;"]
        for _ in range(rng.randint(1, 3)):
            predicate, object_ = _predicate_object(rng, numbers, texts)
            lines += [
                f"  rr:predicateObjectMap [ rr:predicateMap [ {_turtle(predicate)} ] ;"
                f" rr:objectMap [ {_turtle(object_)} ] ] ;"
            ]
            query = sql if sql.startswith("SELECT") else f"SELECT * FROM {sql}"
            rules.append(Rule(query, subject, predicate, object_))
        maps.append((sql, numbers, texts, subject))
        if rng.random() < 0.3:
            parent, join, rule = _reference(rng, maps)
            lines += [
                f"  rr:predicateObjectMap [ rr:predicate {rule.predicate.pattern} ; rr:objectMap"
                f" [ rr:parentTriplesMap <http://e/m{parent}> ; rr:joinCondition"
                f' [ rr:child "{join[0]}" ; rr:parent "{join[1]}" ] ] ] ;'
            ]
            rules.append(rule)
        lines += ["  ."]
    return Mapping("\n".join(lines), rules)


def _reference(
    rng: random.Random, maps: list[tuple[str, list[str], list[str], Term]]
) -> tuple[int, tuple[str, str], Rule]:
    """An object of the last map that is the subject of some map, by a join of two columns."""
    sql, numbers, texts, subject = maps[-1]
    number = rng.randrange(len(maps))
    other, other_numbers, other_texts, parent = maps[number]
    join = (rng.choice(numbers), rng.choice(other_numbers))
    own = ", ".join(f"c.{name}" for name in [*numbers, *texts])
    theirs = ", ".join(f"p.{name} AS p_{name}" for name in [*other_numbers, *other_texts])
    query = (
        f"SELECT {own}, {theirs} FROM {_derived(sql)} AS c, {_derived(other)} AS p"
        f" WHERE c.{join[0]} = p.{join[1]}"
    )
    pattern = parent.pattern.replace("{", "{p_")
    predicate = Term("constant", f"<{rng.choice(ROLES)}>")
    return number, join, Rule(query, subject, predicate, Term(parent.kind, pattern))


def _derived(sql: str) -> str:
    return f"({sql})" if sql.startswith("SELECT") else sql


def _table(sql: str) -> str:
    return f'rr:sqlQuery "{sql}"' if sql.startswith("SELECT") else f'rr:tableName "{sql}"'


def _turtle(term: Term) -> str:
    match term.kind:
        case "template":
            return f'rr:template "{term.pattern}"'
        case "column":
            datatype = f" ; rr:datatype <{term.datatype}>" if term.datatype else ""
            return f'rr:column "{term.pattern}"{datatype}'
        case _:
            return f"rr:constant {term.pattern}"


def _iri(rng: random.Random, numbers: list[str], texts: list[str]) -> Term:
    choices = [f"http://e/o/{{{rng.choice(numbers)}}}", f"http://e/p{{{rng.choice(numbers)}}}"]
    choices += [f"http://e/q/{{{rng.choice(numbers)}}}/{{{rng.choice(numbers)}}}"]
    choices += [f"http://e/t/{{{rng.choice(texts)}}}" for _ in texts]
    if rng.random() < 0.1:
        return Term("constant", rng.choice(["<http://e/o/1>", "<http://e/t/a%20b>"]))
    return Term("template", rng.choice(choices))


def _predicate_object(
    rng: random.Random, numbers: list[str], texts: list[str]
) -> tuple[Term, Term]:
    chance = rng.random()
    if chance < 0.35:
        return Term("constant", TYPE), Term("constant", f"<{rng.choice(CLASSES)}>")
    if chance < 0.42:
        return Term("constant", TYPE), Term("template", f"{V}C{{{rng.choice(numbers)}}}")
    if chance < 0.75:
        return Term("constant", f"<{rng.choice(ROLES)}>"), _iri(rng, numbers, texts)
    if chance < 0.8:
        return Term("template", f"{V}P{{{rng.choice(numbers)}}}"), _iri(rng, numbers, texts)
    datatype = rng.choice(["", "", XSD + "decimal"])
    column = rng.choice([*numbers, *texts])
    made = Term("column", column, datatype if column in numbers else "")
    return Term("constant", f"<{rng.choice(DATA)}>"), made


def tbox(rng: random.Random) -> TBox:
    axioms: list[Axiom] = []
    for _ in range(rng.randint(0, 4)):
        chance = rng.random()
        if chance < 0.3:
            axioms.append(SubClassOf(Named(rng.choice(CLASSES)), Named(rng.choice(CLASSES))))
        elif chance < 0.5:
            axioms.append(SubClassOf(Named(rng.choice(CLASSES)), Exists(_role(rng))))
        elif chance < 0.7:
            axioms.append(SubClassOf(Exists(_role(rng)), Named(rng.choice(CLASSES))))
        elif chance < 0.8:
            axioms.append(SubClassOf(Exists(Role(rng.choice(DATA))), Named(rng.choice(CLASSES))))
        elif chance < 0.9:
            axioms.append(SubRoleOf(Role(DATA[0]), Role(DATA[1])))
        else:
            axioms.append(SubRoleOf(_role(rng), _role(rng)))
    names = frozenset(CLASSES), frozenset(ROLES), frozenset(DATA)
    return TBox(tuple(dict.fromkeys(axioms)), *names)


def _role(rng: random.Random) -> Role:
    return Role(rng.choice(ROLES), rng.random() < 0.3)


def query(rng: random.Random) -> ConjunctiveQuery:
    variables = [Variable(n) for n in "xyz"]
    body: list[Atom] = [_atom(rng, variables) for _ in range(rng.randint(1, 3))]
    used = [v for v in variables if any(v in atom.terms for atom in body)]
    values = [v for v in (Variable("n"), Variable("m")) if any(v in a.terms for a in body)]
    everything = [*used, *values]
    if not everything:
        return query(rng)
    comparisons = []
    if values and rng.random() < 0.4:
        op = rng.choice([Op.LT, Op.GE, Op.EQ, Op.NE])
        comparisons.append(TermComparison(values[0], op, Literal("1", XSD + "integer")))
    if len(used) > 1 and rng.random() < 0.3:
        comparisons.append(TermComparison(used[0], rng.choice([Op.EQ, Op.NE]), used[1]))
    head = tuple(rng.sample(everything, rng.randint(1, len(everything))))
    return ConjunctiveQuery(head, tuple(body), tuple(comparisons))


def _atom(rng: random.Random, variables: list[Variable]) -> Atom:
    def term() -> RdfTerm:
        if rng.random() < 0.1:
            return Iri(rng.choice(["http://e/o/1", "http://e/t/x%2Fy", "http://e/q/1/2"]))
        return rng.choice(variables)

    chance = rng.random()
    if chance < 0.4:
        return ClassAtom(rng.choice(CLASSES), term())
    if chance < 0.75:
        return PropertyAtom(rng.choice(ROLES), term(), term())
    value: RdfTerm = rng.choice([Variable("n"), Variable("m"), Literal("1", XSD + "integer")])
    return PropertyAtom(rng.choice(DATA), term(), value)
