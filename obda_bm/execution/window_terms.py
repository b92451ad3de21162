"""The terms of one window as numbers, and what is asked about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from obda_bm.execution.oneshot.values import Resource
from obda_bm.ir.lexical import NUMERIC_DATATYPES, read_instant
from obda_bm.ir.rdf import RDF, STRING, XSD, Literal
from obda_bm.ir.window_plan import Facet

Ids = npt.NDArray[np.int64]
_FAMILY = 1 << 32
_RESOURCE, _OPAQUE = "resource", "opaque"
_FLOATS = {XSD + "double", XSD + "float"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Terms:
    """The terms met in a window; a term's number is its place."""

    met: list[Resource] = field(default_factory=list)
    places: dict[Resource, int] = field(default_factory=dict)

    def number(self, term: Resource) -> int:
        place = self.places.setdefault(term, len(self.met))
        if place == len(self.met):
            self.met.append(term)
        return place


def orders(terms: Iterable[Resource]) -> Ids:
    """For each term its family and its rank there, as one number; equal values have equal ranks.

    Terms compare only within their family. Things come first, which have no order, then literals
    of datatypes without one. Ranks are exact: Python compares integers, decimals and doubles so.
    """
    keys = [_key(term) for term in terms]
    families: dict[str, set[Any]] = {_RESOURCE: set(), _OPAQUE: set()}
    for family, value in keys:
        families.setdefault(family, set()).add(value)
    ranks = {
        family: {value: n * _FAMILY + rank for rank, value in enumerate(sorted(values))}
        for n, (family, values) in enumerate(families.items())
    }
    return np.array([ranks[family][value] for family, value in keys], np.int64)


def _key(term: Resource) -> tuple[str, Any]:
    """The family of a term, and its value there."""
    if not isinstance(term, Literal):
        return _RESOURCE, str(term)
    value = _value(term)
    opaque = (_OPAQUE, str(term))
    match term.datatype:
        case datatype if datatype in NUMERIC_DATATYPES:
            return opaque if value is None else ("number", value)
        case datatype if datatype == RDF + "langString":
            return f"text@{term.language.lower()}", term.lexical
        case datatype if datatype == STRING:
            return "text", term.lexical
        case datatype if value is not None:
            return datatype, value
        case _:
            return opaque


def _value(term: Literal) -> Any:
    """The value of a number, a time or a boolean; None where there is none."""
    if term.datatype in NUMERIC_DATATYPES:
        return number(term)
    if term.datatype in {XSD + "dateTime", XSD + "date"}:
        return read_instant(term.lexical)
    if term.datatype == XSD + "boolean":
        return {"true": 1, "1": 1, "false": 0, "0": 0}.get(term.lexical)
    return None


def number(term: Resource) -> int | float | Decimal | None:
    """The number that a literal denotes, or None."""
    if not isinstance(term, Literal) or term.datatype not in NUMERIC_DATATYPES:
        return None
    try:
        if term.datatype in _FLOATS:
            value = float(term.lexical)
            return None if isnan(value) else value
        exact = Decimal(term.lexical)
        return int(exact) if exact == exact.to_integral_value() else exact
    except (ValueError, ArithmeticError):
        return None


def _text(term: Resource) -> str | None:
    match term:
        case Literal(lexical):
            return lexical
        case _:
            return getattr(term, "value", None)


def _instant(term: Resource) -> datetime | None:
    moment = _value(term) if isinstance(term, Literal) and "date" in term.datatype else None
    if not isinstance(moment, int):
        return None
    return (_EPOCH + timedelta(microseconds=moment)).replace(tzinfo=None)


_READERS: dict[Facet, Callable[[Resource], Any]] = {
    Facet.NUMBER: number,
    Facet.TEXT: _text,
    Facet.DATATYPE: lambda term: term.datatype if isinstance(term, Literal) else None,
    Facet.LANGUAGE: lambda term: term.language if isinstance(term, Literal) else None,
    Facet.INSTANT: _instant,
}
_TYPES = {
    Facet.TEXT: pa.string(),
    Facet.DATATYPE: pa.string(),
    Facet.LANGUAGE: pa.string(),
    Facet.INSTANT: pa.timestamp("us"),
}


@dataclass(slots=True)
class Facets:
    """Facets of all terms of a window, computed once and when asked for."""

    terms: list[Resource]
    known: dict[Facet, npt.NDArray[Any]] = field(default_factory=dict)

    def column(self, facet: Facet, ids: Ids, numbers: pa.DataType) -> pa.Array:
        """The facet of the terms `ids`, numbers as the given type."""
        if facet not in self.known:
            self.known[facet] = self._all(facet)
        values = self.known[facet][ids]
        if facet is Facet.ORDER:
            return pa.array(values, pa.int64())
        if facet is Facet.NUMBER:
            return pa.array([_as_type(v, numbers) for v in values], numbers)
        return pa.array(list(values), _TYPES[facet])

    def _all(self, facet: Facet) -> npt.NDArray[Any]:
        if facet is Facet.ORDER:
            return orders(self.terms)
        found = np.empty(len(self.terms), object)
        found[:] = [_READERS[facet](term) for term in self.terms]
        return found


def _as_type(value: Any, type_: pa.DataType) -> Any:
    if value is None or pa.types.is_integer(type_):
        return value
    return Decimal(value) if pa.types.is_decimal(type_) else float(value)
