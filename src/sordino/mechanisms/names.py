"""The names of all noises and selection mechanisms: one list each, for editors, for help texts and for the registries.

A name is that of the file which holds the entry (``noise/student_t.py``, ``selection/exponential.py``), so a new noise
or mechanism is one file and its name here. Nothing else is imported, so that reading the names is fast.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

# one shape whatever β is, so that the best β of a grid may be taken
GridNoiseName = Literal["flared_laplace", "student_t", "cauchy", "laplace"]
SmoothNoiseName = Literal[GridNoiseName, "lln"]
ConstantNoiseName = Literal["gaussian", "discrete_laplace", "discrete_gaussian"]
NoiseName = Literal[SmoothNoiseName, ConstantNoiseName]

# Mechanisms that use the bound of a profile alone, and those that follow it; where several serve alike, the first is
# the default. Ranking ones give candidates scores of known sensitivity, so that several can be drawn one after another.
BoundMechanismName = Literal["permute_and_flip", "exponential", "report_noisy_max"]
ChangesMechanismName = Literal["inverse_sensitivity"]
RankingMechanismName = Literal[
    BoundMechanismName, "local_dampening", "shifted_dampening", ChangesMechanismName
]
MechanismName = Literal[RankingMechanismName, "smooth_noisy_max"]

SamplerName = Literal["permute_and_flip", "exponential"]
DirectionName = Literal["plus", "minus"]
MaxNoiseName = Literal[
    "exponential", "gumbel", "laplace", "polynomial", "lln", "student_t", "certified", "winner"
]

# what the workloads offer: mechanisms from above, and some of their own
QuantileMechanismName = Literal["auto", BoundMechanismName, ChangesMechanismName, "winner", "smooth_noise"]
TopKMechanismName = Literal["auto", "degree_proxy", RankingMechanismName]
SubgraphMechanismName = Literal["ladder", "zhang_ladder", SmoothNoiseName, "global"]
CountMechanismName = Literal[SubgraphMechanismName, "levels", "discrete_laplace", "cumulative", "bins"]

# and what else is chosen by name in public signatures
MetricName = Literal[
    "ego_betweenness", "brokerage", "degree", "triangles", "ego_edges", "core_number", "clustering"
]
CountName = Literal["edges", "triangles", "k_stars", "k_triangles", "degree_histogram"]
SqlMechanismName = Literal["smooth_bound", "truncation"]
ExcessName = Literal["refuse", "project"]
LeafName = Literal["counts", BoundMechanismName, "local_dampening", ChangesMechanismName, "smooth_noisy_max"]
VotingName = Literal["auto", "pooled", "soft", "hard"]
CriterionName = Literal["auto", "information_gain", "max_operator", "gini"]


def list_names(names: Any) -> str:
    """The names of a Literal in a sentence: a, b or c."""
    *most, last = get_args(names)
    return f"{', '.join(most)} or {last}"
