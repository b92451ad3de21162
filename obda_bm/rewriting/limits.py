"""How far a rewriting may go before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

from obda_bm.diagnostics import Diagnostic, RewritingError


@dataclass(frozen=True, slots=True)
class Limits:
    """A rewriting can be exponentially large; these say when it is too large to be of use."""

    atoms: int = 100
    explored: int = 20_000
    disjuncts: int = 50_000


def refuse_atoms(limits: Limits, found: int) -> RewritingError:
    message = f"the query has {found} atoms; the limit is {limits.atoms}"
    return RewritingError(Diagnostic("OBM661", message, hint="Split the query."))


def refuse_explored(limits: Limits) -> RewritingError:
    message = f"existential reasoning makes more than {limits.explored} queries"
    hint = "Ask for fewer variables that only join, or make some of them answer variables."
    return RewritingError(Diagnostic("OBM662", message, hint=hint))


def refuse_disjuncts(limits: Limits) -> RewritingError:
    message = f"the flat rewriting has more than {limits.disjuncts} queries"
    hint = "Take the compiled form, which leaves hierarchies folded: --compiled."
    return RewritingError(Diagnostic("OBM663", message, hint=hint))
