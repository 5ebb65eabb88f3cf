"""Every mechanism's draws against its exact law.

Each test draws N = 20 000 times and bounds the deviation of every frequency from its probability by Bernstein's
inequality at 10⁻⁸ per candidate: with about 20 tests of at most 8 candidates the false-alarm rate is below 4·10⁻⁶ over
all seeds, and the seed is fixed, so a pass repeats. The control draws from the law of another ε and must fail.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sordino as sd
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.registry import MECHANISMS
from sordino.testing import seeded

RUNS = 20_000
RISK = 1e-8 / 2

SCORES = np.array([0.0, 1.0, 2.5, 2.5, 4.0, -3.0])
ELEMENT = sd.Profile.from_table(
    [[0.2, 0.4], [0.1, 0.9], [0.0, 1.0], [0.5, 1.5], [0.3, 0.3], [1.0, 2.0]], bound=2.0
)
WINNER = (np.array([0.0, 0.0, 1.0, 0.0]), sd.Profile.from_table(np.zeros(1), bound=1.0))

CASES = [
    ("exponential", {}),
    ("permute_and_flip", {}),
    ("report_noisy_max", {"noise": "laplace"}),
    ("report_noisy_max", {"noise": "gumbel"}),
    ("local_dampening", {"sampler": "exponential"}),
    ("local_dampening", {}),
    ("shifted_dampening", {"sampler": "exponential"}),
    ("shifted_dampening", {"direction": "minus"}),
    ("inverse_sensitivity", {}),
    ("smooth_noisy_max", {}),
    ("smooth_noisy_max", {"noise": "student_t"}),
    ("smooth_noisy_max", {"noise": "laplace", "delta": 1e-3}),
    ("smooth_noisy_max", {"noise": "lln", "delta": 1e-3}),
    ("smooth_noisy_max", {"noise": "winner"}),
    ("smooth_noisy_max", {"noise": "certified"}),
]


def prepared(mechanism, options, epsilon=3.0):
    scores, profile = WINNER if options.get("noise") in ("winner", "certified") else (SCORES, ELEMENT)
    return MECHANISMS[mechanism].prepare(pose_question(scores, profile=profile, epsilon=epsilon, **options))


def frequencies(selection, runs=RUNS):
    with seeded(20260):
        counts = np.bincount([selection.draw() for _ in range(runs)], minlength=len(selection.log_law()))
    return counts / runs


def allowed(law, runs=RUNS):
    """Bernstein: P(|f − p| > a) ≤ 2 exp(−N a²/(2p(1−p) + 2a/3))."""
    log_term = math.log(1 / RISK) / runs
    return log_term / 3 + np.sqrt((log_term / 3) ** 2 + 2 * log_term * law * (1 - law))


@pytest.mark.parametrize(("mechanism", "options"), CASES, ids=lambda value: str(value))
def test_draws_follow_the_exact_law(mechanism, options):
    selection = prepared(mechanism, options)
    law = np.exp(selection.log_law())
    assert (np.abs(frequencies(selection) - law) <= allowed(law)).all()


@pytest.mark.parametrize(("mechanism", "options"), [CASES[0], CASES[1], CASES[5], CASES[9]], ids=str)
def test_the_law_of_another_budget_is_told_apart(mechanism, options):
    other = np.exp(prepared(mechanism, options, epsilon=3.6).log_law())
    assert (np.abs(frequencies(prepared(mechanism, options)) - other) > allowed(other)).any()
