"""Why a variable is not range-restricted, in words."""

from __future__ import annotations

from collections.abc import Iterable

from obda_bm.diagnostics import Diagnostic, did_you_mean
from obda_bm.ir.formula_text import variable_text
from obda_bm.ir.formulas import (
    Formula,
    IfThen,
    Not,
    Or,
    Quantified,
    Quantifier,
    StatePattern,
)
from obda_bm.ir.rdf import Variable
from obda_bm.syntax.mistakes import Mistake
from obda_bm.syntax.variables import (
    Occurrence,
    bound_in_group,
    free_occurrences,
    subformulas,
)

Known = Iterable[Variable]


def explain_unsafe(occurrence: Occurrence, formula: Formula | None, known: Known) -> Diagnostic:
    """The diagnostic for a variable that is needed at `occurrence` and bound nowhere."""
    variable = occurrence.variable
    message = f"{variable_text(variable)} is not bound here"
    reason = _reason(variable, formula, known)
    return Mistake.UNSAFE.at(occurrence.span, message, reason)


def _reason(variable: Variable, formula: Formula | None, known: Known) -> str:
    text = variable_text(variable)
    inside = list(subformulas(formula)) if formula is not None else []
    quantified = [f for f in inside if isinstance(f, Quantified) and variable in f.values]
    if quantified:
        name = quantified[0].quantifier.value
        return f"{name} quantifies {text}, so it has no value outside; take it off the list there."
    patterns = [f for f in inside if isinstance(f, StatePattern)]
    if not any(variable in bound_in_group(p.pattern) for p in patterns):
        near = did_you_mean(text, map(variable_text, known))
        hint = f"No pattern mentions {text}; add one in WHERE or GRAPH that does."
        return f"{near} {hint}" if near else hint
    return _reason_in_patterns(variable, inside)


def _reason_in_patterns(variable: Variable, inside: list[Formula]) -> str:
    text = variable_text(variable)
    around = [f for f in inside if any(o.variable == variable for o in free_occurrences(f))]
    if any(isinstance(f, Not) for f in around):
        return (
            f"{text} occurs under NOT, which gives no values; quantify it there or bind it outside."
        )
    if any(isinstance(f, Quantified) and f.quantifier is Quantifier.FORALL for f in around):
        hint = "bind it in WHERE, or write FORALL ... (IF GRAPH ... THEN ...)."
        return f"{text} occurs under FORALL, which gives no values; {hint}"
    if any(isinstance(f, IfThen) for f in around):
        return f"{text} occurs under IF, which gives no values; bind it in WHERE."
    if any(isinstance(f, Or) for f in around):
        return f"Only some branches of OR bind {text}; bind it in each, or in WHERE."
    return f"The pattern that binds {text} is out of reach here; bind it in WHERE."


def explain_unused(variable: Variable, formula: Quantified) -> Diagnostic:
    """The diagnostic for a quantified variable that the body does not bind."""
    text = variable_text(variable)
    occurrences = [o for o in free_occurrences(formula.body) if o.variable == variable]
    span = occurrences[0].span if occurrences else formula.span
    if not occurrences:
        message = f"{text} is quantified, but not used"
        return Mistake.UNSAFE.at(span, message, f"Remove {text} from the list.")
    if formula.quantifier is Quantifier.FORALL:
        hint = f"FORALL needs a guard that binds {text}: IF GRAPH i {{ ... {text} }} THEN ..."
    else:
        hint = (
            f"Add a GRAPH pattern with {text} that is not under NOT, nor in one branch of OR only."
        )
    return Mistake.UNSAFE.at(span, f"{text} is not bound by {formula.quantifier.value}", hint)
