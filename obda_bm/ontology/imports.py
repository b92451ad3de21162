"""owl:imports, followed on this machine only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from rdflib import OWL, RDF, URIRef

from obda_bm.diagnostics import Diagnostic, OntologyError, SourceText
from obda_bm.ontology.mistakes import Mistake
from obda_bm.ontology.parse import Document, read_document
from obda_bm.ontology.positions import place_of, subject_places
from obda_bm.ontology.xml_guard import check_entities

CATALOG = "catalog-v001.xml"
"""The catalog that Protégé writes: which IRI lies in which file."""

MAX_FILES = 200
_SUFFIXES = ("", ".ttl", ".owl", ".rdf", ".owx", ".nt", ".jsonld")


def read_with_imports(paths: Iterable[Path]) -> tuple[list[Document], list[Diagnostic]]:
    """The documents at `paths` and all that they import, each once, and the imports not found.

    Raises:
        OntologyError: if a file cannot be read, or there are too many of them.
    """
    waiting = [path.resolve() for path in paths]
    found: dict[Path, Document] = {}
    missing: list[tuple[Document, str]] = []
    while waiting:
        path = waiting.pop(0)
        if path in found:
            continue
        if len(found) == MAX_FILES:
            raise _too_many(path)
        found[path] = document = read_document(path)
        for iri in imported(document):
            target = locate(iri, path.parent)
            if target is None:
                missing.append((document, iri))
            else:
                waiting.append(target.resolve())
    names = {name for document in found.values() for name in _names(document)}
    problems = [_not_found(document, iri) for document, iri in missing if iri not in names]
    return list(found.values()), problems


def imported(document: Document) -> Iterator[str]:
    """The IRIs that `document` imports."""
    objects = document.graph.objects(None, OWL.imports)
    yield from sorted({str(o) for o in objects if isinstance(o, URIRef)})


def locate(iri: str, folder: Path) -> Path | None:
    """The file beside the importing one that the catalog, or its name, says to be `iri`."""
    entry = _catalog(folder).get(iri)
    candidates = [] if entry is None else [folder / entry]
    parts = urlsplit(iri)
    if parts.scheme == "file":
        candidates.append(Path(unquote(parts.path)))
    last = unquote(parts.path.rstrip("/")).rsplit("/", 1)[-1]
    if last and "\0" not in last:
        candidates += [folder / (last + suffix) for suffix in _SUFFIXES]
    return next((path for path in candidates if path.is_file()), None)


def _catalog(folder: Path) -> dict[str, str]:
    path = folder / CATALOG
    if not path.is_file():
        return {}
    try:
        text = path.read_bytes().decode("utf-8-sig")
        check_entities(SourceText(path.name, text))
        root = ElementTree.fromstring(text)
    except (OSError, ValueError, ElementTree.ParseError) as error:
        message = f"cannot read the catalog {str(path)!r}"
        raise OntologyError(Mistake.MALFORMED.at(None, message, f"Repair it: {error}.")) from None
    entries = (e for e in root.iter() if e.tag.endswith("uri"))
    pairs = ((e.get("name", ""), e.get("uri", "")) for e in entries)
    return {name: uri for name, uri in pairs if "://" not in uri and "\0" not in uri}


def _names(document: Document) -> Iterator[str]:
    graph = document.graph
    for ontology in graph.subjects(RDF.type, OWL.Ontology):
        yield str(ontology)
        yield from map(str, graph.objects(ontology, OWL.versionIRI))


def _not_found(document: Document, iri: str) -> Diagnostic:
    span = place_of(iri, subject_places(document.source), document.source)
    found = document.source.text.find(iri)
    if found >= 0:
        span = type(span)(document.source, found, found + len(iri))
    hint = f"Nothing is fetched from the network: save it here and name it in {CATALOG}."
    return Mistake.IMPORT.warn(span, f"the imported ontology <{iri}> is not here", hint)


def _too_many(path: Path) -> OntologyError:
    message = f"more than {MAX_FILES} ontology files, with {path.name!r}"
    return OntologyError(Mistake.TOO_LARGE.at(None, message, "Merge them into one file."))
