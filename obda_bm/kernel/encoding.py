"""Arrow columns as arrays of numbers, and back.

Numbers are whole multiples of 1 / scale; instants are microseconds; texts are codes of a pool that
lives for one call. Where whole numbers outgrow 64 bits, an array holds Python integers instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from obda_bm.ir.catalog import Relation
from obda_bm.ir.sqltypes import DAY, Family, Order, SqlType, Value

Array = npt.NDArray[Any]

NULL = np.iinfo(np.int64).min
"""Stands for NULL in columns that are only projected; rows with NULL where it matters are gone."""

_SAFE = 2.0**62


@dataclass(slots=True)
class TextPool:
    """Codes for the texts of one call; the state itself holds texts, so it never grows by them."""

    known: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))

    def codes(self, texts: pa.Array) -> Array:
        """The place of each of the different `texts` in the pool."""
        new = texts.filter(pc.invert(pc.is_in(texts, value_set=self.known)))
        if len(new):
            self.known = pa.concat_arrays([self.known, new])
        return np.asarray(pc.index_in(texts, value_set=self.known).to_numpy()).astype(np.int64)

    def code(self, text: str) -> int:
        return int(self.codes(pa.array([text], pa.string()))[0])


def arrow_schema(relation: Relation) -> pa.Schema:
    """The Arrow types in which tuples of `relation` are handed over."""
    return pa.schema(
        [pa.field(c.name, arrow_type(c.type), nullable=c.nullable) for c in relation.columns]
    )


def arrow_type(type_: SqlType) -> pa.DataType:
    match type_.family, type_.order:
        case Family.TEXT, _:
            return pa.string()
        case Family.BOOLEAN, _:
            return pa.bool_()
        case Family.INSTANT, _:
            return pa.date32() if type_.grain == DAY else pa.timestamp("us")
        case _, Order.DENSE:
            return pa.float64()
        case _:
            if type_.grain == 1 and not type_.name.startswith(("DECIMAL", "NUMERIC")):
                return pa.int64()
            digits = len(str(type_.grain.denominator)) - 1
            return pa.decimal128(38, digits)


def encode(column: pa.ChunkedArray, type_: SqlType, unit: int, pool: TextPool) -> Array:
    """`column` as numbers; NULL as `NULL`, or NaN in dense columns."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    match type_.family, type_.order:
        case Family.TEXT, _:
            return _encode_text(array, pool)
        case _, Order.DENSE:
            return np.asarray(pc.cast(array, pa.float64()).to_numpy(zero_copy_only=False))
        case Family.NUMBER, _:
            return _with_null(array, scaled(_whole(array), unit // _own_unit(array)))
        case Family.INSTANT, _ if pa.types.is_date32(array.type):
            days = pc.cast(array, pa.int32()).fill_null(0).to_numpy().astype(np.int64)
            return _with_null(array, days * DAY)
        case Family.INSTANT, _:
            ticks = pc.cast(pc.cast(array, pa.timestamp("us")), pa.int64())
            return _with_null(array, ticks.fill_null(0).to_numpy())
        case _:
            return _with_null(array, pc.cast(array, pa.int64()).fill_null(0).to_numpy())


def _own_unit(array: pa.Array) -> int:
    return 10**array.type.scale if pa.types.is_decimal(array.type) else 1


def _whole(array: pa.Array) -> Array:
    """Unscaled whole numbers of an integer or decimal column."""
    if not pa.types.is_decimal(array.type):
        return np.asarray(pc.cast(array, pa.int64()).fill_null(0).to_numpy())
    filled = array.fill_null(pa.scalar(0, pa.int8()).cast(array.type))
    words = np.frombuffer(filled.buffers()[1], dtype=np.int64)[2 * filled.offset :]
    low, high = words[0 : 2 * len(filled) : 2], words[1 : 2 * len(filled) : 2]
    if np.array_equal(high, low >> 63):
        return np.array(low)
    whole = [int(v.as_py().scaleb(array.type.scale)) for v in filled]
    return np.array(whole, dtype=object)


def scaled(values: Array, factor: int) -> Array:
    """`values * factor`, as Python integers where 64 bits are not enough."""
    if factor == 1 or not len(values):
        return values
    if values.dtype != object and float(np.abs(values.astype(np.float64)).max()) * factor > _SAFE:
        values = values.astype(object)
    return np.asarray(values * factor)


def _with_null(array: pa.Array, values: Array) -> Array:
    if array.null_count == 0:
        return values
    missing = np.asarray(pc.is_null(array).to_numpy(zero_copy_only=False))
    return np.where(missing, NULL, values)


def _encode_text(array: pa.Array, pool: TextPool) -> Array:
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    if not len(encoded.dictionary):
        return np.full(len(array), NULL, dtype=np.int64)
    codes = pool.codes(encoded.dictionary.cast(pa.string()))
    return _with_null(array, codes[encoded.indices.fill_null(0).to_numpy()])


def encode_constant(value: Value, unit: int, pool: TextPool) -> int | Fraction:
    if isinstance(value, str):
        return pool.code(value)
    exact = Fraction(value) * unit
    return exact.numerator if exact.denominator == 1 else exact


def is_null(values: Array) -> npt.NDArray[np.bool_]:
    if values.dtype == np.float64:
        return np.isnan(values)
    return np.asarray(values == NULL, dtype=np.bool_)


def decode(values: Array, type_: SqlType, unit: int, pool: TextPool) -> pa.Array:
    """Numbers as an Arrow column of the type's own."""
    missing = is_null(values)
    whole = np.where(missing, 0, values) if missing.any() else values
    mask = missing if missing.any() else None
    match type_.family, type_.order:
        case Family.TEXT, _:
            return pool.known.take(pa.array(whole, pa.int64(), mask=mask))
        case _, Order.DENSE:
            return pa.array(values, pa.float64(), mask=mask)
        case Family.INSTANT, _ if type_.grain == DAY:
            days = (whole.astype(np.int64) // DAY).astype(np.int32)
            return pa.array(days, pa.int32(), mask=mask).cast(pa.date32())
        case Family.INSTANT, _:
            return pa.array(whole.astype(np.int64), pa.int64(), mask=mask).cast(pa.timestamp("us"))
        case Family.BOOLEAN, _:
            return pa.array(whole == 1, pa.bool_(), mask=mask)
        case _:
            return _decode_number(whole, mask, type_, unit)


def _decode_number(
    values: Array, mask: npt.NDArray[np.bool_] | None, type_: SqlType, unit: int
) -> pa.Array:
    target = arrow_type(type_)
    own = 10**target.scale if pa.types.is_decimal(target) else 1
    whole = values if own == unit else values // (unit // own)
    if own == 1 and not pa.types.is_decimal(target):
        return pa.array(whole.astype(np.int64), pa.int64(), mask=mask)
    decimals = _decimals(whole, target)
    if mask is None:
        return decimals
    return pc.if_else(pa.array(mask), pa.scalar(None, target), decimals)


def _decimals(whole: Array, target: pa.DataType) -> pa.Array:
    """Whole numbers as the unscaled values of decimals: 128 bits, the low ones first."""
    if whole.dtype == object:
        exact = Context(prec=60)
        listed = [exact.scaleb(Decimal(int(v)), -target.scale) for v in whole.tolist()]
        return pa.array(listed, target)
    words = np.stack([whole, whole >> 63], axis=1)
    return pa.Array.from_buffers(target, len(whole), [None, pa.py_buffer(words.tobytes())])
