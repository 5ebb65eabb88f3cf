"""All mechanisms beside one another on one question, by their exact laws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from sordino.core import SordinoError
from sordino.mechanisms.selection.mechanism import Mechanism
from sordino.mechanisms.selection.options import SelectionOptions, check_options
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.registry import MECHANISMS, check_question
from sordino.mechanisms.selection.select import mean_error, quantile_of_error


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


def compare(scores: ArrayLike, **options: Unpack[SelectionOptions]) -> Comparison:
    """Exact errors of every mechanism for one question, on data that the caller holds.

    A pure function of its input: the table depends on the data and is as confidential as they are.

    >>> import sordino as sd
    >>> profile = sd.Profile.from_table([[4, 8], [3, 6], [1, 2]], bound=100)
    >>> table = sd.compare([52.0, 31.0, 3.0], profile=profile, epsilon=1.0)
    >>> table.best.mechanism
    'inverse_sensitivity'
    """
    check_options(options)
    pose_question(scores, **options)  # what is wrong for every mechanism is an error, not a row of the table
    entries = []
    for entry in MECHANISMS.values():
        traits = entry.traits
        given: dict[str, Any] = dict(options)
        if not traits.monotone:
            given["monotone"] = False
        if not traits.counts_changes:
            given.pop("changes", None)
        entries += [_entry(scores, entry, variant, given | dict(variant)) for variant in traits.variants]
    entries.sort(key=lambda entry: np.inf if entry.expected_error is None else entry.expected_error)
    return Comparison(tuple(entries))


def _entry(
    scores: ArrayLike, mechanism: Mechanism, variant: Mapping[str, str], given: dict[str, Any]
) -> Entry:
    name = mechanism.traits.name
    label = ", ".join(f"{key} {value}" for key, value in variant.items())
    try:
        asked = pose_question(scores, **given)
        check_question(mechanism.traits, asked)
        selection = mechanism.prepare(asked)
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
