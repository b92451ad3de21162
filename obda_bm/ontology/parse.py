"""A file -> its triples, with nothing fetched and nothing expanded without bound."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from warnings import catch_warnings, simplefilter
from xml.sax import SAXException

from rdflib import Dataset, Graph
from rdflib.exceptions import ParserError as RdfParserError
from rdflib.plugins.parsers.notation3 import BadSyntax
from rdflib.plugins.parsers.ntriples import ParseError  # type: ignore[attr-defined]

from obda_bm.diagnostics import Diagnostic, OntologyError, SourceText, Span
from obda_bm.ontology.mistakes import Mistake
from obda_bm.ontology.syntaxes import Syntax, detect_syntax
from obda_bm.ontology.xml_guard import check_entities

MAX_BYTES = 64 * 1024 * 1024

# rdflib logs odd IRIs and literals, with tracebacks; without a handler that goes to the terminal.
logging.getLogger("rdflib").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Document:
    """One ontology file: its text, its triples, and what its reader could not take in."""

    path: Path
    source: SourceText
    graph: Graph
    unread: tuple[Diagnostic, ...] = ()


def read_document(path: Path) -> Document:
    """The ontology file `path`, in any RDF syntax or OWL/XML.

    Raises:
        OntologyError: if it cannot be read, is too large, malformed, or not safe to read.
    """
    source = _read_text(path)
    syntax = detect_syntax(path, source.text)
    match syntax:
        case Syntax.FUNCTIONAL | Syntax.MANCHESTER:
            raise _unsupported(source, syntax)
        case Syntax.OWL_XML:
            from obda_bm.ontology.owl_xml import read_owl_xml

            check_entities(source)
            graph, unread = read_owl_xml(source)
            return Document(path, source, graph, unread)
        case Syntax.RDF_XML:
            check_entities(source)
        case Syntax.JSON_LD:
            _check_contexts(source)
        case _:
            pass
    return Document(path, source, _parse(path, source, syntax))


def _read_text(path: Path) -> SourceText:
    try:
        if not path.is_file():
            reason = "it is not a file" if path.exists() else "no such file"
            raise _unreadable(path, reason)
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise _too_large(path, size)
        return SourceText(path.name, path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        # The parsers below take text, which keeps one decoding, and positions, for all of them.
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise _unreadable(path, why or "it cannot be opened") from None


def _parse(path: Path, source: SourceText, syntax: Syntax) -> Graph:
    try:
        with catch_warnings():
            # rdflib's own parsers use what rdflib deprecates.
            simplefilter("ignore", DeprecationWarning)
            return _triples(path, source, syntax)
    except (BadSyntax, ParseError, RdfParserError, SAXException) as error:
        raise _malformed(source, error) from None
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError) as error:
        # rdflib's parsers let these escape on malformed input.
        raise _malformed(source, error) from None
    except RecursionError:
        raise _too_deep(source) from None


def _triples(path: Path, source: SourceText, syntax: Syntax) -> Graph:
    """The triples of all graphs in the file, as one."""
    named = syntax in (Syntax.TRIG, Syntax.NQUADS)
    parsed = Dataset(default_union=True) if named else Graph()
    parsed.parse(data=source.text, format=syntax.value, publicID=path.resolve().as_uri())
    if not named:
        return parsed
    graph = Graph()
    for triple in parsed.triples((None, None, None)):
        graph.add(triple)
    return graph


def _check_contexts(source: SourceText) -> None:
    """Nothing, if no `@context` is to be fetched from somewhere."""
    try:
        document = json.loads(source.text)
        remote = next(_remote_contexts(document), None)
    except ValueError as error:
        raise _malformed(source, error) from None
    except RecursionError:
        raise _too_deep(source) from None
    if remote is not None:
        start = max(source.text.find(json.dumps(remote)), 0)
        message = f"the context {remote!r} would have to be fetched"
        hint = "Nothing is fetched from the network: write the context into the file."
        raise OntologyError(
            Mistake.REMOTE_CONTEXT.at(Span(source, start, start + 1), message, hint)
        )


def _remote_contexts(value: object) -> Iterator[str]:
    match value:
        case dict():
            for key, member in value.items():
                if key in ("@context", "@import"):
                    yield from _names(member)
                yield from _remote_contexts(member)
        case list():
            for member in value:
                yield from _remote_contexts(member)


def _names(context: object) -> Iterator[str]:
    members = context if isinstance(context, list) else [context]
    yield from (member for member in members if isinstance(member, str))


def _malformed(source: SourceText, error: BaseException) -> OntologyError:
    line = getattr(error, "lines", None)
    if line is None and hasattr(error, "getLineNumber"):
        line = error.getLineNumber() - 1
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    message = f"the file is malformed: {_short(first)}"
    span = _line_span(source, line if isinstance(line, int) else 0)
    return OntologyError(Mistake.MALFORMED.at(span, message, "Repair it, or export it again."))


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."


def _line_span(source: SourceText, line: int) -> Span:
    lines = source.text.split("\n")
    line = min(max(line, 0), len(lines) - 1)
    start = sum(len(before) + 1 for before in lines[:line])
    return Span(source, start, start + max(len(lines[line]), 1))


def _too_deep(source: SourceText) -> OntologyError:
    message = "the file is nested too deeply"
    hint = "Write nested blank nodes one after another."
    return OntologyError(Mistake.MALFORMED.at(Span(source, 0, 1), message, hint))


def _unreadable(path: Path, reason: str) -> OntologyError:
    message = f"cannot read the ontology {str(path)!r}: {reason}"
    return OntologyError(Mistake.UNREADABLE.at(None, message, "Give the path of an OWL file."))


def _too_large(path: Path, size: int) -> OntologyError:
    message = f"the ontology {str(path)!r} has {size} bytes; the limit is {MAX_BYTES}"
    return OntologyError(Mistake.TOO_LARGE.at(None, message, "Split it, or leave out the data."))


def _unsupported(source: SourceText, syntax: Syntax) -> OntologyError:
    message = f"{syntax.value} is not read"
    hint = "Convert it to Turtle, RDF/XML or OWL/XML, for example with Protégé or ROBOT."
    return OntologyError(Mistake.UNKNOWN_FORMAT.at(Span(source, 0, 1), message, hint))
