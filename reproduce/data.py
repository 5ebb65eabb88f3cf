"""The DPBench histograms that the papers use, if they are at hand."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
FILE = Path("dpbench-1d") / "dpbench_1d_4096.csv"
NAMES = ("HEPTH", "PATENT", "INCOME")


def data_file() -> Path | None:
    """The CSV of histograms: under ``SORDINO_DATA``, or in ``../shared/data`` beside the repository."""
    folder = Path(os.environ.get("SORDINO_DATA", ROOT.parent / "shared" / "data"))
    path = folder / FILE
    return path if path.is_file() else None


def histograms(path: Path) -> dict[str, NDArray[np.float64]]:
    """The 4096 counts of each data set."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in NAMES}
