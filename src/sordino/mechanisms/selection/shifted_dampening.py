"""Shifted local dampening in closed form."""

from __future__ import annotations

from sordino.mechanisms.selection.mechanism import ScoreMechanism
from sordino.mechanisms.selection.question import DIRECTIONS, SelectionQuestion
from sordino.mechanisms.selection.samplers import SAMPLER_NAMES, SAMPLERS
from sordino.mechanisms.selection.scores import GridScores, bound_on_grid, grid_step, scores_on_grid
from sordino.mechanisms.selection.traits import MechanismTraits


def shifted_scores(question: SelectionQuestion) -> GridScores:
    """u − G (direction plus) or u + G (minus), with the gap G = Σ_t (Δ − δ(t)).

    **Guarantee**: u ∓ G has sensitivity Δ: G(x) − G(y) ≤ Δ − δ(x, 0), because δ(x, t+1) ≥ δ(y, t) leaves only the first
    term of the sum, and |u(x) − u(y)| ≤ δ(x, 0).
    **Requires**: an admissible profile with a finite bound that it reaches (tables do, from their length on).
    **Source**: the limit of local dampening of u − s for s → ±∞ (LD Def. 9); the closed form and its proof are ours.
    A profile that is the same for all candidates gives the plain scores, that is, no gain.
    **Numerics**: exact integers.
    """
    step = grid_step(question.profile, question.step)
    bound = bound_on_grid(question.profile, step)
    gap = question.profile.gap_on_grid(step)
    scores = scores_on_grid(question.scores, step)
    spread = gap[0] if question.profile.group_of is None else gap[question.profile.group_of]
    return GridScores(scores - spread if question.direction == "plus" else scores + spread, bound)


MECHANISM = ScoreMechanism(
    MechanismTraits(
        "shifted_dampening",
        "shifted local dampening",
        reads="sum",
        options={"sampler": SAMPLER_NAMES, "direction": DIRECTIONS},
        variants=(
            {"sampler": "exponential", "direction": "plus"},
            {"sampler": "permute_and_flip", "direction": "plus"},
            {"sampler": "permute_and_flip", "direction": "minus"},
        ),
    ),
    shifted_scores,
    SAMPLERS,
)
