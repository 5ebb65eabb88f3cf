"""Answers in one shape: int64, double, string, whatever the engine calls them."""

from __future__ import annotations

import pyarrow as pa

from sordino.core import EngineError


def normalise(table: pa.Table) -> pa.Table:
    """Integers (also decimals without a fraction) as int64, floats as double, text as string; the rest as it came.

    Numerics: every conversion is checked; an integer beyond 64 bits raises and is never rounded.
    """
    fields, columns = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        target = _target(field.type)
        if target != field.type:
            try:
                column = column.cast(target)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise EngineError(
                    f"the answer's column {field.name!r} does not fit {target}: "
                    "cast it in the query, or sum fewer or smaller numbers",
                    str(error),
                ) from None
        fields.append(pa.field(field.name, target))
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _target(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_dictionary(kind):
        return _target(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz="UTC" if kind.tz else None)
    return kind
