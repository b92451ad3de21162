"""SpjUnion -> Verdict."""

from __future__ import annotations

from dataclasses import dataclass

from obda_bm.analysis.arasu2002 import arasu2002
from obda_bm.analysis.evaluate import execute
from obda_bm.analysis.reasons import (
    disagreements,
    reason_for,
    reasons_for_bounded,
    unsatisfiable,
)
from obda_bm.analysis.schiff2020 import schiff2020
from obda_bm.analysis.timeline import Windows, situation, violations
from obda_bm.analysis.violation import Violation
from obda_bm.analysis.windows import delayed_streams, expiring_streams
from obda_bm.analysis.witness import witnesses
from obda_bm.ir.spj import Semantics, SpjUnion
from obda_bm.ir.verdict import Bounded, Papers, Reason, Unbounded, Undecided, Verdict
from obda_bm.ir.witness import Evidence, Witness
from obda_bm.order.prepare import Branch, is_satisfiable, prepare
from obda_bm.order.streams import Timeline, merge_equal_times
from obda_bm.synopses import lay_out

CANDIDATES = 4
"""How many candidates the witness has that `assess` executes; `witness` builds larger ones."""

TRIES = 24
"""Violations for which a witness is tried, before the verdict is left open."""


@dataclass(frozen=True, slots=True)
class Finding:
    timeline: Timeline
    violation: Violation


@dataclass(frozen=True, slots=True)
class Decision:
    """What the criterion says: bounded if nothing was found against it."""

    branches: tuple[Branch, ...]
    windows: Windows
    findings: tuple[Finding, ...]

    @property
    def expiring(self) -> tuple[str, ...]:
        """Streams of which tuples are kept with their time, for as long as an interval says."""
        timelines = [merge_equal_times(branch.whole) for branch in self.branches]
        windowed = {s for t in timelines for s in expiring_streams(t, self.windows)}
        delayed = {s for t in timelines for s in delayed_streams(t)}
        return tuple(str(s) for s in sorted(windowed | delayed))


def assess(query: SpjUnion) -> Verdict:
    """Whether `query` can run forever in bounded memory, with a certificate either way."""
    papers = Papers(arasu2002(query), schiff2020(query))
    decision = decide(query)
    if decision.findings:
        return _not_bounded(query, papers, decision.findings)
    return _bounded(query, papers, decision)


def decide(query: SpjUnion) -> Decision:
    """The criterion alone, without certificates; windows are used only where they are needed."""
    branches = prepare(query)
    timelines = [merge_equal_times(part) for branch in branches for part in branch.parts]
    found = _findings(timelines, query.semantics, Windows.IGNORE)
    if not found or not any(expiring_streams(t, Windows.USE) for t in timelines):
        return Decision(branches, Windows.IGNORE, found)
    return Decision(branches, Windows.USE, _findings(timelines, query.semantics, Windows.USE))


def find_witness(query: SpjUnion, n: int) -> tuple[Witness, Evidence] | None:
    """A witness of `n` candidates that was executed against `query`, or None."""
    certified = _certify(query, decide(query).findings, n)
    return None if certified is None else certified[1:]


def _findings(
    timelines: list[Timeline], semantics: Semantics, windows: Windows
) -> tuple[Finding, ...]:
    return tuple(
        Finding(timeline, violation)
        for timeline in timelines
        for violation in violations(situation(timeline, windows), semantics)
    )


def _bounded(query: SpjUnion, papers: Papers, decision: Decision) -> Bounded:
    never = [unsatisfiable(b) for b in query.branches if not is_satisfiable(b)]
    return Bounded(
        query.semantics,
        papers,
        (
            *never,
            *(reasons_for_bounded(query.semantics) if decision.branches else ()),
            *disagreements(papers, bounded=True),
        ),
        lay_out(query).bound,
        decision.expiring,
    )


def _not_bounded(query: SpjUnion, papers: Papers, found: tuple[Finding, ...]) -> Verdict:
    certified = _certify(query, found, CANDIDATES)
    if certified is None:
        why = Reason(
            "witness",
            "THEORY 9",
            "no witness distinguishes the subsets of its candidates: nothing was proved",
        )
        return Undecided(query.semantics, papers, (*_reasons(found), why))
    shown, witness, evidence = certified
    why_not = disagreements(papers, bounded=False)
    ordered = (shown, *(f for f in found if f is not shown))
    return Unbounded(query.semantics, papers, (*_reasons(ordered), *why_not), witness, evidence)


def _certify(
    query: SpjUnion, found: tuple[Finding, ...], n: int
) -> tuple[Finding, Witness, Evidence] | None:
    """The first finding whose witness, executed against the whole query, holds."""
    for finding in found[:TRIES]:
        for witness in witnesses(query, finding.timeline, finding.violation, n):
            evidence = execute(query, witness)
            if evidence is not None:
                return finding, witness, evidence
    return None


def _reasons(found: tuple[Finding, ...]) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys(reason_for(f.timeline, f.violation) for f in found))
