"""All mechanisms beside one another on one question, by their exact laws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from sordino.core import SordinoError
from sordino.mechanisms.selection.options import Options, checked_options
from sordino.mechanisms.selection.question import question
from sordino.mechanisms.selection.registry import MECHANISMS
from sordino.mechanisms.selection.select import mean_error, quantile_of_error

# (mechanism, particular options): every variant that a caller could ask for.
_VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exponential", {}),
    ("permute_and_flip", {}),
    ("report_noisy_max", {"noise": "laplace"}),
    ("local_dampening", {"sampler": "exponential"}),
    ("local_dampening", {"sampler": "permute_and_flip"}),
    ("shifted_dampening", {"sampler": "exponential", "direction": "plus"}),
    ("shifted_dampening", {"sampler": "permute_and_flip", "direction": "plus"}),
    ("shifted_dampening", {"sampler": "permute_and_flip", "direction": "minus"}),
    ("smooth_noisy_max", {"noise": "polynomial"}),
    ("smooth_noisy_max", {"noise": "laplace"}),
    ("smooth_noisy_max", {"noise": "lln"}),
    ("smooth_noisy_max", {"noise": "student_t"}),
    ("smooth_noisy_max", {"noise": "certified"}),
    ("smooth_noisy_max", {"noise": "winner"}),
    ("inverse_sensitivity", {"sampler": "permute_and_flip"}),
)
_ONLY_DAMPENED = ("local_dampening", "shifted_dampening", "inverse_sensitivity")


@dataclass(frozen=True, slots=True)
class Entry:
    """One mechanism's exact errors, or the reason why it does not apply."""

    mechanism: str
    options: str
    expected_error: float | None
    error_95: float | None
    best_probability: float | None
    guarantee: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Entries by rising expected error; those that do not apply come last, with their reasons."""

    entries: tuple[Entry, ...]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def best(self) -> Entry:
        """The smallest expected error. Choosing by it looks at the data: use it to study, not to release."""
        return self.entries[0]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain data for JSON or a data frame."""
        return [{name: getattr(entry, name) for name in Entry.__slots__} for entry in self.entries]

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from sordino.mechanisms.selection.compare_view import render_comparison

        return render_comparison(self)

    def plot(self) -> Any:
        """Bars of all errors; a matplotlib figure, as confidential as the data."""
        from sordino.mechanisms.selection.compare_view import plot_comparison

        return plot_comparison(self)

    def __str__(self) -> str:
        lines = [f"{'mechanism':<22}{'options':<44}{'expected error':>15}{'95 % error':>13}{'P(best)':>10}"]
        for entry in self.entries:
            head = f"{entry.mechanism:<22}{entry.options:<44}"
            if entry.reason is not None:
                lines.append(f"{head}  - {entry.reason}")
            else:
                lines.append(
                    f"{head}{entry.expected_error:>15.6g}{entry.error_95:>13.6g}{entry.best_probability:>10.4f}"
                )
        return "\n".join(lines)


def compare(scores: ArrayLike, **options: Unpack[Options]) -> Comparison:
    """Exact errors of every mechanism for one question, on data that the caller holds.

    A pure function of its input: the table depends on the data and is as confidential as they are.
    """
    checked_options(options)
    question(scores, **options)  # what is wrong for every mechanism is an error, not a row of the table
    entries = []
    for name, particular in _VARIANTS:
        given: dict[str, Any] = {**options, **particular}
        if name in _ONLY_DAMPENED:
            given["monotone"] = False
        if name != "inverse_sensitivity":
            given.pop("changes", None)
        entries.append(_entry(scores, name, particular, given))
    entries.sort(key=lambda entry: np.inf if entry.expected_error is None else entry.expected_error)
    return Comparison(tuple(entries))


def _entry(scores: ArrayLike, name: str, particular: dict[str, Any], given: dict[str, Any]) -> Entry:
    label = ", ".join(f"{key} {value}" for key, value in particular.items())
    try:
        asked = question(scores, **given)
        selection = MECHANISMS[name].prepare(asked)
        law = np.exp(selection.log_law())
    except SordinoError as error:
        return Entry(name, label, None, None, None, None, str(error))
    best = float(law[asked.scores == asked.scores.max()].sum())
    return Entry(
        name,
        label,
        mean_error(asked.scores, law),
        quantile_of_error(asked.scores, law, 0.95),
        best,
        str(selection.guarantee.loss),
    )
