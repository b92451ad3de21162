"""Inclusions between datatypes, which hold whether or not an ontology says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obda_bm.ir.rdf import XSD
from obda_bm.ir.tbox import Named, SubClassOf

_REAL = "http://www.w3.org/2002/07/owl#real"
_RATIONAL = "http://www.w3.org/2002/07/owl#rational"
_ABOVE = {
    _RATIONAL: _REAL,
    XSD + "decimal": _RATIONAL,
    XSD + "integer": XSD + "decimal",
    XSD + "nonNegativeInteger": XSD + "integer",
    XSD + "positiveInteger": XSD + "nonNegativeInteger",
    XSD + "unsignedLong": XSD + "nonNegativeInteger",
    XSD + "unsignedInt": XSD + "unsignedLong",
    XSD + "unsignedShort": XSD + "unsignedInt",
    XSD + "unsignedByte": XSD + "unsignedShort",
    XSD + "nonPositiveInteger": XSD + "integer",
    XSD + "negativeInteger": XSD + "nonPositiveInteger",
    XSD + "long": XSD + "integer",
    XSD + "int": XSD + "long",
    XSD + "short": XSD + "int",
    XSD + "byte": XSD + "short",
    XSD + "normalizedString": XSD + "string",
    XSD + "token": XSD + "normalizedString",
    XSD + "language": XSD + "token",
    XSD + "Name": XSD + "token",
    XSD + "NCName": XSD + "Name",
    XSD + "NMTOKEN": XSD + "token",
    XSD + "dateTimeStamp": XSD + "dateTime",
}


def datatype_inclusions(mentioned: Iterable[str]) -> Iterator[SubClassOf]:
    """What lies above the datatypes in `mentioned`, step by step.

    >>> [str(inclusion) for inclusion in datatype_inclusions([XSD + "long"])]
    ['long ⊑ integer', 'integer ⊑ decimal', 'decimal ⊑ rational', 'rational ⊑ real']
    """
    done: set[str] = set()
    for datatype in sorted(mentioned):
        while datatype in _ABOVE and datatype not in done:
            done.add(datatype)
            yield SubClassOf(Named(datatype), Named(_ABOVE[datatype]))
            datatype = _ABOVE[datatype]  # noqa: PLW2901
