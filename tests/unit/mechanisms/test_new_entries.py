"""A stranger's noise and mechanism: one file and one line each, and everybody finds them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import sordino as sd
from sordino.mechanisms import noise, selection
from sordino.mechanisms.noise.registry import NOISES, load_noise, noise_names
from sordino.mechanisms.selection.registry import MECHANISMS, load_mechanism
from sordino.testing import check_mechanism, check_noise, prove_mechanism, prove_noise, seeded

# Laplace noise that spends half of what it may: private, and for a constant bound only.
NOISE = """
from dataclasses import dataclass
from typing import ClassVar

from sordino.core import Guarantee, Loss
from sordino.mechanisms.noise.entry import make_entry
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.sampling.shapes import Laplace


@dataclass(frozen=True, slots=True)
class TimidNoise:
    traits: ClassVar[NoiseTraits] = NoiseTraits("timid", "timid Laplace", constant="pure")
    calibration: str = "tight"
    infinitesimal: ClassVar[bool] = True
    shape: ClassVar[Laplace] = Laplace()

    def default_beta(self, epsilon, delta):
        return 0.0

    def largest_beta(self, epsilon, delta):
        return 0.0

    def alpha(self, epsilon, delta, beta):
        return epsilon * SHARE

    def guarantee(self, epsilon, delta, distance):
        return Guarantee(Loss(epsilon=epsilon), distance, "Laplace mechanism at half the rate")


NOISE = make_entry(TimidNoise, TimidNoise.traits)
"""

# The exponential mechanism on scores rounded to even numbers of steps.
MECHANISM = """
from sordino.mechanisms.selection.exponential import Exponential, global_scores
from sordino.mechanisms.selection.mechanism import ScoreMechanism
from sordino.mechanisms.selection.scores import GridScores
from sordino.mechanisms.selection.traits import MechanismTraits


def even_scores(question):
    plain = global_scores(question)
    return GridScores(plain.values // 2, -(-plain.sensitivity // 2))


MECHANISM = ScoreMechanism(
    MechanismTraits("even", "exponential mechanism on even scores", reads="bound", monotone=True),
    even_scores,
    {Exponential.name: Exponential()},
)
"""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Writes the one file and the one line of an entry; both are gone after the test."""

    def plant(package, name, source, load, registry):
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
        monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}", raising=False)
        monkeypatch.setitem(registry, name, load(name))
        monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}")

    return plant


def neighbours(x):
    return [y for y in (x - 1, x + 1) if 0 <= y <= 5]


def test_a_noise_is_one_file_and_one_line(planted):
    planted(noise, "timid", NOISE.replace("SHARE", "0.5"), load_noise, NOISES)
    with seeded(1):
        release = sd.add_noise(12, 1, epsilon=1.0, step=1, noise="timid")
    assert release.mechanism == "timid noise"
    assert release.guarantee.epsilon == 1.0
    assert release.guarantee.delta == 0
    found = {row.noise: row for row in sd.advise(1.0, beta=0.0)}
    assert found["timid"].radius == pytest.approx(2 * found["laplace"].radius)
    assert "timid" in noise_names(constant=True, pure=True)
    proof = check_noise("timid", range(6), neighbours, lambda x: (x, 1), epsilon=0.5)
    assert proof.worst_epsilon == pytest.approx(0.25)
    with pytest.raises(sd.UnsupportedError, match="constant bound"):
        sd.add_noise(12, sd.Profile.from_table([1, 2], bound=9), epsilon=1.0, step=1, noise="timid")


def test_a_better_pure_noise_becomes_the_default(planted):
    assert sd.add_noise(1, 0.7, epsilon=1.0, step=1).mechanism == "laplace noise"
    planted(
        noise, "timid", NOISE.replace("SHARE", "1.5"), load_noise, NOISES
    )  # as if somebody had proved that
    assert sd.add_noise(1, 0.7, epsilon=1.0, step=1).mechanism == "timid noise"


def test_a_noise_that_is_not_private_does_not_pass(planted):
    planted(noise, "timid", NOISE.replace("SHARE", "1.1"), load_noise, NOISES)
    with pytest.raises(sd.ProofError, match="timid noise is not private"):
        check_noise("timid", range(6), neighbours, lambda x: (x, 1), epsilon=0.5)


@pytest.mark.parametrize("name", NOISES)
def test_every_noise_passes_the_shared_check_and_its_mutant_does_not(name):
    delta = 0.0 if NOISES[name].traits.constant == "pure" else 0.01
    if name in noise_names(integer=False) and not NOISES[name].traits.one_shape:
        with pytest.raises(sd.UnsupportedError, match="no tail bound is derived"):  # docs/limits.md
            check_noise(name, range(6), neighbours, lambda x: (x, 1), epsilon=0.5, delta=delta)
        return
    check_noise(name, range(6), neighbours, lambda x: (x, 1), epsilon=0.5, delta=delta)
    spent = {"epsilon": 0.5, "spent": 0.6, "delta": delta}
    assert not prove_noise(name, range(6), neighbours, lambda x: (x, 1), **spent).holds


def test_a_mechanism_is_one_file_and_one_line(planted):
    planted(selection, "even", MECHANISM, load_mechanism, MECHANISMS)
    assert sd.select([5, 1], profile=1, epsilon=1.0, mechanism="even").mechanism == "even"
    assert sorted(sd.top_k([5, 1], 2, profile=1, epsilon=1.0, mechanism="even").value) == [0, 1]
    assert "even" in {row.mechanism for row in sd.compare([5, 1], profile=1, epsilon=1.0)}
    with pytest.raises(sd.ParameterError, match="noise= belongs to report_noisy_max and smooth_noisy_max"):
        sd.select([5, 1], profile=1, epsilon=1.0, mechanism="even", noise="laplace")
    universe = [(a, b) for a in range(4) for b in range(4)]

    def near(x):
        return [y for y in universe if np.abs(np.subtract(x, y)).max() == 1]

    check_mechanism("even", universe, near, lambda x: (x, 1), epsilon=0.5)
    assert not prove_mechanism("even", universe, near, lambda x: (x, 1), epsilon=0.5, spent=0.8).holds
