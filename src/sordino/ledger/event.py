"""Event: one line of the append-only record; and the key by which a question is the same question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sordino.core import Distance, ParameterError
from sordino.core.parameters import as_written
from sordino.ledger.amount_text import write_rounded_down, write_rounded_up

_AMOUNTS = ("epsilon", "delta", "rho", "at_delta")
Kind = Literal["grant", "declare", "redeclare", "reserve", "commit", "refund", "suspend", "resume"]


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, as it was written; nothing is ever changed or removed.

    ``reservation`` is the number of the ``reserve`` event that a ``commit``, ``refund`` or ``suspend`` ends.
    ``epsilon``, ``delta`` and ``rho`` are exact, as text; ``facts`` names what else the loss says of itself
    ("bounded_range"); ``guarantee`` is the printed one. On a ``grant`` they are the limit, ``analyst`` None means the
    data set's cap, and ``scope`` "policy" that a policy said it and not the owner by hand; a limit of 0 is a policy
    that names the analyst no more or, with ``scope`` "revoked", the owner's act. On a ``suspend`` the ``scope`` says
    how a question ended without a release: "failure", "crash", or "withheld" because the account was suspended
    meanwhile. A ``declare`` (by a policy) or ``redeclare`` (by hand) has the tables in its ``parameters``.
    ``hash`` chains it to the event before (`chain.py`).

    >>> import sordino as sd
    >>> from sordino.ledger import Ledger, Limit
    >>> guarantee = sd.Guarantee(sd.Loss(epsilon=0.5), sd.add_remove_row(), "Laplace mechanism")
    >>> ledger = Ledger.in_memory()
    >>> account = ledger.grant("shop", "ann", Limit.of(epsilon=2), distance=guarantee.distance)
    >>> [event.kind for event in ledger.history("shop")]
    ['grant']
    """

    number: int
    time: str
    kind: Kind
    dataset: str
    analyst: str | None
    reservation: int | None = None
    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    at_delta: str | None = None
    distance: str | None = None
    theorem: str | None = None
    guarantee: str | None = None
    mechanism: str | None = None
    parameters: dict[str, Any] | None = None
    scope: str | None = None
    question: str | None = None
    release: dict[str, Any] | None = None
    facts: str | None = None
    hash: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without what this kind of event does not have; a limit rounds down, a loss up."""
        shown = write_rounded_down if self.kind == "grant" else write_rounded_up
        content = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None:
                content[name] = float(shown(Fraction(value))) if name in _AMOUNTS else value
        return content


def write_question_key(question: str, *, version: str | None = None, **parameters: Any) -> str:
    """The canonical text of a question: the same whatever the order of its parameters.

    Numbers count as the decimals that they are written as, so 1 and 1.0 are the same. ``version`` is a public tag of
    the data (a load date, say): another version is another question.

    >>> from sordino.ledger import write_question_key
    >>> write_question_key("median", epsilon=1, step=5) == write_question_key("median", step=5, epsilon=1.0)
    True
    """
    content: dict[str, Any] = {"question": question, "parameters": _canonical(parameters)}
    if version is not None:
        content["version"] = version
    return write_canonical_json("a parameter of the question", content)


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if value is None or isinstance(value, str | bool):
        return value
    return {"number": str(as_written("a parameter of the question", value))}


def write_distance_key(distance: Distance) -> str:
    """Equal for equal distances: weights of 1 are what nothing said would mean, and their order is free."""
    weights = {part: as_written("weight", weight) for part, weight in distance.weights}
    told = {part: str(weight) for part, weight in weights.items() if weight != 1}
    content: dict[str, Any] = {"unit": distance.unit, "change": distance.change, "weights": told}
    if distance.among:
        content["among"] = distance.among
    return write_canonical_json("a distance", content)


def read_distance(key: str) -> Distance:
    """The Distance of a key."""
    content = json.loads(key)
    weights = tuple((part, float(Fraction(weight))) for part, weight in content["weights"].items())
    return Distance(content["unit"], content["change"], weights, content.get("among", ""))


def write_canonical_json(name: str, content: Any, *, in_order: bool = False) -> str:
    """Canonical JSON, or with ``in_order`` the keys as they come; the error does not show the content."""
    try:
        return json.dumps(content, sort_keys=not in_order, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise ParameterError(
            f"{name} must be plain data (text, numbers, lists, dicts with text keys)"
        ) from None
