"""Every noise by its name, and the questions that everybody asks about them: by traits, never by name."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import get_args

from sordino.core import CalibrationError, ParameterError, SordinoError, UnsupportedError
from sordino.core.parameters import choice
from sordino.mechanisms.names import NoiseName
from sordino.mechanisms.noise.entry import NoiseEntry
from sordino.mechanisms.noise.noise import Noise
from sordino.mechanisms.noise.traits import NoiseTraits

AUTO = "auto"
AUTO_CALIBRATION = "tight"  # every noise has one
_CONFIDENCE = 0.95


def load_noise(name: str) -> NoiseEntry:
    """The entry that the file of this name holds."""
    entry: NoiseEntry = import_module(f"sordino.mechanisms.noise.{name}").NOISE
    return entry


NOISES: dict[str, NoiseEntry] = {name: load_noise(name) for name in get_args(NoiseName)}


def noise_names(
    *, constant: bool | None = None, pure: bool = False, integer: bool | None = None
) -> tuple[str, ...]:
    """The noises that take a constant (or smooth) bound, are pure for it, are added in whole steps (or are not)."""

    def fits(traits: NoiseTraits) -> bool:
        kinds = [
            traits.privacy(constant=kind) for kind in ([True, False] if constant is None else [constant])
        ]
        accepted = any(kind == "pure" if pure else kind is not None for kind in kinds)
        return accepted and (integer is None or traits.integer == integer)

    return tuple(name for name, entry in NOISES.items() if fits(entry.traits))


def find_noise(name: str) -> NoiseEntry:
    """The entry of that name; a miss names the nearest."""
    return NOISES[choice("noise", name, tuple(NOISES))]


def traits_of(noise: str | Noise) -> NoiseTraits:
    """What a noise is, given by its name or as itself."""
    if isinstance(noise, str):
        return find_noise(noise).traits
    if not isinstance(noise, Noise):
        raise ParameterError(f"noise must be a Noise or one of {', '.join((AUTO, *NOISES))}, got {noise!r}")
    return noise.traits


def check_serves(traits: NoiseTraits, *, constant: bool, delta: float) -> None:
    """Refuse a bound that this noise does not take, or takes with δ > 0 only, naming the noises that do."""
    if traits.serves(constant=constant, delta=delta):
        return
    if traits.privacy(constant=constant) is None:
        others = ", ".join(noise_names(constant=constant))
        raise UnsupportedError(
            f"{traits.name} noise takes a constant bound (a global sensitivity); for a smooth bound use one of {others}"
        )
    kind = "constant" if constant else "smooth (not constant)"
    raise CalibrationError(
        f"{traits.name} noise with a {kind} bound needs delta > 0; pure are "
        f"{', '.join(noise_names(constant=constant, pure=True))}"
    )


def fit_noise(noise: str | Noise, calibration: str, epsilon: float, delta: float, beta: float) -> Noise:
    """The continuous noise behind a name, at public parameters; β = 0 means a constant bound."""
    if not isinstance(noise, str):
        return noise
    entry = find_noise(noise)
    if entry.fitted is None:
        names = ", ".join(noise_names(integer=False))
        raise UnsupportedError(f"{entry.traits.name} noise has no continuous shape: {names} have one")
    return entry.fitted(calibration, epsilon, delta, beta)


def default_beta(noise: str | Noise, calibration: str, epsilon: float, delta: float) -> float:
    """The β that `add_noise` uses for a smooth bound when none is given."""
    if isinstance(noise, str):
        entry = find_noise(noise)
        if entry.typical is not None:
            return entry.typical(calibration).default_beta(epsilon, delta)
    return fit_noise(noise, calibration, epsilon, delta, 0.0).default_beta(epsilon, delta)


def best_noise(epsilon: float, beta: float | None) -> str:
    """The pure continuous noise with the smallest 95 % radius for a bound of this β; 0 means a constant bound.

    Without β, the smallest default β among them is taken for all, so that they are compared on one bound. Only public
    parameters enter, so the choice says nothing about the data.
    """
    return _best_noise(epsilon, beta, noise_names(constant=beta == 0, pure=True, integer=False))


@lru_cache(maxsize=4096)
def _best_noise(epsilon: float, beta: float | None, names: tuple[str, ...]) -> str:
    if beta is None:
        beta = min(default_beta(name, AUTO_CALIBRATION, epsilon, 0.0) for name in names)
    radii = {}
    for name in names:
        try:
            noise = fit_noise(name, AUTO_CALIBRATION, epsilon, 0.0, beta)
            radii[name] = noise.shape.radius(_CONFIDENCE) / noise.alpha(epsilon, 0.0, beta)
        except SordinoError:  # this β is more than that noise can pay for
            continue
    return min(radii, key=radii.__getitem__) if radii else names[0]
