"""The names of all noises and selection mechanisms: one list each, for editors, for help texts and for the registries.

A name is that of the file which holds the entry (``noise/student_t.py``, ``selection/exponential.py``), so a new noise
or mechanism is one file and its name here. Nothing else is imported, so that reading the names is fast.
"""

from __future__ import annotations

from typing import Literal

# one shape whatever β is, so that the best β of a grid may be taken
GridNoiseName = Literal["student_t", "cauchy", "laplace"]
SmoothNoiseName = Literal[GridNoiseName, "lln"]
ConstantNoiseName = Literal["gaussian", "discrete_laplace", "discrete_gaussian"]
NoiseName = Literal[SmoothNoiseName, ConstantNoiseName]

# they give every candidate a score of known sensitivity, so that several can be drawn one after the other
RankingMechanismName = Literal[
    "exponential",
    "permute_and_flip",
    "report_noisy_max",
    "local_dampening",
    "shifted_dampening",
    "inverse_sensitivity",
]
MechanismName = Literal[RankingMechanismName, "smooth_noisy_max"]
