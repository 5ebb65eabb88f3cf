"""The samplers that may follow a dampening, by their names."""

from __future__ import annotations

from sordino.mechanisms.selection.exponential import Exponential
from sordino.mechanisms.selection.mechanism import Sampler
from sordino.mechanisms.selection.permute_and_flip import PermuteAndFlip

SAMPLERS: dict[str, Sampler] = {
    PermuteAndFlip.name: PermuteAndFlip(),
    Exponential.name: Exponential(),
}
SAMPLER_NAMES = tuple(SAMPLERS)
