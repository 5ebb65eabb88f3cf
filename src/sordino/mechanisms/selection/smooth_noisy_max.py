"""Smooth noisy max: noise on every score, scaled to a smooth bound of this database's sensitivity.

The scale N = 2S/α (S/α if monotone) itself changes between neighbours. The recipes below pay for that in full: first
the *stretch* of all noises from N(x) to N(y) at the scores of x, then the *shift* of the scores at the scale of y.
The published calibrations hold the other candidates' noise fixed while the scale moves and are not private
(`docs/errata.md`); they live in the zoo.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import scipy  # its parts load when they are first used
from numpy.typing import NDArray

from sordino.core import CalibrationError, Guarantee, Loss, ParameterError
from sordino.mechanisms.noise.noise import padded, shortened
from sordino.mechanisms.selection.certified_noise import certified_recipe
from sordino.mechanisms.selection.concentrated import largest_root_rho
from sordino.mechanisms.selection.mechanism import Mechanism, Selection
from sordino.mechanisms.selection.noise_recipe import Recipe, checked_positive, unpadded
from sordino.mechanisms.selection.noisy_max_law import noisy_max_law
from sordino.mechanisms.selection.question import SelectionQuestion
from sordino.mechanisms.selection.single_winner import single_winner, winner_and_margin
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.mechanisms.selection.traits import MechanismTraits
from sordino.sampling.race import draw_winner
from sordino.sampling.shapes import Laplace, LaplaceLogNormal, Polynomial, Shape, StudentT

_DOWN = 1 - 2.0**-40
_UP = 1 + 2.0**-40
_STUDENT_NU = 3
_LLN_SIGMA = 0.5
_LARGEST_SCALE = 1e300
_SMALLEST_SCALE = Fraction(1e-290)  # the larger of a smooth bound and a constant is smooth
_FARTHEST_MARGIN = 600.0  # in units of 1/beta: no noise is smaller, which keeps it within doubles


@dataclass(frozen=True, slots=True)
class NoisySelection:
    """argmax of score + scale·Z, with its law and its draw."""

    shape: Shape
    scores: NDArray[np.float64]
    scale: Fraction
    guarantee: Guarantee

    def stated_law(self) -> StatedLaw:
        """ln P(r) of the draw, with its error."""
        with np.errstate(over="ignore"):
            offsets = (self.scores - self.scores.max()) / float(self.scale)
        return noisy_max_law(self.shape, offsets)

    def log_law(self) -> NDArray[np.float64]:
        """ln P(r) of the draw."""
        return self.stated_law().log_probabilities

    def draw(self) -> int:
        """One candidate."""
        return draw_winner(self.shape, self.scores, self.scale)


def polynomial_recipe(epsilon: float, delta: float, candidates: int) -> Recipe:
    """One-sided polynomial noise, P(Z > z) = (1 + z/ν)^(−ν), for any utility.

    **Guarantee**: ε-DP with α = ε − βR, R = max(ν, ν(Γ(d)Γ(1−1/ν)/Γ(d−1/ν) − 1)): the hazard rate is at most 1, so a
    shift costs α; a stretch lowers a probability at a rate of at most E[max of d−1 Z], and raises it at most at ν.
    ν > 1 is chosen to make R small for d candidates; half of ε pays for each of stretch and shift.
    """
    nu, rate = _best_polynomial(candidates)
    beta = epsilon / (2 * rate)
    alpha = shortened((epsilon - padded(beta) * rate) * _DOWN, beta)
    return Recipe(
        Polynomial(nu), beta, checked_positive(alpha, epsilon), "smooth noisy max, polynomial noise"
    )


@lru_cache(maxsize=64)
def _best_polynomial(candidates: int) -> tuple[float, float]:
    d = max(2, candidates)

    def rate(nu: float) -> float:
        log_mean = (
            scipy.special.gammaln(d) + scipy.special.gammaln(1 - 1 / nu) - scipy.special.gammaln(d - 1 / nu)
        )
        return float(max(nu, nu * math.expm1(log_mean)))

    best = scipy.optimize.minimize_scalar(rate, bounds=(1.001, 60.0), method="bounded")
    nu = round(float(best.x), 6)
    return nu, rate(nu) * _UP


def laplace_recipe(epsilon: float, delta: float, candidates: int) -> Recipe:
    """Laplace noise for any utility.

    **Guarantee**: (ε, δ)-DP, δ ≤ ¼, with α = ε/2 and β = ln(1 + ε/(2C)), where (d−1)·½e^(−C)(1 + C/2) = δ.
    """
    if not 0 < delta <= 0.25:
        raise ParameterError(f"smooth noisy max with Laplace noise needs delta in (0, 0.25], got {delta:g}")
    log_target = math.log(2 * delta) - math.log(max(1, candidates - 1))
    reach = (
        scipy.optimize.brentq(lambda c: -c + math.log1p(c / 2) - log_target, 0.0, 4 * abs(log_target) + 10)
        * _UP
    )
    beta = checked_positive(unpadded(math.log1p(epsilon / (2 * reach)) * _DOWN), epsilon)
    alpha = shortened(epsilon / 2 * _DOWN, beta)
    return Recipe(Laplace(), beta, alpha, "smooth noisy max, Laplace noise", pure=False)


def lln_recipe(epsilon: float, delta: float, candidates: int) -> Recipe:
    """Laplace-log-normal noise, σ = ½.

    **Guarantee**: (ε, δ)-DP: the shift costs e^(1.5σ²)α purely; the stretch of d noises is dβ²/(2σ²)-zCDP, converted to
    (ε/2, δ). Stretch before shift, so δ is not multiplied.
    """
    if not 0 < delta < 1:
        raise ParameterError(f"smooth noisy max with lln noise needs delta in (0, 1), got {delta:g}")
    root_rho = largest_root_rho(epsilon / 2, delta)
    beta = checked_positive(unpadded(_LLN_SIGMA * root_rho * math.sqrt(2 / candidates) * _DOWN), epsilon)
    alpha = shortened(epsilon / 2 * math.exp(-1.5 * _LLN_SIGMA**2) * _DOWN, beta)
    return Recipe(LaplaceLogNormal(_LLN_SIGMA), beta, alpha, "smooth noisy max, LLN noise", pure=False)


def student_recipe(epsilon: float, delta: float, candidates: int) -> Recipe:
    """Student-t noise, ν = 3: pure, but the bound must be (β/d)-smooth, which is weak for many candidates.

    **Guarantee**: ε-DP with α = (ε − (ν+1)β)·2√ν/(ν+1): each of the d noises is stretched by β/d only.
    """
    nu = _STUDENT_NU
    beta = epsilon / (2 * (nu + 1) * candidates)
    alpha = (epsilon - (nu + 1) * candidates * padded(beta)) * 2 * math.sqrt(nu) / (nu + 1)
    theorem = "smooth noisy max, Student-t noise"
    return Recipe(StudentT(nu), beta, shortened(checked_positive(alpha, epsilon) * _DOWN, beta), theorem)


def _scaled(recipe_of: Callable[[float, float, int], Recipe]) -> Callable[[SelectionQuestion], Selection]:
    """Noise of this recipe, scaled to the smooth bound."""

    def selection(question: SelectionQuestion) -> NoisySelection:
        epsilon = float(question.epsilon)
        recipe = recipe_of(epsilon, question.delta, len(question.scores))
        bound = float(np.max(question.profile.smooth(recipe.beta)))
        # by public parameters, whatever the smooth bound
        if question.profile.bound / recipe.alpha > _LARGEST_SCALE:
            raise CalibrationError(
                f"epsilon = {epsilon:g} is too small for a bound of {question.profile.bound:g}: the noise could be "
                f"{_LARGEST_SCALE:g} and more"
            )
        scale = Fraction(bound) / Fraction(recipe.alpha) * (1 if question.monotone else 2)
        scale = max(scale, _SMALLEST_SCALE)
        loss = Loss(epsilon=epsilon, delta=0.0 if recipe.pure else question.delta)
        return NoisySelection(
            recipe.shape, question.scores, scale, Guarantee(loss, question.distance, recipe.theorem)
        )

    return selection


def _certified(question: SelectionQuestion) -> NoisySelection:
    if len(question.scores) < 2:
        raise ParameterError("certified noise needs at least two candidates")
    _, margin = winner_and_margin(question)
    recipe = certified_recipe(float(question.epsilon), len(question.scores))
    scale = Fraction(math.exp(-min(recipe.beta * margin, _FARTHEST_MARGIN))) / Fraction(recipe.alpha)
    guarantee = Guarantee(Loss(epsilon=float(question.epsilon)), question.distance, recipe.theorem)
    return NoisySelection(recipe.shape, question.scores, scale, guarantee)


# the noises, the default first
_SELECTION_OF: dict[str, Callable[[SelectionQuestion], Selection]] = {
    "polynomial": _scaled(polynomial_recipe),
    "laplace": _scaled(laplace_recipe),
    "lln": _scaled(lln_recipe),
    "student_t": _scaled(student_recipe),
    "certified": _certified,
    "winner": single_winner,
}


@dataclass(frozen=True, slots=True)
class SmoothNoisyMax:
    """The registry's entry: one law per noise; for 0/1 utilities also ``certified`` noise and the ``winner`` law."""

    traits: ClassVar[MechanismTraits] = MechanismTraits(
        "smooth_noisy_max",
        "smooth noisy max",
        reads="smooth",
        monotone=True,
        ranks=False,
        options={"noise": tuple(_SELECTION_OF)},
        winner={"noise": "winner"},
        variants=tuple({"noise": name} for name in _SELECTION_OF),
    )

    def prepare(self, question: SelectionQuestion) -> Selection:
        """Scale the noise asked for."""
        return _SELECTION_OF[question.noise or next(iter(_SELECTION_OF))](question)


MECHANISM: Mechanism = SmoothNoisyMax()
