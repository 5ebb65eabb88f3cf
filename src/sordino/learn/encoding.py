"""Rows as codes: every value becomes its place in the public domain."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError
from sordino.learn.schema import Attribute, Continuous, Discrete, Schema

Codes = NDArray[np.int32]


def encode_rows(data: Any, schema: Schema) -> Codes:
    """One row of codes per row of ``data``: a 2-d array in the order of the schema, or a data frame by names."""
    columns = pick_columns(data, schema.names)
    codes = np.empty((len(columns[0]), len(columns)), dtype=np.int32)
    for place, (attribute, column) in enumerate(zip(schema.attributes, columns, strict=True)):
        codes[:, place] = encode_column(attribute, column)
    return codes


def pick_columns(data: Any, names: tuple[str, ...]) -> list[Any]:
    """The columns of those names, or of those positions where the data has no names."""
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        given = {str(name): name for name in frame.columns}  # pandas also has names that are numbers
        absent = [name for name in names if name not in given]
        if absent:
            raise ParameterError(
                f"the data has no column {absent[0]!r}, which the schema names; it has {', '.join(given)}"
            )
        extra = [name for name in given if name not in names]
        if extra:
            raise ParameterError(
                f"the data has a column {extra[0]!r} that the schema does not name: drop it or give its domain"
            )
        return [frame.get_column(given[name]) for name in names]
    array = as_array(data)
    if array.ndim != 2:
        raise ParameterError(f"the data must be a table (rows × columns), got {array.ndim} axes")
    if array.shape[1] != len(names):
        raise ParameterError(f"the data has {array.shape[1]} columns and the schema names {len(names)}")
    return list(array.T)


def as_array(data: Any) -> NDArray[Any]:
    """An array; numbers in a list beside texts stay numbers."""
    array = np.asarray(data)
    if array.dtype.kind == "U" and isinstance(data, list | tuple):
        return np.asarray(data, dtype=object)
    return array


def encode_column(attribute: Attribute, column: Any) -> Codes:
    """The codes of one column; what is outside the public domain is refused without being shown."""
    if isinstance(attribute, Continuous):
        return _bin_codes(attribute, column)
    return encode_values(attribute, column)


def encode_values(attribute: Discrete, column: Any) -> Codes:
    """The place of every value in the domain; nulls come after the last, where they are allowed."""
    codes, null = _places(attribute, column)
    if null.any() and not attribute.missing:
        raise PrivateDataError(_missing(attribute))
    codes[null] = len(attribute.values)
    if (codes < 0).any():
        raise PrivateDataError(
            f"column {attribute.name!r} has values outside its public domain of {len(attribute.values)} values: "
            "add them to the schema, or map them to a value of the domain before"
        )
    return codes


def _missing(attribute: Attribute) -> str:
    return (
        f"column {attribute.name!r} has missing values (null or NaN): drop or fill them, "
        'or allow them with "missing": true'
    )


def _places(attribute: Discrete, column: Any) -> tuple[Codes, NDArray[np.bool_]]:
    """(place in the domain or −1, whether null)."""
    values = column.to_numpy() if isinstance(column, nw.Series) else np.asarray(column)
    domain = np.asarray(attribute.values)
    if values.dtype.kind in "iufb" and domain.dtype.kind in "iufb":
        null = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        order = np.argsort(domain, kind="stable")
        ranked = domain[order]
        place = np.minimum(np.searchsorted(ranked, values), len(domain) - 1)
        return np.where(ranked[place] == values, order[place], -1).astype(np.int32), null
    try:
        arrow = column.to_arrow() if isinstance(column, nw.Series) else pa.array(values, from_pandas=True)
        if isinstance(arrow, pa.ChunkedArray):
            arrow = arrow.combine_chunks()
        if pa.types.is_dictionary(arrow.type):
            arrow = arrow.cast(arrow.type.value_type)
        found = pc.index_in(arrow, value_set=pa.array(list(attribute.values), type=arrow.type))
        places = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        return places, pc.is_null(arrow, nan_is_null=True).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        place_of = {value: place for place, value in enumerate(attribute.values)}
        null = np.array([_is_null(value) for value in values], dtype=bool)
        return np.array([_place(value, place_of) for value in values], dtype=np.int32), null


def _is_null(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal to itself nor not
        return True
    except ValueError:  # an array, which is no value at all
        return False


def _place(value: Any, place_of: dict[Any, int]) -> int:
    try:
        return place_of.get(value, -1)
    except TypeError:  # a list or the like, which no domain holds
        return -1


def _bin_codes(attribute: Continuous, column: Any) -> Codes:
    values = read_numbers(attribute, column)
    codes = np.searchsorted(attribute.edges, values, side="right").astype(np.int32)
    codes[np.isnan(values)] = attribute.bins
    return codes


def read_numbers(attribute: Continuous, column: Any) -> NDArray[np.float64]:
    """The column as numbers within the public bounds; NaN where a value is missing and may be."""
    native = column.to_numpy() if isinstance(column, nw.Series) else np.asarray(column)
    try:
        values = native.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        raise PrivateDataError(
            f"column {attribute.name!r} is declared continuous and holds something that is not a number below 1.8e308"
        ) from None
    null = np.isnan(values)
    if null.any() and not attribute.missing:
        raise PrivateDataError(_missing(attribute))
    low, high = attribute.bounds
    if attribute.clip:
        return np.clip(values, low, high)
    if (values[~null] < low).any() or (values[~null] > high).any():
        raise PrivateDataError(
            f"column {attribute.name!r} has values outside its public bounds ({low:g}, {high:g}), or infinite: "
            'widen them or declare "clip": true'
        )
    return values


def encode_classes(labels: Any, classes: NDArray[Any]) -> Codes:
    """The place of every label among the public classes."""
    column = nw.from_native(labels, series_only=True, pass_through=True)
    codes, null = _places(Discrete("target", tuple(classes.tolist())), column)
    if null.any():
        raise PrivateDataError("the target has missing values (null or NaN): drop or fill them")
    if (codes < 0).any():
        raise PrivateDataError(
            f"the target has labels that are not among the {len(classes)} public classes: add them to classes="
        )
    return codes
