"""The fields of a policy: each read, checked and named by its path when it is wrong."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from sordino.core.parameters import as_written, choice, did_you_mean, from_text
from sordino.engines import ColumnType
from sordino.sql.policy.places import at_field, field_error

DECLARED_TYPES: tuple[ColumnType, ...] = (
    "integer",
    "decimal",
    "float",
    "text",
    "boolean",
    "date",
    "timestamp",
)
_DECIMAL = re.compile(r"decimal\(\d{1,2}, ?\d{1,2}\)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CUT_OFF = re.compile(r"decimal\(\d{1,2}")


def read_mapping(
    path: str, content: Any, accepted: tuple[str, ...] | None, needed: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Fields by name; None is an empty mapping. ``accepted`` None: the names are the owner's own."""
    shown = path or "file"
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        raise field_error(shown, f" must be a mapping of names to values, got {_kind(content)}")
    for name in content:
        if not isinstance(name, str) or not name:
            raise field_error(shown, f": {name!r} is no name; write it in quotes")
        if accepted is not None and name not in accepted:
            hint = did_you_mean(name, accepted, before="; ")
            raise field_error(
                f"{path}.{name}" if path else name,
                f" is unknown: a field must be one of {', '.join(accepted)}, got {name!r}{hint}",
            )
    for name in needed:
        if name not in content:
            raise field_error(shown, f" lacks {name!r}")
    return dict(content)


def read_string(path: str, value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise field_error(path, f" must be a text, got {value!r}")
    return value


def read_key(path: str, value: Any) -> tuple[tuple[str, ...], bool]:
    """One column name or a list of them, each once; and whether the owner promises that no two rows ever share it."""
    enforced = False
    if isinstance(value, Mapping):
        fields = read_mapping(path, value, ("columns", "enforced"), ("columns",))
        value, enforced = fields["columns"], read_flag(f"{path}.enforced", fields.get("enforced", False))
    names = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        raise field_error(path, f" must be a column name or a list of them, got {value!r}")
    if len({name.casefold() for name in names}) < len(names):
        raise field_error(path, ": a column is named twice")
    return tuple(names), enforced


def read_texts(path: str, value: Any) -> tuple[str, ...]:
    """One text or a list of them."""
    listed = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(listed, list | tuple):
        raise field_error(path, f" must be a text or a list of them, got {_kind(value)}")
    return tuple(read_string(path, item) for item in listed)


def read_whole(path: str, value: Any, *, at_least: int) -> int | None:
    """A whole number, or None where none is given."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise field_error(path, f" must be a whole number of at least {at_least}, got {value!r}")
    return value


def read_flag(path: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise field_error(path, f" must be true or false, got {value!r}")
    return value


def read_number(path: str, value: Any) -> Fraction:
    """A number at the decimal that was written."""
    with at_field(path):
        return (from_text if isinstance(value, str) else as_written)(f"policy {path}", value)


def read_positive(path: str, value: Any, *, below: int | None = None) -> Fraction | None:
    """A number above zero, or None where none is given."""
    if value is None:
        return None
    number = read_number(path, value)
    if number <= 0 or (below is not None and number >= below):
        raise field_error(path, f" must be > 0{f' and < {below}' if below else ''}, got {value!r}")
    return number


def read_seconds(path: str, value: Any) -> Fraction | None:
    """``2s``, ``500ms`` or a number of seconds."""
    if isinstance(value, str):
        text = value.strip().lower()
        for ending, part in (("ms", Fraction(1, 1000)), ("s", Fraction(1))):
            number = text.removesuffix(ending).strip()
            if text.endswith(ending) and number.replace(".", "", 1).isdigit() and Fraction(number) > 0:
                return Fraction(number) * part
        raise field_error(path, f" must be a time such as 2s or 500ms, got {value!r}")
    return read_positive(path, value)


def read_weight(path: str, value: Any) -> Fraction:
    """How much one row is worth in the distance."""
    return read_positive(path, value) or Fraction(1)


def read_type(path: str, value: Any) -> str:
    """A declared type, as written."""
    if not isinstance(value, str):
        raise field_error(path, f" must be one of {', '.join(DECLARED_TYPES)}, got {value!r}")
    wanted = value.strip().lower()
    if _DECIMAL.fullmatch(wanted):
        return wanted
    if _CUT_OFF.fullmatch(wanted):
        raise field_error(
            path,
            f" is {value!r}: inside braces YAML ends it at the comma; write it in quotes, such as "
            '"decimal(10, 2)"',
        )
    with at_field(path):
        return choice(f"policy {path}", wanted, DECLARED_TYPES)


def read_kind(declared: str) -> ColumnType:
    """The catalogue's word for a declared type."""
    return next(kind for kind in DECLARED_TYPES if declared.partition("(")[0] == kind)


def read_granularity(path: str, value: Any, kind: ColumnType | None) -> Fraction | None:
    """The step that sums of the column are counted in."""
    grain = read_positive(path, value)
    if grain is not None and kind == "integer" and grain.denominator != 1:
        raise field_error(path, f" of an integer column must be a whole number, got {value!r}")
    return grain


def read_bounds(path: str, value: Any, grain: Fraction | None) -> tuple[Fraction, Fraction] | None:
    """A public range [lo, hi] of whole multiples of the granularity."""
    if value is None:
        return None
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise field_error(f"{path}.bounds", f" must be a pair [lo, hi], got {value!r}")
    low, high = (read_number(f"{path}.bounds", part) for part in value)
    if not low < high:
        raise field_error(f"{path}.bounds", f" must have lo < hi, got [{low}, {high}]")
    for bound in (low, high):
        if grain is not None and (bound / grain).denominator != 1:
            raise field_error(
                f"{path}.bounds", f": {bound} is not a whole multiple of the granularity {grain}"
            )
    return low, high


def read_period(path: str, value: Any) -> tuple[date, date] | None:
    """A public range [first day, last day]; None where it is no pair of days."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    days = [_read_day(part) for part in value]
    first, last = days
    if first is None or last is None:
        return None
    if not first < last:
        raise field_error(
            f"{path}.bounds", f" must have the first day before the last, got [{first}, {last}]"
        )
    return first, last


def _read_day(value: Any) -> date | None:
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def read_domain(
    path: str, value: Any, kind: ColumnType | None
) -> tuple[str | int | bool | date | None, ...] | None:
    """The values that may be groups, all of the column's type and all apart whatever the engine's collation.

    An engine may compare text without regard to case, accents or trailing blanks; two values that such an engine
    takes for equal would share rows, and groups that share rows may not share a budget.
    """
    if value is None:
        return None
    where = f"{path}.domain"
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise field_error(where, f" must be a list of values, got {_kind(value)}")
    values = tuple(_domain_value(where, item, kind) for item in value)
    folded = [fold(item) for item in values]
    if len(set(folded)) < len(folded):
        raise field_error(where, ": two values are equal, or differ in case, accents or blanks only")
    if len({type(item) for item in values if item is not None}) > 1:
        raise field_error(where, " mixes types: write all texts in quotes, or none")
    return values


def fold(value: Any) -> Any:
    """Values that some engine may take for equal, made equal."""
    if isinstance(value, str):
        plain = "".join(c for c in unicodedata.normalize("NFKD", value) if not unicodedata.combining(c))
        return plain.casefold().rstrip()
    return value


def _domain_value(where: str, value: Any, kind: ColumnType | None) -> str | int | bool | date | None:
    if value is None:
        return None
    accepted: dict[str, type] = {"text": str, "integer": int, "boolean": bool, "date": date}
    if kind is not None and kind not in accepted:
        raise field_error(
            where, f": a column of type {kind} cannot be a group; text, integer, boolean and date can"
        )
    if kind == "date" and isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            raise field_error(where, f": {value!r} is no date such as 2024-01-31") from None
    if isinstance(value, datetime) or not isinstance(value, str | int | date):
        raise field_error(where, f": {value!r} is no text, integer, boolean or date")
    if kind is not None and type(value) is not accepted[kind]:
        raise field_error(where, f": {value!r} is not of type {kind}")
    if isinstance(value, str) and "\0" in value:
        raise field_error(where, ": a text with a zero character")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise field_error(where, f": {value} does not fit 64 bits")
    return value


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__
