"""Ontop's native mapping syntax (.obda) -> triples maps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from obda_bm.diagnostics import Diagnostic, MappingError, SourceText, Span, did_you_mean
from obda_bm.ir.mapping import SqlView, TriplesMap
from obda_bm.r2rml.mistakes import Mistake
from obda_bm.r2rml.obda_target import read_target

_SECTION = re.compile(r"^\s*\[(\w+)\]", re.MULTILINE)
_PREFIX = re.compile(r"^[ \t]*([\w\-.]*):[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(r"^[ \t]*(\w+)[ \t]+(?=\S)", re.MULTILINE)
_KEYS = ("mappingId", "target", "source")
_SECTIONS = ("PrefixDeclaration", "SourceDeclaration", "MappingDeclaration")
_DEFAULT_PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


@dataclass(frozen=True, slots=True)
class _Value:
    key: str
    span: Span

    @property
    def text(self) -> str:
        return self.span.text


def read_obda(source: SourceText, problems: list[Diagnostic]) -> Iterator[TriplesMap]:
    """The mappings of an .obda file, in order; problems are collected."""
    sections = dict(_sections(source, problems))
    declared = sections.get("PrefixDeclaration")
    found = _PREFIX.findall(declared.text) if declared else []
    prefixes = {**_DEFAULT_PREFIXES, **dict(found)}
    mappings = sections.get("MappingDeclaration")
    if mappings is None:
        hint = "Write [MappingDeclaration] @collection [[ … ]]."
        problems.append(
            Mistake.NO_TRIPLES_MAP.at(Span(source, 0, 0), "no [MappingDeclaration]", hint)
        )
        return
    for values in _blocks(mappings, problems):
        yield from _mappings(values, prefixes, problems)


def _sections(source: SourceText, problems: list[Diagnostic]) -> Iterator[tuple[str, Span]]:
    heads = list(_SECTION.finditer(source.text))
    ends = [*(head.start() for head in heads[1:]), len(source.text)]
    for head, end in zip(heads, ends, strict=False):
        if head[1] not in _SECTIONS:
            hint = did_you_mean(head[1], _SECTIONS) or f"Known: {', '.join(_SECTIONS)}."
            where = Span(source, head.start(1), head.end(1))
            message = f"unknown section [{head[1]}]"
            problems.append(Mistake.UNKNOWN_TERM.at(where, message, hint))
        yield head[1], Span(source, head.end(), end)


def _blocks(section: Span, problems: list[Diagnostic]) -> Iterator[list[_Value]]:
    """The values of each mapping: what stands between the brackets, cut at every mappingId."""
    text, source = section.source.text, section.source
    opening = text.find("[[", section.start, section.end)
    closing = text.rfind("]]", section.start, section.end)
    if opening < 0 or closing < opening:
        hint = "Write [MappingDeclaration] @collection [[, then the mappings, then ]]."
        where = Span(source, section.start, section.start)
        problems.append(Mistake.SYNTAX.at(where, "the mappings do not stand in [[ ]]", hint))
        return
    block: list[_Value] = []
    for value in _values(Span(source, opening + 2, closing), problems):
        if value.key == "mappingId" and block:
            yield block
            block = []
        block.append(value)
    if block:
        yield block


def _values(body: Span, problems: list[Diagnostic]) -> Iterator[_Value]:
    """`key value` entries; a value goes on until the next key or an empty line."""
    source = body.source
    at = body.start
    while at < body.end:
        line_end = source.text.find("\n", at, body.end)
        line_end = body.end if line_end < 0 else line_end
        entry = _ENTRY.match(source.text, at, line_end)
        if entry is None or entry[1] not in _KEYS:
            _check_line(source, at, line_end, problems)
            at = line_end + 1
            continue
        end = _value_end(source.text, line_end, body.end)
        trimmed = entry.end() + len(source.text[entry.end() : end].rstrip())
        yield _Value(entry[1], Span(source, entry.end(), trimmed))
        at = end + 1


def _value_end(text: str, line_end: int, body_end: int) -> int:
    while line_end < body_end:
        following = text.find("\n", line_end + 1, body_end)
        following = body_end if following < 0 else following
        line = text[line_end + 1 : following]
        entry = _ENTRY.match(line)
        key = entry is not None and entry[1] in _KEYS
        # A line that goes on with a value is indented; else a misspelt key would be SQL.
        if key or not line[:1].isspace() or not line.strip():
            return line_end
        line_end = following
    return line_end


def _check_line(source: SourceText, start: int, end: int, problems: list[Diagnostic]) -> None:
    line = source.text[start:end]
    if not line.strip() or line.lstrip().startswith("#"):
        return
    word = line.split()[0]
    hint = did_you_mean(word, _KEYS) or "Write mappingId, target or source, and its value."
    where = Span(source, start + line.index(word), start + line.index(word) + len(word))
    problems.append(Mistake.SYNTAX.at(where, f"unexpected {word!r}", hint))


def _mappings(
    values: list[_Value], prefixes: dict[str, str], problems: list[Diagnostic]
) -> Iterator[TriplesMap]:
    """One triples map per subject of the target."""
    by_key = {value.key: value for value in reversed(values)}
    if len(values) > len(by_key):
        again = next(v for i, v in enumerate(values) if v.key in {w.key for w in values[:i]})
        message, hint = f"a mapping with two entries {again.key!r}", "Start a new mappingId."
        problems.append(Mistake.TOO_MANY.at(again.span, message, hint))
        return
    missing = [key for key in _KEYS if key not in by_key]
    if missing:
        hint = "A mapping has a mappingId, a target and a source."
        message = f"a mapping without {' and '.join(missing)}"
        problems.append(Mistake.MISSING.at(values[0].span, message, hint))
        return
    target, source = by_key["target"], by_key["source"]
    try:
        found = read_target(target.span, prefixes)
    except MappingError as error:
        problems += error.diagnostics
        return
    id_, view = by_key["mappingId"], SqlView(source.text, source.span)
    for number, (subject, triples) in enumerate(found.items(), start=1):
        name = id_.text if number == 1 else f"{id_.text} ({number})"
        yield TriplesMap(name, view, subject, triples, id_.span)
