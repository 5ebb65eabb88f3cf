"""Schema: the public domain of every attribute, given by the caller and never read from the data."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import bounds as checked_bounds
from sordino.core.parameters import did_you_mean, flag, whole

DEFAULT_BINS = 10
MISSING = "missing"
_HELP = 'give a list or {"values": [...]} for a discrete one, {"bounds": [lo, hi], "bins": 10} for a continuous one'


@dataclass(frozen=True, slots=True)
class Discrete:
    """An attribute with finitely many public values; with ``missing``, a null is one more.

    >>> from sordino.learn import Discrete
    >>> Discrete("member", ("no", "yes"), missing=True).size
    3
    """

    name: str
    values: tuple[Any, ...]
    missing: bool = False

    @property
    def size(self) -> int:
        """How many codes there are: the values, and the null where it is allowed."""
        return len(self.values) + self.missing

    def label(self, code: int) -> str:
        """How a code is shown."""
        return MISSING if code == len(self.values) else str(self.values[code])


@dataclass(frozen=True, slots=True)
class Continuous:
    """A number within public bounds, cut into equal bins; with ``missing``, a null is one more code.

    ``clip`` moves what lies outside to the nearer bound (row by row, so it costs nothing) instead of refusing it.

    >>> from sordino.learn import Continuous
    >>> age = Continuous("age", (0, 100), bins=4)
    >>> [age.label(code) for code in range(age.size)]
    ['[0, 25)', '[25, 50)', '[50, 75)', '[75, 100]']
    """

    name: str
    bounds: tuple[float, float]
    bins: int = DEFAULT_BINS
    missing: bool = False
    clip: bool = False

    @property
    def size(self) -> int:
        """How many codes there are: the bins, and the null where it is allowed."""
        return self.bins + self.missing

    @property
    def edges(self) -> NDArray[np.float64]:
        """The inner edges of the bins; a value equal to an edge belongs to the bin above it."""
        return np.linspace(*self.bounds, self.bins + 1)[1:-1]

    def label(self, code: int) -> str:
        """How a code is shown."""
        if code == self.bins:
            return MISSING
        cuts = [self.bounds[0], *self.edges.tolist(), self.bounds[1]]
        return f"[{cuts[code]:g}, {cuts[code + 1]:g}{']' if code + 1 == self.bins else ')'}"


Attribute = Discrete | Continuous


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes in the order of the columns.

    >>> from sordino.learn import Continuous, Discrete, Schema
    >>> Schema((Discrete("member", ("no", "yes")), Continuous("age", (0, 100), bins=4))).sizes
    (2, 4)
    """

    attributes: tuple[Attribute, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of codes of each attribute."""
        return tuple(attribute.size for attribute in self.attributes)


def as_schema(given: Any) -> Schema:
    """A schema from a mapping, a JSON file, a data frame's declared categories, or a Schema.

    A mapping gives for each column a list of values, ``{"values": […], "missing": true}``, or
    ``{"bounds": [lo, hi], "bins": 10, "missing": false, "clip": false}``, or a categorical dtype of pandas or an Enum
    of polars. Of a data frame only the dtypes are looked at.

    >>> from sordino.learn import as_schema
    >>> as_schema({"member": ["no", "yes"], "age": {"bounds": [0, 100], "bins": 4}}).names
    ('member', 'age')
    """
    if isinstance(given, Schema):
        return given
    if given is None:
        raise ParameterError(
            "schema= is missing: the public values or bounds of every column must be given, "
            f"they are never read from the data; for each column {_HELP}"
        )
    if isinstance(given, str | Path):
        given = _read(Path(given))
    elif hasattr(given, "dtypes") and hasattr(given, "columns"):
        given = dict(zip(list(given.columns), list(given.dtypes), strict=True))
    if isinstance(given, Sequence) and given and all(isinstance(one, Discrete | Continuous) for one in given):
        return _checked(tuple(given))
    if not isinstance(given, Mapping) or not given:
        raise ParameterError(
            "schema must be a mapping from column names to domains, a JSON file of one, or a data frame with "
            f"categorical dtypes, got {type(given).__name__}; for each column {_HELP}"
        )
    return _checked(tuple(_attribute(str(name), domain) for name, domain in given.items()))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise ParameterError(f"schema file {path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ParameterError(f"schema file {path} is not JSON: {error}") from None


def _attribute(name: str, domain: Any) -> Attribute:
    if isinstance(domain, Discrete | Continuous):
        return replace(domain, name=name)
    if hasattr(domain, "categories"):  # a categorical dtype of pandas, an Enum of polars
        if domain.categories is None:
            raise ParameterError(f"schema of {name!r}: the categorical dtype has no categories; {_HELP}")
        return Discrete(name, tuple(domain.categories))
    if isinstance(domain, Mapping):
        return _from_mapping(name, domain)
    if isinstance(domain, Iterable) and not isinstance(domain, str | bytes):
        return Discrete(name, tuple(domain))
    raise ParameterError(f"schema of {name!r}: {domain!r} is not a domain; {_HELP}")


def _from_mapping(name: str, domain: Mapping[str, Any]) -> Attribute:
    if "values" not in domain and "bounds" not in domain and ("bins" in domain or "clip" in domain):
        raise ParameterError(f"schema of {name!r}: a continuous column needs public bounds; {_HELP}")
    fields = ("bounds", "bins", "missing", "clip") if "bounds" in domain else ("values", "missing")
    for field in domain:
        if field not in fields:
            others = {"values", "bounds", "bins", "missing", "clip"} - {field}
            hint = did_you_mean(field, sorted(others), before="; ")
            raise ParameterError(
                f"schema of {name!r}: field {field!r} does not belong here, {', '.join(fields)} do{hint}; {_HELP}"
            )
    missing = flag(f"schema of {name!r}: missing", domain.get("missing", False))
    if "bounds" in domain:
        clip, bins = domain.get("clip", False), domain.get("bins", DEFAULT_BINS)
        return Continuous(name, domain["bounds"], bins, missing, clip)
    if "values" not in domain:
        raise ParameterError(f"schema of {name!r}: neither values nor bounds are given; {_HELP}")
    values = domain["values"]
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError(f"schema of {name!r}: values must be a list, got {values!r}")
    return Discrete(name, tuple(values), missing)


def _checked(attributes: tuple[Attribute, ...]) -> Schema:
    names = [attribute.name for attribute in attributes]
    if len(set(names)) < len(names):
        raise ParameterError(f"schema names a column twice: {', '.join(names)}")
    return Schema(tuple(map(_checked_attribute, attributes)))


def _checked_attribute(attribute: Attribute) -> Attribute:
    where = f"schema of {attribute.name!r}"
    flag(f"{where}: missing", attribute.missing)
    if isinstance(attribute, Continuous):
        flag(f"{where}: clip", attribute.clip)
        bins = whole(f"{where}: bins", attribute.bins, least=2)
        try:
            low, high = checked_bounds(attribute.bounds)
        except ParameterError as error:
            raise ParameterError(f"{where}: {error}") from None
        if math.isinf(high - low):
            raise ParameterError(f"{where}: bounds must be less than 1.8e308 apart, got ({low:g}, {high:g})")
        return replace(attribute, bounds=(low, high), bins=bins)
    if not attribute.values:
        raise ParameterError(f"{where}: there must be at least one value")
    if not all(isinstance(value, Hashable) for value in attribute.values):
        raise ParameterError(f"{where}: values must be texts, numbers or booleans, not lists of them")
    if any(value is None or value != value for value in attribute.values):
        raise ParameterError(f'{where}: a null is not a value; allow it with "missing": true')
    if len(set(attribute.values)) < len(attribute.values):
        raise ParameterError(f"{where}: a value is listed twice")
    plain = (value.item() if isinstance(value, np.generic) else value for value in attribute.values)
    return replace(attribute, values=tuple(plain))


def as_classes(given: Any) -> NDArray[Any]:
    """The public classes, sorted, at least two."""
    if given is None:
        raise ParameterError("classes= is missing: the public class labels must be given, for example [0, 1]")
    values = list(given.categories) if hasattr(given, "categories") else given
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError(f"classes must be a list of labels, got {given!r}")
    listed = list(values)
    texts = sum(isinstance(label, str) for label in listed)
    try:
        if texts not in (0, len(listed)) or any(label is None or label != label for label in listed):
            raise TypeError
        classes = np.unique(np.asarray(listed))
    except (TypeError, ValueError):
        raise ParameterError(f"classes must be of one type that can be sorted, got {listed!r}") from None
    if len(classes) < len(listed):
        raise ParameterError(f"classes lists a label twice: {listed!r}")
    if len(classes) < 2:
        raise ParameterError(f"classes must hold at least two labels, got {listed!r}")
    return classes
