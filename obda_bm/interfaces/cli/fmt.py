"""obda-bm fmt FILE...: the usual layout of STARQL; prints it, checks it or writes it back."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from obda_bm.diagnostics import Diagnostic, ObdaError, SourceText
from obda_bm.interfaces.cli.query import print_json
from obda_bm.report.as_json import Json, diagnostics_as_json
from obda_bm.syntax import format_starql

STDIN = "<stdin>"


class Outcome(IntEnum):
    """The exit code: 1 only says that `--check` found something to do."""

    DONE = 0
    WOULD_CHANGE = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Formatted:
    source: SourceText
    text: str

    @property
    def changed(self) -> bool:
        return self.text != self.source.text


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", help="a .starql file, or - for standard input")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="exit 1 if a file would change")
    how.add_argument("--write", action="store_true", help="write the files back")
    add("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> Outcome:
    done: list[Formatted] = []
    diagnostics: list[Diagnostic] = []
    for name in args.files:
        try:
            source = read_file(name)
            done.append(Formatted(source, format_starql(source)))
        except ObdaError as error:
            diagnostics += error.diagnostics
    diagnostics += _write(done) if args.write else []
    _show(args, done, diagnostics)
    if diagnostics:
        return Outcome.ERROR
    return Outcome.WOULD_CHANGE if args.check and _changed(done) else Outcome.DONE


def _changed(done: list[Formatted]) -> list[Formatted]:
    return [one for one in done if one.changed]


def _write(done: list[Formatted]) -> list[Diagnostic]:
    """Write back what changed; what cannot be written is said."""
    problems = []
    for one in _changed(done):
        if one.source.name == STDIN:
            hint = "Leave --write out to print the text."
            problems.append(Diagnostic("OBM001", "standard input cannot be written", hint=hint))
            continue
        try:
            Path(one.source.name).write_text(one.text, "utf-8", newline="\n")
        except OSError as error:
            hint = "Check that the file may be written."
            message = f"cannot write {one.source.name!r}: {error.strerror}"
            problems.append(Diagnostic("OBM001", message, hint=hint))
    return problems


def _show(args: Namespace, done: list[Formatted], diagnostics: list[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        print(diagnostic.render(), file=sys.stderr)
    if args.json:
        files: list[Json] = [{"file": one.source.name, "changed": one.changed} for one in done]
        print_json({"files": files, **diagnostics_as_json(tuple(diagnostics))})
    elif args.check or args.write:
        word = "wrote" if args.write else "would change"
        for one in _changed(done):
            print(f"{word} {one.source.name}", file=sys.stderr)
    else:
        print("".join(one.text for one in done), end="")


def read_file(name: str) -> SourceText:
    """The text of a STARQL file, or of standard input."""
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return SourceText(STDIN if name == "-" else name, raw.decode("utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        hint = "Give the path of a .starql file, or - for standard input."
        raise ObdaError(
            Diagnostic("OBM001", f"cannot read {name!r}: {reason}", hint=hint)
        ) from None
