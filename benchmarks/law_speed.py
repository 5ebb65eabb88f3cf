"""How long does an exact law take? Shifted dampening beside the plain exponential law; permute-and-flip laws."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from report import Check, Report, interleaved, medians

import sordino as sd

GROUPS, STEPS = 1000, 64
PLAIN = "exponential"
SHIFTED = f"shifted dampening, {GROUPS} profile rows"
OWN_ROWS = "shifted dampening, a profile row of 8 steps per candidate"


def run(quick: bool = False) -> Report:
    generator = np.random.default_rng(20261)
    rows, raw = [], {}
    worst = {SHIFTED: 0.0, OWN_ROWS: 0.0}
    for size in (10**5, 10**6):
        scores = generator.random(size) * 100
        group_of = generator.integers(0, GROUPS, size)
        grouped = sd.Profile.grouped(_table(generator, GROUPS, STEPS), group_of, bound=1.0)
        own = sd.Profile.from_table(_table(generator, size, 8), bound=1.0)
        few = np.floor(scores)

        def law(
            values: np.ndarray, profile: sd.Profile | float, mechanism: str, **options: str
        ) -> Callable[[], float]:
            def timed() -> float:
                start = time.perf_counter()
                sd.selection_law(values, profile=profile, epsilon=1.0, mechanism=mechanism, **options)
                return time.perf_counter() - start

            return timed

        methods = {
            PLAIN: law(scores, 1.0, "exponential"),
            SHIFTED: law(scores, grouped, "shifted_dampening", sampler="exponential"),
            OWN_ROWS: law(scores, own, "shifted_dampening", sampler="exponential"),
            "permute-and-flip, all scores different": law(scores, 1.0, "permute_and_flip"),
            "permute-and-flip, 100 different scores": law(few, 1.0, "permute_and_flip"),
            "local dampening, exponential sampler": law(
                scores, grouped, "local_dampening", sampler="exponential"
            ),
        }
        found = medians(interleaved(methods, 2 if quick else 7))
        raw[str(size)] = found
        worst = {name: max(ratio, found[name] / found[PLAIN]) for name, ratio in worst.items()}
        rows += [
            [f"10^{len(str(size)) - 1}", method, f"{1e3 * seconds:.3g} ms", f"{seconds / found[PLAIN]:.2f}×"]
            for method, seconds in found.items()
        ]
    checks = [
        Check(f"{name}: law at most 3× the exponential law", f"at most {ratio:.2f}×", ratio <= 3)
        for name, ratio in worst.items()
    ]
    header = ["candidates", "law", "time", "beside the exponential law"]
    return Report("law-speed", header, rows, checks, raw)


def _table(generator: np.random.Generator, rows: int, steps: int) -> np.ndarray:
    return np.sort(generator.random((rows, steps)), axis=1)
