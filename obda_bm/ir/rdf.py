"""RDF terms, and the variables that range over them."""

from __future__ import annotations

from dataclasses import dataclass

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
STRING = XSD + "string"


@dataclass(frozen=True, slots=True, order=True)
class Iri:
    value: str

    def __str__(self) -> str:
        return f"<{self.value}>"


@dataclass(frozen=True, slots=True, order=True)
class Literal:
    """A lexical form with its datatype; a language tag goes with `rdf:langString` only."""

    lexical: str
    datatype: str = STRING
    language: str = ""

    def __post_init__(self) -> None:
        if bool(self.language) != (self.datatype == RDF + "langString"):
            raise ValueError(f"a language tag goes with rdf:langString only: {self}")

    def __str__(self) -> str:
        escaped = self.lexical.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        escaped = escaped.replace("\r", "\\r")
        if self.language:
            return f'"{escaped}"@{self.language}'
        return f'"{escaped}"' + ("" if self.datatype == STRING else f"^^<{self.datatype}>")


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


RdfTerm = Variable | Iri | Literal

_OTHER_DATATYPES = frozenset(
    (
        "http://www.w3.org/2000/01/rdf-schema#Literal",
        RDF + "PlainLiteral",
        RDF + "XMLLiteral",
        RDF + "langString",
        "http://www.w3.org/2002/07/owl#real",
        "http://www.w3.org/2002/07/owl#rational",
    )
)


def is_datatype(iri: str) -> bool:
    """Whether `iri` names a datatype of OWL rather than a class.

    >>> is_datatype(XSD + "integer"), is_datatype("http://example.org/Pump")
    (True, False)
    """
    return iri.startswith(XSD) or iri in _OTHER_DATATYPES
