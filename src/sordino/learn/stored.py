"""Released trees and forests as plain data that JSON holds without loss: what a ledger stores and hands out again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import UnsupportedError
from sordino.learn.forest import Forest
from sordino.learn.random_trees import RandomTrees
from sordino.learn.schema import Attribute, Continuous, Discrete, Schema, as_classes
from sordino.learn.tree import Tree

_TREE = {
    "attribute": np.int32,
    "first_child": np.int32,
    "level": np.int32,
    "size": np.float64,
    "counts": np.int64,
    "epsilon": np.float64,
    "label": np.int32,
    "probabilities": np.float64,
}


def store_tree(tree: Tree) -> dict[str, Any]:
    """A tree as plain data."""
    arrays = {name: _plain(getattr(tree, name)) for name in _TREE}
    return _public(tree) | arrays


def restore_tree(content: Mapping[str, Any]) -> Tree:
    """The tree that was stored."""
    schema, classes = _schema(content), _classes(content)
    classes_of = {"counts": len(classes), "probabilities": len(classes)}
    arrays = {name: _array(content[name], kind, classes_of.get(name)) for name, kind in _TREE.items()}
    return Tree(schema=schema, classes=classes, private=content["private"], **arrays)


def store_forest(forest: Forest) -> dict[str, Any]:
    """A forest as plain data. The values that go right are bits in hexadecimal, node after node."""
    trees = forest.trees
    return _public(forest) | {
        "depth": trees.depth,
        "attribute": trees.attribute.tolist(),
        "split": trees.split.tolist(),
        "right": np.packbits(trees.right).tobytes().hex(),
        "widest": trees.right.shape[2],
        "counts": None if forest.counts is None else forest.counts.tolist(),
        "labels": None if forest.labels is None else forest.labels.tolist(),
        "votes": forest.votes.tolist(),
        "start": forest.start.tolist(),
        "pooled": forest.pooled,
    }


def restore_forest(content: Mapping[str, Any]) -> Forest:
    """The forest that was stored."""
    attribute = np.array(content["attribute"], dtype=np.int32)
    shape = (*attribute.shape, content["widest"])
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(content["right"]), dtype=np.uint8))
    right = bits[: math.prod(shape)].reshape(shape)
    split = np.array(content["split"], dtype=np.int32)
    counts, labels = content["counts"], content["labels"]
    return Forest(
        schema=_schema(content),
        classes=_classes(content),
        trees=RandomTrees(content["depth"], attribute, split, right),
        counts=None if counts is None else np.array(counts, dtype=np.int64),
        labels=None if labels is None else np.array(labels, dtype=np.int64),
        votes=np.array(content["votes"], dtype=np.float64),
        start=np.array(content["start"], dtype=np.float64),
        pooled=content["pooled"],
        private=content["private"],
    )


def _public(model: Tree | Forest) -> dict[str, Any]:
    return {
        "schema": [_plain_attribute(attribute) for attribute in model.schema.attributes],
        "classes": [_plain_value(value) for value in model.classes.tolist()],
        "private": model.private,
    }


def _schema(content: Mapping[str, Any]) -> Schema:
    return Schema(tuple(map(_attribute, content["schema"])))


def _classes(content: Mapping[str, Any]) -> NDArray[Any]:
    return as_classes([_value(stored) for stored in content["classes"]])


def _plain_attribute(attribute: Attribute) -> dict[str, Any]:
    known: dict[str, Any] = {"name": attribute.name, "missing": attribute.missing}
    if isinstance(attribute, Continuous):
        return known | {"bounds": list(attribute.bounds), "bins": attribute.bins, "clip": attribute.clip}
    return known | {"values": [_plain_value(value) for value in attribute.values]}


def _attribute(stored: Mapping[str, Any]) -> Attribute:
    if "values" in stored:
        return Discrete(stored["name"], tuple(map(_value, stored["values"])), stored["missing"])
    low, high = stored["bounds"]
    return Continuous(stored["name"], (low, high), stored["bins"], stored["missing"], stored["clip"])


def _plain_value(value: Any) -> Any:
    """A text, number or truth value as it is; a day as a dict, which no other value is."""
    if type(value) is date:
        return {"date": value.isoformat()}
    if not isinstance(value, str | bool | int | float):
        raise UnsupportedError(
            f"values of public domains are stored as texts, numbers, truth values or dates, not {type(value).__name__}"
        )
    return value


def _value(stored: Any) -> Any:
    return date.fromisoformat(stored["date"]) if isinstance(stored, Mapping) else stored


def _plain(array: NDArray[Any]) -> list[Any]:
    """Nested lists; NaN, which JSON has not, is None."""
    if array.dtype.kind == "f" and np.isnan(array).any():
        array = array.astype(object)
        array[array != array] = None
    listed: list[Any] = array.tolist()
    return listed


def _array(stored: list[Any], kind: type, columns: int | None) -> NDArray[Any]:
    array: NDArray[Any] = np.array(stored, dtype=kind)  # None becomes NaN
    return array if columns is None else array.reshape(-1, columns)
