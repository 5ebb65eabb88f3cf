"""The tables that trees and forests are grown on, with their public domains written down.

Adult and NLTCS come from the data folder; the rest is what scikit-learn brings along. Bounds of continuous columns are
round numbers that a reader can know without the data; what lies outside is clipped.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from sordino.learn.encoding import Codes, encode_rows
from sordino.learn.random_forest import encode_forest_rows
from sordino.learn.schema import Attribute, Continuous, Discrete, Schema

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path("tabular")
ADULT, NLTCS = FOLDER / "adult_binned.csv", FOLDER / "nltcs_counts.csv"
SHARED = ("Adult", "NLTCS")
BUNDLED = ("breast cancer", "digits", "wine", "iris")
NLTCS_CLASS = 13

# Adult's columns as the file codes them: how many codes there are, and (for numbers) how many bins a tree gets.
ADULT_DOMAIN: dict[str, tuple[int, int | None]] = {
    "age": (85, 10), "workclass": (9, None), "fnlwgt": (100, 10), "education-num": (16, 16),
    "marital-status": (7, None), "occupation": (15, None), "relationship": (6, None), "race": (5, None),
    "sex": (2, None), "capital-gain": (100, 10), "capital-loss": (100, 10), "hours-per-week": (99, 10),
    "native-country": (42, None),
}  # fmt: skip
# Bounds of the ten measurements of the breast cancer data: of their means, their errors, and their worst values.
BREAST_BOUNDS: dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]] = {
    "radius": ((5, 30), (0, 3), (5, 40)),
    "texture": ((5, 40), (0, 5), (10, 50)),
    "perimeter": ((40, 200), (0, 25), (50, 250)),
    "area": ((100, 2500), (0, 500), (100, 4000)),
    "smoothness": ((0.05, 0.2), (0, 0.03), (0.05, 0.25)),
    "compactness": ((0, 0.4), (0, 0.15), (0, 1)),
    "concavity": ((0, 0.5), (0, 0.4), (0, 1.2)),
    "concave points": ((0, 0.2), (0, 0.05), (0, 0.3)),
    "symmetry": ((0.1, 0.3), (0, 0.08), (0.1, 0.7)),
    "fractal dimension": ((0.05, 0.1), (0, 0.03), (0.05, 0.2)),
}
WINE_BOUNDS: dict[str, tuple[float, float]] = {
    "alcohol": (11, 15), "malic_acid": (0, 6), "ash": (1, 4), "alcalinity_of_ash": (10, 30), "magnesium": (50, 200),
    "total_phenols": (0, 4), "flavanoids": (0, 5), "nonflavanoid_phenols": (0, 1), "proanthocyanins": (0, 4),
    "color_intensity": (0, 15), "hue": (0, 2), "od280/od315_of_diluted_wines": (1, 4), "proline": (200, 2000),
}  # fmt: skip
IRIS_BOUNDS = ((4.0, 8.0), (2.0, 5.0), (1.0, 7.0), (0.0, 3.0))
SMALL_BINS, DIGITS_BINS = 4, 2


@dataclass(frozen=True, slots=True)
class Task:
    """A table, encoded once: codes for trees, finer ones for forests."""

    name: str
    schema: Schema
    rows: NDArray[np.float64]
    labels: Codes
    classes: NDArray[np.int64]
    max_rows: int
    codes: Codes
    fine: Codes


def folder() -> Path | None:
    """Where Adult and NLTCS are: under ``SORDINO_DATA``, or in ``../shared/data`` beside the repository."""
    there = Path(os.environ.get("SORDINO_DATA", ROOT.parent / "shared" / "data"))
    return there if all((there / file).is_file() for file in (ADULT, NLTCS)) else None


@cache
def task(name: str) -> Task:
    """One table by its name."""
    if name == "Adult":
        return _adult()
    if name == "NLTCS":
        return _nltcs()
    return _bundled(name)


def _task(
    name: str,
    attributes: Sequence[Attribute],
    rows: NDArray[np.float64],
    labels: NDArray[np.int64],
    bound: int,
) -> Task:
    schema = Schema(tuple(attributes))
    classes = np.arange(int(labels.max()) + 1)
    codes, fine = encode_rows(rows, schema), encode_forest_rows(rows, schema)
    return Task(name, schema, rows, labels.astype(np.int32), classes, bound, codes, fine)


def _there(file: Path) -> Path:
    place = folder()
    if place is None:
        raise SystemExit(f"{file} is not there (set SORDINO_DATA to the folder that holds it)")
    return place / file


def _adult() -> Task:
    table = np.loadtxt(_there(ADULT), delimiter=",", skiprows=1, dtype=np.float64)
    attributes: list[Attribute] = [
        Discrete(name, tuple(range(size))) if bins is None else Continuous(name, (0, size), bins)
        for name, (size, bins) in ADULT_DOMAIN.items()
    ]
    return _task("Adult", attributes, table[:, :-1], table[:, -1].astype(np.int64), 50_000)


def _nltcs() -> Task:
    lines = [line.split(",") for line in _there(NLTCS).read_text().split()[1:]]
    patterns = np.array([[int(bit) for bit in pattern] for pattern, _ in lines])
    table = np.repeat(patterns, [int(count) for _, count in lines], axis=0)
    rows = np.delete(table, NLTCS_CLASS, axis=1).astype(np.float64)
    attributes = [Discrete(f"item {place}", (0, 1)) for place in range(16) if place != NLTCS_CLASS]
    return _task("NLTCS", attributes, rows, table[:, NLTCS_CLASS], 25_000)


def _bundled(name: str) -> Task:
    loaders = {
        "breast cancer": (datasets.load_breast_cancer, _breast_bounds(), SMALL_BINS, 1000),
        "wine": (datasets.load_wine, list(WINE_BOUNDS.items()), SMALL_BINS, 200),
        "iris": (
            datasets.load_iris,
            [(f"measure {place}", bounds) for place, bounds in enumerate(IRIS_BOUNDS)],
            SMALL_BINS,
            200,
        ),
        "digits": (
            datasets.load_digits,
            [(f"pixel {place}", (0.0, 16.0)) for place in range(64)],
            DIGITS_BINS,
            2000,
        ),
    }
    load, bounds, bins, most = loaders[name]
    found = load()
    attributes = [Continuous(column, ends, bins, clip=True) for column, ends in bounds]
    return _task(name, attributes, found.data, found.target.astype(np.int64), most)


def _breast_bounds() -> list[tuple[str, tuple[float, float]]]:
    kinds = ("mean", "error", "worst")
    return [
        (f"{kind} {name}", ends[k]) for k, kind in enumerate(kinds) for name, ends in BREAST_BOUNDS.items()
    ]
