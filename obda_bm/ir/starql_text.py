"""The canonical text of STARQL documents, one clause on each line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from obda_bm.diagnostics import Span
from obda_bm.ir.formula_text import (
    NO_NAMES,
    Names,
    duration_text,
    expression_text,
    formula_text,
    group_text,
    variable_text,
)
from obda_bm.ir.formulas import Aggregate, Formula, FunctionCall, GroupPattern, Operand
from obda_bm.ir.starql import (
    AggregateMacro,
    Construct,
    Declaration,
    Output,
    OutputStream,
    Prefix,
    Pulse,
    PulseName,
    Resource,
    Select,
    SelectItem,
    SequenceBy,
    SourceStream,
    StarqlDocument,
    StarqlQuery,
    Window,
)

__all__ = ["NO_NAMES", "Clause", "Names", "declaration_clauses", "document_text", "query_clauses"]

ClausePart = Output | Pulse | GroupPattern | Formula | tuple[SourceStream, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """A line of canonical text, where it came from, and what a formatter may break.

    `head` is the part of the text before `part`.
    """

    text: str
    span: Span | None
    head: str = ""
    part: ClausePart | None = None


def document_text(document: StarqlDocument) -> str:
    names = Names(document.prefixes, document.base)
    lines = [clause.text for clause in prologue_clauses(document)]
    for declaration in document.declarations:
        lines += ["", *(clause.text for clause in declaration_clauses(declaration, names))]
    return "\n".join(lines).strip("\n") + "\n"


def prologue_clauses(document: StarqlDocument) -> Iterator[Clause]:
    if document.base:
        yield Clause(f"BASE <{document.base}>", None)
    for prefix in document.prefixes:
        yield Clause(prefix_text(prefix), prefix.span)


def prefix_text(prefix: Prefix) -> str:
    return f"PREFIX {prefix.name}: <{prefix.namespace}>"


def declaration_clauses(declaration: Declaration, names: Names) -> Iterator[Clause]:
    match declaration:
        case Pulse(name):
            head = f"CREATE PULSE {name}".rstrip() + " WITH "
            text = head + ", ".join(pulse_settings(declaration))
            yield Clause(text, declaration.span, head, declaration)
        case AggregateMacro(name, parameters, body):
            head = f"CREATE AGGREGATE {name} ({', '.join(parameters)}) AS "
            yield Clause(head + formula_text(body, names), declaration.span, head, body)
        case OutputStream(name, query):
            if name:
                yield Clause(f"CREATE STREAM {name} AS", declaration.span)
            yield from query_clauses(query, names)


def query_clauses(query: StarqlQuery, names: Names) -> Iterator[Clause]:
    """The clauses of `query` in their usual order."""
    yield output_clause(query.output, names)
    if query.streams:
        text = "FROM STREAM " + ", ".join(map(stream_text, query.streams))
        yield Clause(text, query.streams[0].span, "FROM STREAM ", query.streams)
    yield from (resource_clause("STATIC DATA", r, names) for r in query.static_data)
    yield from (resource_clause("ONTOLOGY", r, names) for r in query.ontologies)
    if query.pulse:
        yield using_clause(query.pulse)
    if query.where:
        text = f"WHERE {group_text(query.where, names)}"
        yield Clause(text, query.where.span, "WHERE ", query.where)
    if query.sequence:
        yield Clause(sequence_text(query.sequence), query.sequence.span)
    yield from condition_clauses(query, names)


def condition_clauses(query: StarqlQuery, names: Names) -> Iterator[Clause]:
    if query.having:
        text = f"HAVING {formula_text(query.having, names)}"
        yield Clause(text, query.having.span, "HAVING ", query.having)
    if query.group_by:
        variables = ", ".join(map(variable_text, query.group_by.variables))
        yield Clause(f"GROUP BY {variables}", query.group_by.span)
    if query.having_aggregate:
        head, formula = "HAVING AGGREGATE ", query.having_aggregate
        yield Clause(head + formula_text(formula, names), formula.span, head, formula)


def output_clause(output: Output, names: Names) -> Clause:
    match output:
        case Select(items, duplicates):
            head = f"SELECT {duplicates.value}".rstrip() + " "
            text = " ".join(item_text(item, names) for item in items)
            return Clause(f"{head}{{ {text} }}", output.span, head, output)
        case Construct(atoms):
            head = "CONSTRUCT GRAPH NOW "
            text = group_text(GroupPattern(atoms), names)
            return Clause(head + text, output.span, head, output)


def item_text(item: SelectItem, names: Names) -> str:
    text = expression_text(item.expression, names)
    if item.alias is None:
        return text
    plain = isinstance(item.expression, Operand | Aggregate | FunctionCall)
    return f"{text if plain else f'({text})'} AS {variable_text(item.alias)}"


def stream_text(stream: SourceStream) -> str:
    slack = f"WITH SLACK {duration_text(stream.slack)}" if stream.slack else ""
    window = window_text(stream.window) if stream.window else ""
    return " ".join(part for part in (stream.name, window, slack) if part)


def window_text(window: Window) -> str:
    end = f"NOW - {duration_text(window.end)}" if window.end.microseconds else "NOW"
    slide = f" -> {duration_text(window.slide)}" if window.slide else ""
    return f"[NOW - {duration_text(window.begin)}, {end}]{slide}"


def resource_clause(keyword: str, resource: Resource, names: Names) -> Clause:
    reference = resource.reference
    text = reference if isinstance(reference, str) else names.iri(reference.value)
    return Clause(f"{keyword} {text}", resource.span)


def using_clause(pulse: Pulse | PulseName) -> Clause:
    match pulse:
        case PulseName(name):
            return Clause(f"USING PULSE {name}", pulse.span)
        case Pulse():
            head = "USING PULSE WITH "
            return Clause(head + ", ".join(pulse_settings(pulse)), pulse.span, head, pulse)


def pulse_settings(pulse: Pulse) -> list[str]:
    settings = [
        f"START = {timestamp_text(pulse.start)}" if pulse.start else "",
        f"END = {timestamp_text(pulse.end)}" if pulse.end else "",
        f"FREQUENCY = {duration_text(pulse.frequency)}" if pulse.frequency else "",
    ]
    return list(filter(None, settings))


def timestamp_text(time: datetime) -> str:
    return f'"{iso_text(time)}"^^xsd:dateTime'


def iso_text(time: datetime) -> str:
    """`time` as XML Schema writes it.

    >>> iso_text(datetime.fromisoformat("2026-01-31T12:00:00+00:00"))
    '2026-01-31T12:00:00Z'
    """
    return time.isoformat().replace("+00:00", "Z")


def sequence_text(sequence: SequenceBy) -> str:
    return f"SEQUENCE BY {sequence.method} AS {sequence.name}"
