"""The tables of the trees' benchmarks: Adult if it is at hand, and binary ones that are made up."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
ADULT = Path("tabular") / "adult_binned.csv"
# How many codes a column has, and (for numbers) how many bins a tree gets.
DOMAIN: dict[str, tuple[int, int | None]] = {
    "age": (85, 10), "workclass": (9, None), "fnlwgt": (100, 10), "education-num": (16, 16),
    "marital-status": (7, None), "occupation": (15, None), "relationship": (6, None), "race": (5, None),
    "sex": (2, None), "capital-gain": (100, 10), "capital-loss": (100, 10), "hours-per-week": (99, 10),
    "native-country": (42, None),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Split:
    """Rows to learn from and to test on, with the public schema."""

    schema: dict[str, Any]
    train: NDArray[np.float64]
    train_labels: NDArray[np.int64]
    test: NDArray[np.float64]
    test_labels: NDArray[np.int64]

    def save(self, path: Path, *, one_hot: bool = False) -> str:
        """For the peer, which knows numbers only: codes as they are, or a 0/1 column per value of a discrete one."""
        train, test = self.train, self.test
        upper = [_size(domain) for domain in self.schema.values()]
        if one_hot:
            train, test, upper = (self._spread(train), self._spread(test), self._upper())
        np.savez(
            path,
            train=train,
            train_labels=self.train_labels,
            test=test,
            test_labels=self.test_labels,
            lower=np.zeros(train.shape[1]),
            upper=np.array(upper, dtype=np.float64),
            classes=np.array([0, 1]),
        )
        return str(path)

    def _spread(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = []
        for column, domain in zip(rows.T, self.schema.values(), strict=True):
            if isinstance(domain, dict):
                columns.append(column[:, None])
            else:
                columns.append((column[:, None] == np.array(domain)).astype(np.float64))
        return np.hstack(columns)

    def _upper(self) -> list[float]:
        found: list[float] = []
        for domain in self.schema.values():
            found += [_size(domain)] if isinstance(domain, dict) else [1.0] * len(domain)
        return found


def _size(domain: Any) -> float:
    return float(domain["bounds"][1] if isinstance(domain, dict) else len(domain) - 1)


def adult() -> NDArray[np.float64] | None:
    """Adult as coded integers, the class last: under ``SORDINO_DATA``, or in ``../shared/data``."""
    path = Path(os.environ.get("SORDINO_DATA", ROOT.parent / "shared" / "data")) / ADULT
    return np.loadtxt(path, delimiter=",", skiprows=1) if path.is_file() else None


def adult_schema() -> dict[str, Any]:
    return {
        name: list(range(size)) if bins is None else {"bounds": [0, size], "bins": bins}
        for name, (size, bins) in DOMAIN.items()
    }


def split(table: NDArray[np.float64], schema: dict[str, Any], seed: int) -> Split:
    """Four fifths to learn from, a fifth to test on."""
    order = np.random.default_rng(seed).permutation(len(table))
    test, train = table[order[: len(order) // 5]], table[order[len(order) // 5 :]]
    labels = [part[:, -1].astype(np.int64) for part in (train, test)]
    return Split(schema, train[:, :-1], labels[0], test[:, :-1], labels[1])


def binary(rows: int, columns: int, seed: int) -> NDArray[np.float64]:
    """0/1 columns of different frequencies; the class follows a few of them, and is wrong in every tenth row."""
    generator = np.random.default_rng(seed)
    table = (generator.random((rows, columns)) < np.linspace(0.2, 0.8, columns)).astype(np.float64)
    score = 2 * table[:, 3] + table[:, 7] - table[:, 11] + table[:, 2] * table[:, 5]
    labels = (score > 1) ^ (generator.random(rows) < 0.1)
    return np.column_stack([table, labels])
