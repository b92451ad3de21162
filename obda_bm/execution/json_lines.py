"""Results -> lines of JSON, column by column: a value that comes often is written once."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from obda_bm.execution.json_values import json_values


def json_lines(times: pa.ChunkedArray, rows: pa.Table, counts: pa.ChunkedArray) -> str:
    """`{"time": …, "row": {…}, "count": …}`, a line each.

    >>> one = pa.chunked_array([pa.array([1])])
    >>> print(json_lines(one, pa.table({"a": ["x"]}), one), end="")
    {"time": 1, "row": {"a": "x"}, "count": 1}
    """
    if not len(times):
        return ""
    parts = ['{"time": ', _texts(times), ', "row": {']
    for i, name in enumerate(rows.column_names):
        parts += [f"{', ' if i else ''}{json.dumps(name, ensure_ascii=False)}: "]
        parts += [_texts(rows.column(i))]
    parts += ['}, "count": ', _whole(counts), "}\n"]
    return "".join(pc.binary_join_element_wise(*parts, "").to_pylist())


def _texts(column: pa.ChunkedArray) -> pa.Array:
    """Each value as JSON."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return column.combine_chunks().cast(pa.string())
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    distinct = json_values(pa.chunked_array([coded.dictionary]))
    texts = pa.array([json.dumps(value, ensure_ascii=False) for value in distinct], pa.string())
    return texts.take(coded.indices)


def _whole(counts: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_integer(counts.type):
        return counts.combine_chunks().cast(pa.string())
    return pa.array([str(int(count)) for count in counts.to_pylist()], pa.string())
