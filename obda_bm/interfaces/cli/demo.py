"""obda-bm demo: decide the bundled queries and show one of each kind in full."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from obda_bm.diagnostics import SourceText
from obda_bm.interfaces.cli import ExitCode
from obda_bm.pipeline import MAX_UNITS, Compiled, compile_sql, load_setting
from obda_bm.report.as_json import verdict_as_json
from obda_bm.sql import render_sql


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> ExitCode:
    folder = examples() / "turbines"
    setting = load_setting(folder / "obda.toml")
    compiled = [
        compile_sql(SourceText(path.name, path.read_text("utf-8")), setting)
        for path in sorted(folder.glob("*.sql"))
    ]
    if args.json:
        verdicts = {
            c.source.name: verdict_as_json(c.verdict, render_sql, MAX_UNITS) for c in compiled
        }
        print(json.dumps(verdicts, indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(map(_story, compiled)))
    return ExitCode.BOUNDED


def _story(compiled: Compiled) -> str:
    return f"== {compiled.source.name}\n{compiled.source.text}\n{compiled}"


def examples() -> Path:
    """The bundled examples: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[2]
    installed = package / "_examples"
    return installed if installed.is_dir() else package.parent / "examples"
