"""The DPBench histograms, if they are at hand; otherwise stand-ins of the same size, said to be so."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("HEPTH", "INCOME", "PATENT")


def histograms() -> dict[str, NDArray[np.int64]]:
    """4096 counts per data set, from ``SORDINO_DATA`` or ``../shared/data``."""
    folder = Path(os.environ.get("SORDINO_DATA", ROOT.parent / "shared" / "data"))
    path = folder / "dpbench-1d" / "dpbench_1d_4096.csv"
    if not path.is_file():
        print("dpbench-1d/dpbench_1d_4096.csv is not there (set SORDINO_DATA): generated histograms stand in")
        return _generated()
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([int(float(row[name])) for row in rows]) for name in NAMES}


def records(counts: NDArray[np.int64], size: int, seed: int) -> NDArray[np.int32]:
    """``size`` records drawn from a histogram, each the number of its bin."""
    generator = np.random.default_rng(seed)
    return generator.choice(len(counts), size=size, p=counts / counts.sum()).astype(np.int32)


def _generated() -> dict[str, NDArray[np.int64]]:
    generator = np.random.default_rng(4096)
    bins = np.arange(4096)
    return {
        "generated, smooth": generator.poisson(90 * np.exp(-(((bins - 2500) / 900) ** 2))),
        "generated, skewed": generator.poisson(2e6 / (1 + bins) ** 1.5),
        "generated, sparse": generator.poisson(40.0, 4096) * (generator.random(4096) < 0.1),
    }
