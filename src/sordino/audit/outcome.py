"""When two released outcomes are the same one: by type and by bits, never by Python's equality.

Python calls 0.0 and -0.0 equal, and 1, 1.0 and True; whoever reads the released object, or the JSON that it becomes,
tells them apart. A mechanism could say anything with them, and a proof that merged them would call it harmless. So
there is one rule: **two outcomes are the same exactly if no reader of the Python objects can tell them apart.** The
types must be the same (``numpy.float64(1)`` is not ``1.0``, a list is not a tuple), floats agree bit by bit (sign of
zero, payload of NaN), containers item by item in the order in which they are read (dictionaries and sets too),
decimals by their digits, everything else by type, ``repr`` and its own equality. Stricter than a reader needs is sound:
a law that makes one outcome in two ways is refuted, and the witness shows both.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Hashable, Mapping, Set
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from sordino.core.errors import ProofError

_PLAIN = frozenset({int, bool, str, bytes, type(None)})


def outcome_key(outcome: Any) -> Hashable:
    """What is the same for two outcomes exactly if they are the same outcome."""
    kind = type(outcome)
    if kind is float:
        return float, struct.pack("<d", outcome)
    if kind in _PLAIN:
        return kind, outcome
    if isinstance(outcome, np.ndarray | np.generic):
        return _numpy_key(outcome)
    if isinstance(outcome, tuple | list | deque):
        return kind, tuple(map(outcome_key, outcome)), _own_fields(outcome)
    if isinstance(outcome, Mapping):
        pairs = tuple((outcome_key(name), outcome_key(value)) for name, value in outcome.items())
        return kind, pairs, _own_fields(outcome)
    if isinstance(outcome, Set):
        return kind, tuple(map(outcome_key, outcome)), _own_fields(outcome)
    if isinstance(outcome, float):
        return kind, struct.pack("<d", outcome), repr(outcome), _own_fields(outcome)
    if isinstance(outcome, complex):
        return kind, struct.pack("<dd", outcome.real, outcome.imag), repr(outcome), _own_fields(outcome)
    if isinstance(outcome, Decimal):
        return kind, outcome.as_tuple()
    if isinstance(outcome, bytearray):
        return kind, bytes(outcome)
    if is_dataclass(outcome) and not isinstance(outcome, type):
        return kind, tuple((f.name, outcome_key(getattr(outcome, f.name))) for f in fields(outcome))
    try:
        hash(outcome)
    except TypeError:
        raise ProofError(
            f"outcomes of type {kind.__name__} cannot be told apart: they are neither hashable nor an array, a "
            "container or a dataclass; release, for example, a tuple"
        ) from None
    return (
        kind,
        outcome,
        repr(outcome),
        _own_fields(outcome) if isinstance(outcome, int | str | bytes) else (),
    )


def outcome_kind(outcome: Any) -> Hashable:
    """The types that an outcome is made of, and which of its floats are zeros of either sign or not finite.

    What a reader tells apart even where no outcome occurs twice.
    """
    kind = type(outcome)
    if isinstance(outcome, np.ndarray):
        return kind, outcome.dtype.str, outcome.shape
    if isinstance(outcome, float | np.floating):
        return kind, "" if outcome and np.isfinite(outcome) else str(outcome)
    if isinstance(outcome, tuple | list | deque | Set):
        return kind, tuple(map(outcome_kind, outcome))
    if isinstance(outcome, Mapping):
        return kind, tuple((outcome_kind(name), outcome_kind(value)) for name, value in outcome.items())
    return (kind,)


def _numpy_key(value: Any) -> Hashable:
    """Type, dtype, shape and bits; long doubles, whose padding means nothing, and objects by their items."""
    dtype = value.dtype
    if isinstance(value, np.ndarray) and (dtype.hasobject or isinstance(value, np.ma.MaskedArray)):
        return (
            type(value),
            dtype.str,
            value.shape,
            tuple(map(outcome_key, value.ravel().tolist())),
            repr(value),
        )
    if dtype.kind == "V":
        return type(value), str(dtype), value.shape, outcome_key(value.tolist())
    if dtype.char in "gG":
        return type(value), dtype.str, value.shape, tuple(map(repr, np.ravel(value)))
    return type(value), dtype.str, value.shape, value.tobytes()


def _own_fields(value: Any) -> Hashable:
    """Attributes that an instance of a subclass of a built-in type carries besides its content."""
    own = getattr(value, "__dict__", None)
    return tuple((name, outcome_key(item)) for name, item in own.items()) if own else ()
