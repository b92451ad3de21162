"""Replace variables, states, properties and sequences throughout a formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from obda_bm.ir.formulas import (
    DURATION,
    Aggregate,
    And,
    Argument,
    Arithmetic,
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
    conjunction,
    disjunction,
)
from obda_bm.ir.rdf import Iri, Literal, RdfTerm, Variable
from obda_bm.ir.ucq import Atom, ClassAtom, PropertyAtom
from obda_bm.syntax.times import parse_duration


@dataclass(frozen=True, slots=True)
class Substitution:
    """What takes the place of what; whatever is not named stays."""

    terms: Mapping[Variable, Argument] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    sequences: Mapping[str, str] = field(default_factory=dict)

    def state(self, name: str) -> str:
        return self.states.get(name, name)

    def term(self, term: RdfTerm) -> RdfTerm:
        """The term for `term`; a state cannot stand in a pattern, so it leaves the term alone."""
        new = self.terms.get(term, term) if isinstance(term, Variable) else term
        return term if isinstance(new, State) else new

    def argument(self, argument: Argument) -> Argument:
        match argument:
            case State(name, span):
                return State(self.state(name), span)
            case Variable():
                return self.terms.get(argument, argument)
            case _:
                return argument

    def iri(self, iri: str) -> str:
        new = self.terms.get(Variable(iri))
        return new.value if isinstance(new, Iri) else iri


def substitute(formula: Formula, new: Substitution) -> Formula:
    """`formula` with every part replaced that `new` names, bound or not."""
    match formula:
        case Comparison(left, _, right):
            return replace(formula, left=in_value(left, new), right=in_value(right, new))
        case FunctionCall(_, arguments):
            return replace(formula, arguments=tuple(in_value(a, new) for a in arguments))
        case StatePattern(state, pattern):
            return replace(formula, state=new.state(state), pattern=in_group(pattern, new))
        case And(parts):
            return conjunction(tuple(substitute(p, new) for p in parts), formula.span)
        case Or(parts):
            return disjunction(tuple(substitute(p, new) for p in parts), formula.span)
        case Not(part):
            return replace(formula, part=substitute(part, new))
        case IfThen(guard, then):
            guard, then = substitute(guard, new), substitute(then, new)
            return replace(formula, guard=guard, consequence=then)
        case Quantified():
            return _in_quantified(formula, new)
        case MacroCall(_, arguments=arguments):
            return replace(formula, arguments=tuple(map(new.argument, arguments)))


def _in_quantified(formula: Quantified, new: Substitution) -> Quantified:
    values = (new.term(value) for value in formula.values)
    return replace(
        formula,
        states=tuple(map(new.state, formula.states)),
        sequence=new.sequences.get(formula.sequence.casefold(), formula.sequence),
        values=tuple(value for value in values if isinstance(value, Variable)),
        body=substitute(formula.body, new),
    )


def in_value(expression: Expression, new: Substitution) -> Expression:
    match expression:
        case Operand(Variable() as variable):
            return _operand(expression, new.terms.get(variable, variable))
        case State(name):
            return replace(expression, name=new.state(name))
        case Arithmetic(left, _, right):
            return replace(expression, left=in_value(left, new), right=in_value(right, new))
        case Minus(operand):
            return replace(expression, operand=in_value(operand, new))
        case FunctionCall(_, arguments):
            return replace(expression, arguments=tuple(in_value(a, new) for a in arguments))
        case Aggregate(_, argument) if argument is not None:
            return replace(expression, argument=in_value(argument, new))
        case Operand() | Duration() | Aggregate():
            return expression


def _operand(old: Operand, argument: Argument) -> Expression:
    match argument:
        case State(name):
            return State(name, old.span)
        case Literal(lexical, datatype) if datatype == DURATION:
            return Duration(parse_duration(lexical), old.span)
        case _:
            return replace(old, term=argument)


def in_group(group: GroupPattern, new: Substitution) -> GroupPattern:
    atoms = tuple(in_atom(atom, new) for atom in group.atoms)
    filters = tuple(substitute(condition, new) for condition in group.filters)
    return replace(group, atoms=atoms, filters=filters)


def in_atom(atom: Atom, new: Substitution) -> Atom:
    match atom:
        case ClassAtom(iri, term):
            return replace(atom, iri=new.iri(iri), term=new.term(term))
        case PropertyAtom(iri, subject, object_):
            first, second = new.term(subject), new.term(object_)
            return replace(atom, iri=new.iri(iri), subject=first, object=second)
