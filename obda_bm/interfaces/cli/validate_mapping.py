"""The mapping part of obda-bm validate: per triples map, with file and line."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from obda_bm.diagnostics import Diagnostic
from obda_bm.interfaces.cli.ontology import ontology_files
from obda_bm.interfaces.cli.validate import Findings
from obda_bm.ir.tbox import TBox
from obda_bm.ir.ucq import local_name
from obda_bm.mediation import check_mappings
from obda_bm.pipeline import load_ontology, load_setting
from obda_bm.report.as_json import Json
from obda_bm.unfolding import Finding


def validate_mapping(args: Namespace) -> Findings:
    """What is wrong or suspicious about the mappings that the setting names."""
    if args.setting is None:
        return Findings("mapping", "not checked; give --setting FILE, which names it")
    setting = load_setting(args.setting)
    if not setting.mappings:
        return Findings("mapping", "the setting names none")
    files = ontology_files(args)
    tbox = load_ontology(*files).tbox if files else TBox(())
    found = check_mappings(setting, tbox)
    summary = f"{len(setting.mappings)} files, {len(found)} reports"
    figures: dict[str, Json] = {"triples_maps": [finding.triples_map for finding in found]}
    return Findings("mapping", summary, tuple(map(_told, found)), figures)


def _told(finding: Finding) -> Diagnostic:
    """The problem, with the triples map that has it in its message."""
    problem = finding.diagnostic
    if not finding.triples_map:
        return problem
    return replace(problem, message=f"{problem.message} (in {local_name(finding.triples_map)})")
