"""diffprivlib's side of the benchmarks; runs in its own environment."""

from __future__ import annotations

import functools
import json
import sys
import time
from typing import Any

import numpy as np
from diffprivlib.mechanisms import Exponential, PermuteAndFlip
from diffprivlib.models import RandomForestClassifier
from diffprivlib.models.forest import DecisionTreeClassifier
from diffprivlib.tools import percentile

MECHANISMS = {"exponential": Exponential, "permute_and_flip": PermuteAndFlip}


@functools.cache
def loaded(path: str, kind: str) -> Any:
    values = np.load(path)
    return values.tolist() if kind == "list" else values


def select(request: dict[str, Any]) -> int:
    """Construction and draw together: the constructor is where it checks and computes probabilities."""
    mechanism = MECHANISMS[request["mechanism"]](
        epsilon=request["epsilon"],
        sensitivity=1.0,
        utility=loaded(request["file"], "list"),
        monotonic=request.get("monotone", False),
    )
    return int(mechanism.randomise())


def quantile(request: dict[str, Any]) -> float:
    return float(
        percentile(
            loaded(request["file"], "numpy"),
            100 * request["q"],
            epsilon=request["epsilon"],
            bounds=(0, request["last"]),
        )
    )


@functools.cache
def arrays(path: str) -> dict[str, Any]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def grow(request: dict[str, Any]) -> dict[str, float]:
    """Fit a tree or a forest with public bounds and classes; seconds to fit and to predict, and the accuracy."""
    table = arrays(request["file"])
    given = {
        "epsilon": request["epsilon"],
        "bounds": (table["lower"], table["upper"]),
        "classes": table["classes"],
        "max_depth": request["depth"],
    }
    trees = request["trees"]
    model = DecisionTreeClassifier(**given)
    if trees:
        model = RandomForestClassifier(trees, shuffle=True, **given)
    start = time.perf_counter()
    model.fit(table["train"], table["train_labels"])
    fitted = time.perf_counter()
    found = model.predict(table["test"])
    done = time.perf_counter()
    accuracy = float((found == table["test_labels"]).mean())
    return {"fit": fitted - start, "predict": done - fitted, "accuracy": accuracy}


OPERATIONS = {"select": select, "quantile": quantile, "grow": grow}

for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "grow":
        arrays(asked["file"])
    else:
        loaded(asked["file"], "list" if asked["op"] == "select" else "numpy")
    start = time.perf_counter()
    found = [OPERATIONS[asked["op"]](asked) for _ in range(asked["draws"])]
    print(json.dumps({"seconds": time.perf_counter() - start, "results": found}), flush=True)
