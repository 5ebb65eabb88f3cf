"""The JSON form of what leaves Sordino: one rule for numbers and one form of errors, the same at every front door.

**Numbers** are JSON numbers, wherever they stand: whole numbers as they are, all others as the shortest decimal that
names their double. Amounts of a budget are kept exactly by the ledger and shown to twelve digits, losses rounded up and
what is left rounded down; a decimal of so few digits is written as itself. JSON has no number for infinities and NaN:
they are the texts "inf", "-inf" and "nan".

**Errors** are ``{"error": {"code": …, "message": …, "place": …}}``: the code by which programs tell them apart
(`errors.py`), the sentence for people, and where in a query or a policy, or null. What a database said, or anything
else that may hold rows, is never part of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from sordino.core.sordino_error import SordinoError

# Halves of surrogate pairs: what an argument that is no text is read as, and no output can encode.
_HALVES = re.compile("[\ud800-\udfff]")
DEFECT = "defect"  # the code of an error that nobody raised on purpose


def json_text(content: Mapping[str, Any]) -> str:
    """One document, by the rule for numbers."""
    text = json.dumps(plain_data(content), indent=2, ensure_ascii=False, allow_nan=False)
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def plain_data(value: Any) -> Any:
    """The same of dicts, lists, texts, numbers, booleans and None alone, by the rule for numbers."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain_data(item) for name, item in value.items()}
    if hasattr(value, "tolist"):  # arrays, and the numbers in them
        return plain_data(value.tolist())
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) or hasattr(value, "as_tuple"):  # a Decimal is no Real
        return _number(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Sequence | set | frozenset):
        return [plain_data(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _number(value: Any) -> float | str:
    try:
        number = float(value)
    except OverflowError:  # a Fraction beyond all doubles
        number = math.inf if Fraction(value) > 0 else -math.inf
    return number if math.isfinite(number) else str(number)


def error_form(error: BaseException) -> dict[str, Any]:
    """An error's code, message and place; of one that is not Sordino's own only its kind and line are told."""
    if isinstance(error, SordinoError):
        place = None if error.place is None else error.place.to_dict()
        return error_document(error.code, str(error), place)
    return error_document(DEFECT, defect_message(error))


def error_document(code: str, message: str, place: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The form of an error that a front door raises itself, such as a misspelt option."""
    return {"error": {"code": code, "message": message, "place": place}}


def defect_message(error: BaseException) -> str:
    """An error that nobody foresaw, without its own message, which may hold data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "unknown" if trace is None else f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"
    return (
        f"a defect in Sordino: {type(error).__name__} in {place}; the details may hold data and are not shown, "
        "set SORDINO_DEBUG=1 to see them"
    )
