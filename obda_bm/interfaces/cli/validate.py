"""obda-bm validate: what is wrong with an ontology, or left aside of it, axiom by axiom."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, field

from obda_bm.diagnostics import Diagnostic, ObdaError, Severity
from obda_bm.interfaces.cli import ExitCode
from obda_bm.interfaces.cli.ontology import add_ontology_arguments, read_named_ontology
from obda_bm.interfaces.cli.query import print_json
from obda_bm.report.as_json import Json, diagnostics_as_json


@dataclass(frozen=True, slots=True)
class Findings:
    """What one part of the validation has to say: a line of summary, problems, and figures."""

    part: str
    summary: str
    diagnostics: tuple[Diagnostic, ...] = ()
    figures: dict[str, Json] = field(default_factory=dict)


def add_arguments(parser: ArgumentParser) -> None:
    add_ontology_arguments(parser)
    parser.add_argument(
        "--violations",
        action="store_true",
        help="print the queries whose answers show an inconsistent database",
    )


def run(args: Namespace) -> ExitCode:
    found = [_guarded(part, args) for part in PARTS]
    if args.json:
        print_json(_as_json(found))
    else:
        for findings in found:
            _print(findings)
    problems = (d for findings in found for d in findings.diagnostics)
    wrong = any(d.severity is Severity.ERROR for d in problems)
    return ExitCode.ERROR if wrong else ExitCode.BOUNDED


def validate_ontology(args: Namespace) -> Findings:
    """What the ontology has that OWL 2 QL has not; how data can contradict it, if asked for."""
    ontology = read_named_ontology(args)
    used, unused = len(ontology.tbox.axioms), len(ontology.diagnostics)
    summary = f"{ontology.statements} axioms, {used} inclusions in normal form, {unused} reports"
    figures: dict[str, Json] = {"axioms": ontology.statements, "inclusions": used}
    if args.violations:
        from obda_bm.rewriting import violations

        queries = {str(v.axiom): str(v.rewriting) for v in violations(ontology.tbox)}
        figures["violations"] = queries
        summary += "".join(f"\n# {axiom}\n{query}" for axiom, query in queries.items())
    return Findings("ontology", summary, ontology.diagnostics, figures)


def validate_mapping(args: Namespace) -> Findings:
    """What is wrong or suspicious about the mappings of the setting."""
    from obda_bm.interfaces.cli import validate_mapping as part

    return part.validate_mapping(args)


PARTS: tuple[Callable[[Namespace], Findings], ...] = (validate_ontology, validate_mapping)


def _guarded(part: Callable[[Namespace], Findings], args: Namespace) -> Findings:
    """The findings of `part`; what stops it is one, too."""
    try:
        return part(args)
    except ObdaError as error:
        name = part.__name__.removeprefix("validate_")
        return Findings(name, f"{len(error.diagnostics)} errors", error.diagnostics)


def _print(findings: Findings) -> None:
    for diagnostic in findings.diagnostics:
        print(diagnostic.render())
        print()
    print(f"{findings.part}: {findings.summary}")


def _as_json(found: list[Findings]) -> Json:
    return {
        findings.part: {**findings.figures, **diagnostics_as_json(findings.diagnostics)}
        for findings in found
    }
