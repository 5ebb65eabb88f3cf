"""Time to fit 50 000 rows of 23 binary attributes, beside diffprivlib's forests on the same table.

Their trees split at random and look at the data in the leaves only; ours choose every split.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import tree_files
from peers import Peer
from report import Check, Report, interleaved, medians

from sordino.learn import DecisionTreeClassifier, RandomForestClassifier

ROWS, COLUMNS = 50_000, 23
SHIFTED = "Sordino tree, depth 5, information gain, shifted dampening"
FOREST = "Sordino forest, 32 trees"
TEN, MANY = "diffprivlib forest, 10 trees", "diffprivlib forest, 32 trees"


def run(quick: bool = False) -> list[Report]:
    table = tree_files.binary(ROWS * 5 // 4, COLUMNS, 1)
    schema = {f"item {place}": [0, 1] for place in range(COLUMNS)}
    part = tree_files.split(table, schema, 1)
    public = {"schema": schema, "classes": [0, 1], "max_rows": 60_000}
    models = {
        SHIFTED: DecisionTreeClassifier(
            1.0, criterion="information_gain", selection="shifted_dampening", **public
        ),
        "Sordino tree, depth 5, information gain, local dampening": DecisionTreeClassifier(
            1.0, criterion="information_gain", selection="local_dampening", **public
        ),
        "Sordino tree, depth 5, information gain, permute-and-flip": DecisionTreeClassifier(
            1.0, criterion="information_gain", **public
        ),
        "Sordino tree, depth 5, max operator, permute-and-flip": DecisionTreeClassifier(
            1.0, criterion="max_operator", **public
        ),
        FOREST: RandomForestClassifier(1.0, **public),
    }

    def ours(model: DecisionTreeClassifier | RandomForestClassifier) -> Callable[[], float]:
        def fit() -> float:
            start = time.perf_counter()
            model.fit(part.train, part.train_labels)
            return time.perf_counter() - start

        return fit

    with tempfile.TemporaryDirectory() as name, Peer("diffprivlib") as peer:
        file = part.save(Path(name) / "binary.npz")

        def theirs(trees: int) -> Callable[[], float]:
            request = {"op": "grow", "file": file, "trees": trees, "depth": 5, "epsilon": 1.0, "draws": 1}
            return lambda: float(peer.ask(**request)["results"][0]["fit"])

        methods = {label: ours(model) for label, model in models.items()}
        found = medians(interleaved(methods | {TEN: theirs(10), MANY: theirs(32)}, 2 if quick else 7))
    rows = [
        [label, f"{1e3 * seconds:.3g} ms", f"{seconds / found[TEN]:.2f}×", f"{seconds / found[MANY]:.2f}×"]
        for label, seconds in found.items()
    ]
    checks = [
        Check(
            f"{one.removeprefix('Sordino ')} no slower than {other}",
            f"{found[one] / found[other]:.2f} of its time",
            found[one] <= found[other],
        )
        for one, other in ((SHIFTED, TEN), (FOREST, MANY))
    ]
    header = ["fit, 50 000 × 23 binary", "time", "beside their 10 trees", "beside their 32 trees"]
    return [Report("tree-speed", header, rows, checks, found)]
