"""The canonical text of terms, expressions and conditions, on one line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from obda_bm.ir.formulas import (
    PARAMETER,
    Aggregate,
    And,
    Argument,
    Arithmetic,
    ArithmeticOp,
    Comparison,
    Duration,
    Expression,
    Formula,
    FunctionCall,
    GroupPattern,
    IfThen,
    MacroCall,
    Minus,
    Not,
    Operand,
    Or,
    Quantified,
    State,
    StatePattern,
)
from obda_bm.ir.rdf import STRING, XSD, Iri, Literal, RdfTerm, Variable
from obda_bm.ir.terms import Op
from obda_bm.ir.ucq import Atom, ClassAtom, PropertyAtom

if TYPE_CHECKING:
    from obda_bm.ir.starql import Prefix

ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
DATATYPES = (
    *("string", "boolean", "decimal", "integer", "double", "float", "date", "time", "dateTime"),
    *("dateTimeStamp", "duration", "dayTimeDuration", "yearMonthDuration", "gYear", "gMonth"),
    *("gDay", "gYearMonth", "gMonthDay", "byte", "short", "int", "long", "unsignedByte"),
    *("unsignedShort", "unsignedInt", "unsignedLong", "positiveInteger", "nonNegativeInteger"),
    *("negativeInteger", "nonPositiveInteger", "hexBinary", "base64Binary", "anyURI"),
    *("language", "normalizedString", "token", "NMTOKEN", "Name", "NCName"),
)
_REFERENCE = re.compile(r"[\w.%/#-]+\Z")
_LOCAL = re.compile(r"\w(?:[\w.-]*[\w-])?\Z")
_BARE = {
    XSD + "integer": re.compile(r"-?[0-9]+\Z"),
    XSD + "decimal": re.compile(r"-?[0-9]+\.[0-9]+\Z"),
    XSD + "double": re.compile(r"-?[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+\Z"),
    XSD + "boolean": re.compile(r"(true|false)\Z"),
}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNITS = (("D", 86_400_000_000), ("H", 3_600_000_000), ("M", 60_000_000))


def resolve_reference(base: str, reference: str) -> str:
    """The IRI that `reference` stands for under `base`.

    >>> resolve_reference("http://a.org/b", "c#"), resolve_reference("http://a.org/", "urn:x#")
    ('http://a.org/c#', 'urn:x#')
    """
    if ABSOLUTE.match(reference) or not base:
        return reference
    iri = urljoin(base, reference)
    # urljoin drops an empty fragment, which is how most namespaces end.
    return iri + "#" if reference.endswith("#") and not iri.endswith("#") else iri


@dataclass(frozen=True, slots=True)
class Names:
    """How IRIs are written: with the prefix of the longest namespace, else in full."""

    prefixes: tuple[Prefix, ...] = ()
    base: str = ""

    def iri(self, iri: str) -> str:
        if iri.startswith(PARAMETER):
            return iri
        near = [p for p in self.prefixes if p.namespace and iri.startswith(p.namespace)]
        for prefix in sorted(near, key=lambda p: -len(p.namespace)):
            local = iri[len(prefix.namespace) :]
            if _LOCAL.match(local):
                return f"{prefix.name}:{local}"
        if self._is_datatype(iri):
            return f"xsd:{iri.removeprefix(XSD)}"
        return f"<{self._relative(iri)}>"

    def _is_datatype(self, iri: str) -> bool:
        """Whether `xsd:`, which needs no declaration, can be used."""
        undeclared = all(prefix.name.lower() != "xsd" for prefix in self.prefixes)
        return undeclared and iri.startswith(XSD) and iri.removeprefix(XSD) in DATATYPES

    def _relative(self, iri: str) -> str:
        rest = iri.removeprefix(self.base) if self.base else iri
        simple = _REFERENCE.match(rest) and resolve_reference(self.base, rest) == iri
        return rest if simple else iri


NO_NAMES = Names()


def variable_text(variable: Variable) -> str:
    name = variable.name
    return name if name.startswith(PARAMETER) else f"?{name}"


def term_text(term: RdfTerm, names: Names = NO_NAMES) -> str:
    """`term` as in a triple pattern.

    >>> term_text(Literal("21.5", XSD + "decimal")), term_text(Literal("a b"))
    ('21.5', '"a b"')
    """
    match term:
        case Variable():
            return variable_text(term)
        case Iri(value):
            return names.iri(value)
        case Literal(lexical, datatype, language):
            if datatype in _BARE and _BARE[datatype].match(lexical):
                return lexical
            quoted = '"' + "".join(_ESCAPES.get(char, char) for char in lexical) + '"'
            if language:
                return f"{quoted}@{language}"
            return quoted if datatype == STRING else f"{quoted}^^{names.iri(datatype)}"


def duration_text(duration: Duration) -> str:
    """`duration` as a literal, in the largest unit that divides it.

    >>> duration_text(Duration(600_000_000)), duration_text(Duration(1_500_000))
    ('"PT10M"^^xsd:duration', '"PT1.5S"^^xsd:duration')
    """
    size = abs(duration.microseconds)
    sign = "-" if duration.microseconds < 0 else ""
    for letter, unit in _UNITS:
        if size and size % unit == 0:
            time = "" if letter == "D" else "T"
            return f'"{sign}P{time}{size // unit}{letter}"^^xsd:duration'
    whole, fraction = divmod(size, 1_000_000)
    part = f".{fraction:06}".rstrip("0") if fraction else ""
    return f'"{sign}PT{whole}{part}S"^^xsd:duration'


_STRENGTH = {ArithmeticOp.ADD: 1, ArithmeticOp.SUB: 1, ArithmeticOp.MUL: 2, ArithmeticOp.DIV: 2}


def expression_text(expression: Expression, names: Names = NO_NAMES) -> str:
    match expression:
        case Operand(term):
            return term_text(term, names)
        case State(name):
            return name
        case Duration():
            return duration_text(expression)
        case Minus(operand):
            return f"-({expression_text(operand, names)})"
        case FunctionCall():
            return call_text(expression, names)
        case Aggregate(function, argument, duplicates):
            inner = "*" if argument is None else expression_text(argument, names)
            return f"{function.value}({duplicates.value}{' ' * bool(duplicates.value)}{inner})"
        case Arithmetic(left, op, right):
            strength = _STRENGTH[op]
            # The operators associate to the left, so an equal one on the right needs brackets.
            first = _operand_text(left, strength, names)
            return f"{first} {op.value} {_operand_text(right, strength + 1, names)}"


def _operand_text(expression: Expression, strength: int, names: Names) -> str:
    text = expression_text(expression, names)
    weak = isinstance(expression, Arithmetic) and _STRENGTH[expression.op] < strength
    return f"({text})" if weak else text


def call_text(call: FunctionCall, names: Names) -> str:
    arguments = ", ".join(expression_text(argument, names) for argument in call.arguments)
    return f"{call.function.value}({arguments})"


def formula_text(formula: Formula, names: Names = NO_NAMES) -> str:
    match formula:
        case Comparison():
            return comparison_text(formula, names)
        case FunctionCall():
            return call_text(formula, names)
        case StatePattern(state, pattern):
            return f"GRAPH {state} {group_text(pattern, names)}"
        case And(parts):
            return " AND ".join(part_text(part, names) for part in parts)
        case Or(parts):
            return " OR ".join(part_text(part, names) for part in parts)
        case Not(part):
            return f"NOT {part_text(part, names)}"
        case IfThen(guard, then):
            return f"IF {part_text(guard, names)} THEN {part_text(then, names)}"
        case Quantified(body=body):
            return f"{quantifier_text(formula)} ({formula_text(body, names)})"
        case MacroCall(name, arguments):
            inner = ", ".join(argument_text(argument, names) for argument in arguments)
            return f"{name}({inner})"


def part_text(formula: Formula, names: Names) -> str:
    """`formula` as part of another, in brackets where it needs them."""
    text = formula_text(formula, names)
    return f"({text})" if needs_brackets(formula) else text


def needs_brackets(formula: Formula) -> bool:
    # More brackets than the grammar asks for: nobody should need to know what binds tighter.
    return isinstance(formula, And | Or | IfThen)


def comparison_text(comparison: Comparison, names: Names) -> str:
    op = "!=" if comparison.op is Op.NE else comparison.op.value
    left, right = comparison.left, comparison.right
    return f"{expression_text(left, names)} {op} {expression_text(right, names)}"


def quantifier_text(formula: Quantified) -> str:
    states = f"{formula.quantifier.value} {', '.join(formula.states)} IN {formula.sequence}"
    return " ".join([states, ", ".join(map(variable_text, formula.values))]).rstrip()


def argument_text(argument: Argument, names: Names) -> str:
    return argument.name if isinstance(argument, State) else term_text(argument, names)


def group_text(group: GroupPattern, names: Names = NO_NAMES) -> str:
    parts = [*pattern_texts(group.atoms, names), *filter_texts(group.filters, names)]
    return "{ " + " ".join(parts) + " }" if parts else "{ }"


def filter_texts(filters: Iterable[Formula], names: Names) -> list[str]:
    return [f"FILTER ({formula_text(condition, names)})" for condition in filters]


def pattern_texts(atoms: tuple[Atom, ...], names: Names) -> list[str]:
    """One text for each run of atoms with one subject; all but the last end with a full stop."""
    runs = [list(run) for _, run in groupby(atoms, key=subject_of)]
    texts = [run_text(run, names) for run in runs]
    return [f"{text} ." for text in texts[:-1]] + texts[-1:]


def run_text(run: list[Atom], names: Names) -> str:
    return f"{term_text(subject_of(run[0]), names)} " + " ; ".join(
        predicate_text(atom, names) for atom in run
    )


def predicate_text(atom: Atom, names: Names) -> str:
    match atom:
        case ClassAtom(iri):
            return f"a {names.iri(iri)}"
        case PropertyAtom(iri, _, object_):
            return f"{names.iri(iri)} {term_text(object_, names)}"


def subject_of(atom: Atom) -> RdfTerm:
    return atom.terms[0]
