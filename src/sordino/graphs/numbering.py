"""Node ids, integers or names, to positions in a public list of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError, UnsupportedError
from sordino.core.parameters import whole
from sordino.graphs.label_order import simplify_label

_MOST_NODES = 2**31 - 2
_NULLS = "node ids contain nulls or NaN: drop those edges before building the graph"
_UNKNOWN = "some edges end at ids that are not among the nodes that were declared"


@dataclass(frozen=True, slots=True, eq=False)
class NumberedEdges:
    """Edges as positions 0 … nodes − 1, with the labels of the positions (None where they are the same)."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    nodes: int
    labels: NDArray[Any] | None


def number_edges(sources: Any, targets: Any, *, nodes: Any = None) -> NumberedEdges:
    """Find the positions of all ids.

    ``nodes`` is None (the nodes are the ids that occur, increasing), their number, or the list of all ids.
    """
    first, second = read_ids(sources), read_ids(targets)
    if len(first) != len(second):
        raise PrivateDataError("edges need two ids each: the columns of sources and targets differ in length")
    if nodes is None:
        if not len(first):
            raise ParameterError("there are no edges: give nodes= to say which nodes the graph has")
        return _occurring(first, second)
    if is_number(nodes):
        count = check_node_count(nodes)
        return NumberedEdges(_in_range(first, count), _in_range(second, count), count, None)
    labels = check_labels(nodes, name="nodes")
    check_node_count(len(labels))
    numbered = _listed(first, second, labels)
    return NumberedEdges(*numbered, len(labels), None if _are_positions(labels) else labels)


def is_number(nodes: Any) -> bool:
    """Whether ``nodes`` is a number of nodes, and not a list of them."""
    return hasattr(nodes, "__index__") and not isinstance(nodes, np.ndarray)


def check_node_count(value: Any) -> int:
    """A number of nodes that a graph can have."""
    count = whole("nodes", value, least=1)
    if count > _MOST_NODES:
        raise UnsupportedError(f"a graph has at most {_MOST_NODES} nodes, got {count}")
    return count


def read_ids(values: Any) -> NDArray[Any]:
    """Ids as an array of int64, or of objects where they are names."""
    array = _one_dimensional(values, "node ids")
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and len(array) and array.max() > np.iinfo(np.int64).max:
            raise PrivateDataError("node ids must be below 2^63")
        return array.astype(np.int64, copy=False)
    if not len(array):
        return np.empty(0, np.int64)
    if array.dtype.kind in "UT":
        return array.astype(object)
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            raise PrivateDataError(_NULLS)
        raise ParameterError(f"node ids must be integers or text, got {array.dtype}: convert them first")
    if array.dtype != object:
        raise ParameterError(f"node ids must be integers or text, got {array.dtype}")
    kinds = {type(item) for item in array}
    if type(None) in kinds or any(isinstance(item, float) and item != item for item in array):
        raise PrivateDataError(_NULLS)
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        try:
            return array.astype(np.int64)
        except OverflowError:
            raise PrivateDataError("node ids must be below 2^63") from None
    return array


def check_labels(values: Any, *, name: str) -> NDArray[Any]:
    """Distinct labels: an int64 array where all are integers, else an array of objects."""
    if isinstance(values, str | bytes):
        raise ParameterError(f"{name} must be a list of labels, got one {type(values).__name__}")
    labels = read_ids(values)
    try:
        distinct = len(set(labels.tolist()))
    except TypeError:
        raise ParameterError(f"{name} must be hashable, such as integers and text") from None
    if distinct != len(labels):
        raise ParameterError(f"{name} must be distinct, got {len(labels)} of which {distinct} are distinct")
    if not distinct:
        raise ParameterError(f"{name} is empty: a graph must have at least one node")
    return labels


def _one_dimensional(values: Any, name: str) -> NDArray[Any]:
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.null_count():
            raise PrivateDataError(_NULLS)
        values = series.to_numpy()
    elif hasattr(values, "null_count") and hasattr(values, "to_numpy"):  # an Arrow array that is not chunked
        if values.null_count:
            raise PrivateDataError(_NULLS)
        values = values.to_numpy(zero_copy_only=False)
    if isinstance(values, np.ndarray):
        array = values
    elif isinstance(values, range):
        array = np.arange(values.start, values.stop, values.step)
    else:
        try:
            items = list(values)
        except TypeError:
            raise ParameterError(f"{name} must be a list or an array, got {type(values).__name__}") from None
        array = np.empty(len(items), object)  # element by element: numpy would unpack labels that are tuples
        for place, item in enumerate(items):
            array[place] = item
    if array.ndim != 1:
        raise ParameterError(f"{name} must be one-dimensional, got {array.ndim} axes")
    return array


def _are_positions(labels: NDArray[Any]) -> bool:
    return labels.dtype != object and bool(np.array_equal(labels, np.arange(len(labels))))


def _in_range(ids: NDArray[Any], count: int) -> NDArray[np.int32]:
    if ids.dtype == object:
        raise PrivateDataError(
            f"some node ids are not integers, and the nodes that were declared are 0 … {count - 1}: "
            "give nodes as the list of all ids"
        )
    if len(ids) and (ids.min() < 0 or ids.max() >= count):
        raise PrivateDataError(f"some node ids lie outside 0 … {count - 1}, the nodes that were declared")
    return ids.astype(np.int32)


def _listed(
    first: NDArray[Any], second: NDArray[Any], labels: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    if labels.dtype != object and first.dtype != object and second.dtype != object:
        return _look_up(first, labels), _look_up(second, labels)
    position = {label: place for place, label in enumerate(labels.tolist())}
    try:
        sources, targets = (
            np.fromiter((position[item] for item in ids.tolist()), np.int32, len(ids))
            for ids in (first, second)
        )
    except (KeyError, TypeError):
        raise PrivateDataError(_UNKNOWN) from None
    return sources, targets


def _look_up(ids: Any, labels: Any) -> NDArray[np.int32]:
    """Positions of ids in the labels by Arrow's hash table; either may be an Arrow or a numpy array."""
    import pyarrow
    import pyarrow.compute

    found = pyarrow.compute.index_in(pyarrow.array(ids), value_set=pyarrow.array(labels))
    if found.null_count:
        raise PrivateDataError(_UNKNOWN)
    return np.asarray(found.to_numpy(), dtype=np.int32)


def _encode(ids: Any) -> tuple[NDArray[np.int32], Any]:
    """The distinct ids of an Arrow array in increasing order, and the position of each id among them."""
    import pyarrow.compute

    encoded = ids.dictionary_encode()
    order = pyarrow.compute.sort_indices(encoded.dictionary)
    place = np.empty(len(order), np.int32)
    place[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return place[encoded.indices.to_numpy()], encoded.dictionary.take(order)


def _occurring(first: NDArray[Any], second: NDArray[Any]) -> NumberedEdges:
    if first.dtype == object or second.dtype == object:
        return _occurring_names(first, second)
    if min(first.min(), second.min()) < 0:
        raise PrivateDataError("node ids must be >= 0: pass them as text if they are names")
    largest = int(max(first.max(), second.max()))
    if largest < 8 * len(first) + 2**20:  # a table of all ids up to the largest is small
        seen = np.zeros(largest + 1, bool)
        seen[first] = True
        seen[second] = True
        labels = np.flatnonzero(seen)
        if len(labels) == len(seen):
            return NumberedEdges(
                first.astype(np.int32), second.astype(np.int32), check_node_count(len(labels)), None
            )
        place = np.cumsum(seen, dtype=np.int32)
        place -= 1
        return NumberedEdges(place[first], place[second], check_node_count(len(labels)), labels)
    import pyarrow

    positions, ordered = _encode(pyarrow.array(np.concatenate([first, second])))
    labels = ordered.to_numpy()
    return NumberedEdges(
        positions[: len(first)], positions[len(first) :], check_node_count(len(labels)), labels
    )


def _occurring_names(first: NDArray[Any], second: NDArray[Any]) -> NumberedEdges:
    position: dict[Any, int] = {}
    codes = []
    for ids in (first, second):
        if ids.dtype != object or not all(isinstance(item, str) for item in ids):
            raise ParameterError("node ids must be all integers or all text, or nodes= must list them")
        # equal text is one name, and called by it: a member of an enumeration may be equal to its text
        names = (item if type(item) is str else simplify_label(item) for item in ids)
        codes.append(
            np.fromiter((position.setdefault(name, len(position)) for name in names), np.int32, len(ids))
        )
    return sort_by_name(codes[0], codes[1], position)


def sort_by_name(
    sources: NDArray[np.int32], targets: NDArray[np.int32], position: dict[str, int]
) -> NumberedEdges:
    """Renumber positions in order of first occurrence to the order of names, which no edge influences."""
    names = sorted(position)
    place = np.empty(len(names), np.int32)
    place[[position[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    labels = np.array(names, dtype=object)
    return NumberedEdges(place[sources], place[targets], check_node_count(len(names)), labels)


def number_names(names: Any, *, nodes: Any = None) -> NumberedEdges:
    """Find the positions of an Arrow array of names: source and target of the first edge, of the second, ….

    The same as `number_edges` for names, without a Python object for each.
    """
    import pyarrow

    if nodes is None:
        positions, ordered = _encode(names)
        labels = np.array(ordered.to_pylist(), dtype=object)
    else:
        labels = check_names(nodes)
        positions = _look_up(names, pyarrow.array(labels, names.type))
    return NumberedEdges(
        positions[0::2].copy(), positions[1::2].copy(), check_node_count(len(labels)), labels
    )


def check_names(nodes: Any) -> NDArray[Any]:
    """A list of nodes that are all text."""
    if is_number(nodes):
        raise ParameterError("node ids are not integers: give nodes as the list of all ids")
    labels = check_labels(nodes, name="nodes")
    if labels.dtype != object or not all(isinstance(label, str) for label in labels):
        raise ParameterError("node ids are text: nodes must be a list of text too")
    return labels
