"""Arrow tables of any origin -> tables with the columns and types of a relation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from obda_bm.diagnostics import did_you_mean
from obda_bm.execution.mistakes import ExecutionError, Mistake
from obda_bm.ir.catalog import Column, Relation
from obda_bm.ir.sqltypes import FIRST_INSTANT, instant
from obda_bm.ir.terms import columns_of
from obda_bm.kernel import arrow_schema, first_violation

_LAST_INSTANT = instant("9999-12-31T23:59:59.999999")
_ZONE = r"(?:[Zz]|[+-]\d{2}(?::?\d{2})?)$"
_ZONED = rf":\d{{2}}(?:\.\d+)?{_ZONE}|[Tt ]\d{{2}}(?::?\d{{2}})?{_ZONE}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where rows come from: a file or whatever else the user knows, and how many came before."""

    name: str
    rows_before: int = 0

    def row(self, index: int) -> str:
        return f"{self.name}, row {self.rows_before + index + 1}"


def conform(relation: Relation, rows: pa.Table, origin: Origin) -> pa.Table:
    """`rows` with exactly the columns of `relation`, in its order and of its types.

    Raises:
        ExecutionError: naming the first column, row and value that does not fit.
    """
    names = match_names(relation, rows.column_names, origin)
    schema = arrow_schema(relation)
    columns = [
        _fit(column, rows.column(name), type_, origin)
        for column, name, type_ in zip(relation.columns, names, schema.types, strict=True)
    ]
    table = pa.table(columns, schema=schema)
    _check_nulls(relation, table, origin)
    _check_constraints(relation, table, origin)
    _check_end(relation, table, origin)
    return table


def match_names(relation: Relation, given: Iterable[str], origin: Origin) -> tuple[str, ...]:
    """The given name of each column of `relation`; case matters only where it decides."""
    exact = tuple(given)
    folded = {name.lower(): name for name in reversed(exact)}
    names = {
        c.name: c.name if c.name in exact else folded.get(c.name.lower()) for c in relation.columns
    }
    for column, name in names.items():
        if name is None:
            hint = did_you_mean(column, exact) or f"The columns there are {', '.join(exact)}."
            message = f"{origin.name} has no column {column!r} of {relation.name!r}"
            raise Mistake.MISSING_COLUMN.error(message, hint, relation.column(column).span)
    return tuple(name for name in names.values() if name is not None)


def _fit(column: Column, given: pa.ChunkedArray, type_: pa.DataType, origin: Origin) -> pa.Array:
    def convert(array: pa.Array) -> pa.Array:
        return _in_domain(column, _cast(_cast(array, _declared(column, type_)), type_))

    array = given.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # several chunks do not fit one array of 32-bit offsets
        return pa.chunked_array(
            [_fit(column, pa.chunked_array([c]), type_, origin) for c in array.chunks]
        )
    try:
        return convert(array)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _misfit(column, array, convert, origin) from None


def _declared(column: Column, type_: pa.DataType) -> pa.DataType:
    """The type with as many digits as the setting says; `type_` may have room for more."""
    digits = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", column.type.name)
    if digits is None or not pa.types.is_decimal(type_):
        return type_
    return pa.decimal128(min(int(digits[1]), type_.precision), type_.scale)


def _misfit(
    column: Column, array: pa.Array, convert: Callable[[pa.Array], pa.Array], origin: Origin
) -> ExecutionError:
    index = _first_failure(array, convert)
    value = array[index].as_py()
    shown = repr(value) if len(repr(value)) <= 40 else f"{repr(value)[:40]}…"
    message = f"{origin.row(index)}, column {column.name!r}: {shown} is not {_article(column)}"
    hint = "Correct the value, or declare another type in the setting."
    return Mistake.MISFIT.error(message, hint, column.span)


def _article(column: Column) -> str:
    name = str(column.type)
    shown = name if len(name) <= 60 else f"{name[:60]}…"
    return f"{'an' if shown[0] in 'AEIOU' else 'a'} {shown}"


def _first_failure(array: pa.Array, convert: Callable[[pa.Array], pa.Array]) -> int:
    """The index of a first value that cannot be converted, by bisection."""
    low, high = 0, len(array)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            convert(array.slice(low, middle - low))
            low = middle
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            high = middle
    return low


def _cast(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Convert without loss, or raise; Arrow's own casts are not all as strict."""
    given = array.type
    if given == type_:
        return array
    if pa.types.is_dictionary(given):
        return _cast(array.dictionary_decode(), type_)
    if _is_text(given) and not _is_text(type_):
        return _parse(pc.utf8_trim_whitespace(array.cast(pa.string())), type_)
    if pa.types.is_timestamp(type_) and pa.types.is_timestamp(given):
        # Arrow keeps instants in UTC; without the zone they stay what they are.
        return array.cast(pa.timestamp("us", given.tz)).cast(type_)
    if pa.types.is_decimal(type_) and (pa.types.is_integer(given) or pa.types.is_floating(given)):
        # Straight from a float, 0.15 would silently become 0.1; an int64 is refused for its width.
        return array.cast(pa.string()).cast(type_)
    if not _compatible(given, type_):
        raise pa.ArrowInvalid(f"{given} is not {type_}")
    fitted = array.cast(type_)
    if pa.types.is_date(type_) and not fitted.cast(given).equals(array):
        raise pa.ArrowInvalid("a date has no time of day")
    return fitted


def _compatible(given: pa.DataType, type_: pa.DataType) -> bool:
    """Whether values of one type mean something as values of the other."""
    if pa.types.is_null(given):
        return True
    if pa.types.is_boolean(type_) or pa.types.is_boolean(given):
        return bool(pa.types.is_boolean(type_) and pa.types.is_boolean(given))
    if pa.types.is_temporal(type_):
        # A number is no instant: nobody can tell whether it counts seconds or microseconds.
        return bool(pa.types.is_date(given) or pa.types.is_timestamp(given))
    return not pa.types.is_temporal(given) and not pa.types.is_nested(given)


def _is_text(type_: pa.DataType) -> bool:
    return type_ in (pa.string(), pa.large_string(), pa.string_view())


def _parse(text: pa.Array, type_: pa.DataType) -> pa.Array:
    return _parse_instants(text) if pa.types.is_timestamp(type_) else text.cast(type_)


def _parse_instants(text: pa.Array) -> pa.Array:
    """ISO 8601 timestamps; a zone is converted to UTC, and UTC is meant where there is none."""
    zoned = pc.match_substring_regex(text, _ZONED)
    nothing = pa.scalar(None, pa.string())
    plain = pc.if_else(zoned, nothing, text).cast(pa.timestamp("us"))
    if not pc.any(zoned).as_py():
        return plain
    shifted = pc.if_else(zoned, text, nothing).cast(pa.timestamp("us", "UTC"))
    return pc.coalesce(plain, shifted.cast(pa.timestamp("us")))


def _in_domain(column: Column, array: pa.Array) -> pa.Array:
    if pa.types.is_temporal(array.type) and array.null_count < len(array):
        ticks = array.cast(pa.timestamp("us")).cast(pa.int64())
        extremes = pc.min_max(ticks).as_py()
        if extremes["min"] < FIRST_INSTANT or extremes["max"] > _LAST_INSTANT:
            raise pa.ArrowInvalid("not in the years 1 to 9999")
    elif column.type.values is not None and pa.types.is_string(array.type):
        listed = pc.is_in(array, pa.array([*column.type.values, None], pa.string()))
        if not pc.all(listed, min_count=0).as_py():
            raise pa.ArrowInvalid("not a listed value")
    return array


def _check_nulls(relation: Relation, table: pa.Table, origin: Origin) -> None:
    for column in relation.columns:
        array = table.column(column.name)
        if array.null_count and (not column.nullable or column.name == relation.time):
            index = pc.index(array.is_null(), pa.scalar(True)).as_py()
            role = "the time" if column.name == relation.time else "declared NOT NULL"
            message = f"{origin.row(index)}, column {column.name!r}: NULL, but it is {role}"
            hint = "Fill in the value, or filter such rows out before they get here."
            raise Mistake.UNEXPECTED_NULL.error(message, hint, column.span)


def _check_constraints(relation: Relation, table: pa.Table, origin: Origin) -> None:
    violation = first_violation(relation, table)
    if violation is None:
        return
    named = dict.fromkeys(c.column for c in columns_of(violation.check))
    values = ", ".join(f"{name} = {table.column(name)[violation.row]}" for name in named)
    message = f"{origin.row(violation.row)}: {values} violates CHECK ({violation.check})"
    hint = "Correct the row, or the CHECK in the setting: the verdict and its bound rely on it."
    raise Mistake.VIOLATED_CHECK.error(message, hint, violation.check.span or relation.span)


def _check_end(relation: Relation, table: pa.Table, origin: Origin) -> None:
    if relation.end is None or relation.time is None or not len(table):
        return
    times = table.column(relation.time)
    instants = times.cast(pa.timestamp("us")) if pa.types.is_date(times.type) else times
    after = pc.greater(instants.cast(pa.int64()), relation.end)
    index = pc.index(after, pa.scalar(True)).as_py()
    if index >= 0:
        message = f"{origin.row(index)}: {times[index]} is after the end of {relation.name!r}"
        hint = "Correct the end of the stream in the setting: the plan relies on it."
        raise Mistake.AFTER_THE_END.error(message, hint, relation.span)
