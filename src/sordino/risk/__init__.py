"""Risk: what a release lets an attacker learn, and the ε that bounds it. Nothing here reads private rows."""

from sordino.risk.advice import RiskAdvice, advise_epsilon, advise_for_rows, bound_guessing
from sordino.risk.belief import bound_belief, limit_belief
from sordino.risk.goal import Goal, Guess, JointGuess
from sordino.risk.grid_posterior import CountNoise, GridPosterior, cap_by_others
from sordino.risk.histogram_model import HistogramModel
from sordino.risk.laplace_posterior import LaplacePosterior
from sordino.risk.number_model import NumberModel
from sordino.risk.posteriors import (
    guessing_precision,
    posterior_expected,
    posterior_given_count,
    posterior_given_output,
    posterior_given_outputs,
)
from sordino.risk.priors import NormalPrior, Prior, RangePrior, SetPrior, UnknownPrior, make_prior
from sordino.risk.step_noise import StepNoise
from sordino.risk.trade_off import TradeOff, compose_releases

__all__ = [
    "CountNoise",
    "Goal",
    "GridPosterior",
    "Guess",
    "HistogramModel",
    "JointGuess",
    "LaplacePosterior",
    "NormalPrior",
    "NumberModel",
    "Prior",
    "RangePrior",
    "RiskAdvice",
    "SetPrior",
    "StepNoise",
    "TradeOff",
    "UnknownPrior",
    "advise_epsilon",
    "advise_for_rows",
    "bound_belief",
    "bound_guessing",
    "cap_by_others",
    "compose_releases",
    "guessing_precision",
    "limit_belief",
    "make_prior",
    "posterior_expected",
    "posterior_given_count",
    "posterior_given_output",
    "posterior_given_outputs",
]
