"""Release: what may be published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sordino.core.errors import missing_package
from sordino.core.guarantee import Guarantee
from sordino.core.release_view import list_columns, plot_release, render_release, say_error
from sordino.core.secret import Secret
from sordino.display.frames import FRAMES


@dataclass(frozen=True, slots=True)
class Release:
    """One private answer.

    ``value``, ``guarantee``, ``mechanism``, ``error``, ``errors`` and ``notes`` may be published. ``error`` is a
    radius, where one is public or was paid for: 95 % of draws lie within it of the exact answer, each number of
    a table by itself. ``errors`` is the same for every column of a table that holds noise (None where no radius is
    known). ``notes`` are sentences that a reader of the value should know.
    ``details`` is the owner's: what depends on the data and was not paid for. ``private`` is False only for values
    drawn inside ``sordino.testing.seeded``, and then the guarantee says so too.

    >>> import sordino as sd
    >>> release = sd.add_noise(41, 1, epsilon=0.5, noise="discrete_laplace", step=1)
    >>> print(release.guarantee.loss, release.mechanism, release.details)
    ε = 0.5 discrete_laplace noise <secret>
    >>> release.details.reveal()["exact"]
    41.0
    """

    value: Any
    guarantee: Guarantee
    mechanism: str
    error: float | None = None
    errors: Mapping[str, float | None] | None = None
    notes: tuple[str, ...] = ()
    private: bool = True
    details: Secret[dict[str, Any]] = field(default_factory=lambda: Secret({}), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.private and self.guarantee.private:
            seeded = replace(self.guarantee.loss, private=False)
            object.__setattr__(self, "guarantee", replace(self.guarantee, loss=seeded))

    def __repr__(self) -> str:
        return f"Release({self.value!r}, {self.guarantee.loss}, {self.mechanism})"

    def __str__(self) -> str:
        lines = [f"{self.value}   ({self.mechanism}; {self.guarantee})"]
        if self.error is not None:
            lines.append(say_error(self, self.error))
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        """What notebooks show: the publishable part only."""
        return render_release(self)

    def to_pandas(self) -> Any:
        """The value as a pandas DataFrame: a row per group, per item of a list, or one row."""
        return self._framed("pandas")

    def to_polars(self) -> Any:
        """The value as a polars DataFrame, as `to_pandas`."""
        return self._framed("polars")

    def to_arrow(self) -> Any:
        """The value as an Arrow table, as `to_pandas`."""
        return self._framed("pyarrow")

    def plot(self, column: str | None = None) -> Any:
        """Bars of the released numbers with their 95 % radii as whiskers; a matplotlib figure.

        ``column`` chooses one column of a table; None draws all that hold noise.
        """
        return plot_release(self, column)

    def _framed(self, library: str) -> Any:
        try:
            return FRAMES[library](list_columns(self))
        except ModuleNotFoundError as error:
            raise missing_package(error) from None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the publishable part only."""
        value = self.value.tolist() if hasattr(self.value, "tolist") else self.value
        content: dict[str, Any] = {
            "value": value,
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.to_dict(),
            "private": self.private,
        }
        if self.error is not None:
            content["error"] = self.error
        if self.errors is not None:
            content["errors"] = dict(self.errors)
        return content | {"notes": list(self.notes)} if self.notes else content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], guarantee: Guarantee) -> Release:
        """What `to_dict` wrote, with its guarantee."""
        return cls(
            content["value"],
            guarantee,
            content["mechanism"],
            error=content.get("error"),
            errors=content.get("errors"),
            notes=tuple(content.get("notes", ())),
            private=content["private"],
        )
