"""What `select` and `compare` ask for in common, and how it becomes the arguments of the library."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sordino.core import Distance, ParameterError, add_remove_row, flip_edge, replace_row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sordino.cli.table import FileTable
    from sordino.sensitivity import Profile


class Neighbours(StrEnum):
    """What one change is."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"
    FLIP_EDGE = "flip-edge"

    @property
    def distance(self) -> Distance:
        """The Distance of that name."""
        return {"add-remove": add_remove_row, "replace": replace_row, "flip-edge": flip_edge}[self.value]()


File = Annotated[
    str, typer.Argument(help="CSV or Parquet with one row per candidate; '-' reads CSV from a pipe.")
]
Score = Annotated[
    str | None, typer.Option(help="Column with the scores; larger is better.", metavar="COLUMN")
]
Label = Annotated[
    str | None,
    typer.Option(help="Column that names the candidates; row numbers otherwise.", metavar="COLUMN"),
]
Epsilon = Annotated[float, typer.Option("--epsilon", "-e", help="The privacy loss to spend; must be > 0.")]
Delta = Annotated[
    float, typer.Option(help="Probability that the loss may exceed epsilon, where a mechanism uses it.")
]
Sensitivity = Annotated[
    float | None, typer.Option(help="The most that one change moves any score, whatever the data.")
]
ProfileFile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help="CSV or Parquet with the columns δ(0), δ(1), …: how far one further change moves a score, t changes away "
        "from this data. One row per candidate (matched by the --label column if it has one, by order otherwise), or "
        "one row for all. Needs --bound.",
        metavar="FILE",
    ),
]
Bound = Annotated[
    float | None, typer.Option(help="Global sensitivity: δ(t) for every t past the profile's columns.")
]
Monotone = Annotated[
    bool,
    typer.Option("--monotone", help="Every score moves the same way when a row is added: half the noise."),
]
Step = Annotated[
    float | None, typer.Option(help="Public grid of the scores; needed only without a finite bound.")
]
NeighboursOption = Annotated[Neighbours, typer.Option("--distance", help="What one change is.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The scores with the names of the candidates and the profile of their sensitivity."""

    scores: NDArray[np.float64]
    labels: list[str]
    profile: Profile


def read_candidates(
    file: str,
    score: str | None,
    label: str | None,
    *,
    sensitivity: float | None,
    profile: str | None,
    bound: float | None,
    distance: Distance,
) -> Candidates:
    """Read and check the files; the parameters come first, so that a slip in them is said before any reading."""
    if (sensitivity is None) == (profile is None):
        raise ParameterError("give exactly one of --sensitivity X and --profile FILE")
    if profile is not None and bound is None:
        raise ParameterError("--profile needs --bound, the global sensitivity (δ(t) past the last column)")
    if sensitivity is not None and bound is not None:
        raise ParameterError("--bound belongs to --profile; --sensitivity is itself the bound")
    if file == "-" and profile == "-":
        raise ParameterError("only one of the candidates and the profile can come from standard input")
    from sordino.cli.read_table import read_table
    from sordino.cli.table import choose_column
    from sordino.sensitivity import Profile

    constant = None if sensitivity is None else Profile.constant(sensitivity, distance=distance)
    table = read_table(file)
    scores = table.numbers(choose_column(table, score, "--score"))
    if label is None:
        labels = [str(row) for row in range(1, len(scores) + 1)]
    else:
        labels = table.texts(choose_column(table, label, "--label"))
    if constant is None:
        constant = _profile(read_table(str(profile)), label, labels, bound, distance)
    return Candidates(scores, labels, constant)


def _profile(
    table: FileTable, label: str | None, labels: list[str], bound: Any, distance: Distance
) -> Profile:
    import numpy as np

    from sordino.cli.table import reads_as_number
    from sordino.sensitivity import Profile

    steps = [name for name in table.header if name != label]
    if not steps:
        raise ParameterError(f"{table.name} has no columns for δ(0), δ(1), …")
    if any(reads_as_number(name) for name in steps):
        raise ParameterError(
            f"the first line of {table.name} must name the columns (such as d0,d1); it holds numbers"
        )
    if len(set(steps)) != len(steps):
        raise ParameterError(f"{table.name} has two columns of the same name")
    rows = np.stack([table.numbers(name) for name in steps], axis=1)
    if label in table.header:
        rows = rows[_places(table, str(label), labels)]
    elif len(rows) == 1:
        return Profile.from_table(rows[0], bound=bound, distance=distance)
    return Profile.from_table(rows, bound=bound, distance=distance)


def _places(table: FileTable, label: str, labels: list[str]) -> list[int]:
    """The profile's row of every candidate, by name."""
    names = table.texts(label)
    place = {name: row for row, name in enumerate(names)}
    if len(place) != len(names) or len(set(labels)) != len(labels):
        raise ParameterError(f"column {label!r} must name every candidate once to match {table.name} by it")
    missing = sum(name not in place for name in labels)
    if missing:
        raise ParameterError(f"{table.name} has no row for {missing} of the {len(labels)} candidates")
    return [place[name] for name in labels]
