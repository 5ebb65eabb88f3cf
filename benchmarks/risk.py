"""Risk: curves beside riskcal's, and how long the beliefs of a realistic attacker take."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import riskcal.analysis as peer
from dp_accounting.pld import privacy_loss_distribution as pld
from report import Check, Report, interleaved, medians
from scipy.stats import binom, norm

from sordino.core import Loss, add_remove_row
from sordino.ledger import GaussianPart, LaplacePart
from sordino.risk import (
    HistogramModel,
    TradeOff,
    compose_releases,
    posterior_expected,
    posterior_given_count,
    posterior_given_output,
)

RATES = np.array([0.001, 0.01, 0.1, 0.5])
EPSILONS = (0.1, 0.5, 1.0, 5.0, 10.0, 20.0)
COUNTS = 100_000
REPORTED = {"P_Y": 38.4, "P_C": 1898.0, "P_P": 4840.0}  # seconds for six ε, NAPLES report, Table 27


def run(quick: bool = False) -> list[Report]:
    return [_curves(), _times(1 if quick else 5)]


def _curves() -> Report:
    row = add_remove_row()
    mu = 1.0
    laplace = pld.from_laplace_mechanism(1.0)
    cases: list[tuple[str, Callable[[], TradeOff], Callable[[], tuple[float, Any, float]], Any]] = [
        (
            "any release, ε = 1",
            lambda: TradeOff.of_loss(Loss(epsilon=1.0)),
            lambda: (peer.get_advantage_from_adp(1.0, 0.0), peer.get_beta_from_adp(1.0, 0.0, RATES), np.nan),
            np.tanh(0.5),
        ),
        (
            "any release, ε = 1, δ = 0.01",
            lambda: TradeOff.of_loss(Loss(epsilon=1.0, delta=0.01)),
            lambda: (
                peer.get_advantage_from_adp(1.0, 0.01),
                peer.get_beta_from_adp(1.0, 0.01, RATES),
                np.nan,
            ),
            0.01 + 0.99 * np.tanh(0.5),
        ),
        (
            "Gaussian noise, σ = Δ",
            lambda: TradeOff.of_gaussian(mu * mu / 2),
            lambda: (
                float(peer.get_advantage_from_gdp(mu)),
                peer.get_beta_from_gdp(mu, RATES),
                float(peer.get_bayes_risk_from_gdp(mu, 0.1)),
            ),
            2 * norm.cdf(mu / 2) - 1,
        ),
        (
            "Laplace noise, ε = 1",
            lambda: TradeOff.of_laplace(1.0),
            lambda: (
                peer.get_advantage_from_pld(laplace),
                peer.get_beta_from_pld(laplace, RATES),
                float(np.asarray(peer.get_bayes_risk_from_pld(laplace, 0.1)).item()),
            ),
            1 - np.exp(-0.5),
        ),
        (
            "ten times Laplace noise, ε = 0.1 each",
            lambda: compose_releases([LaplacePart(row, scale=10.0)] * 10),
            lambda: _composed(pld.from_laplace_mechanism(10.0)),
            None,
        ),
        (
            "ten times Gaussian noise, σ = 5Δ each",
            lambda: compose_releases([GaussianPart(row, standard_deviation=5.0)] * 10),
            lambda: _composed(pld.from_gaussian_mechanism(5.0)),
            2 * norm.cdf(np.sqrt(10) / 10) - 1,
        ),
    ]
    rows, raw, apart, safe = [], {}, 0.0, True
    for name, ours, theirs, exact in cases:
        curve, (advantage, misses, bayes) = ours(), theirs()
        found = curve.misses(RATES)
        gap = max(abs(curve.advantage - advantage), float(np.abs(found - misses).max()))
        apart = max(apart, gap)
        safe &= exact is None or curve.advantage >= exact - 1e-12
        risks = f"{curve.bayes_risk(0.1):.5f}", "—" if np.isnan(bayes) else f"{bayes:.5f}"
        rows.append([
            name, f"{curve.advantage:.6f}", f"{advantage:.6f}", "—" if exact is None else f"{exact:.6f}",
            f"{found[2]:.6f}", f"{misses[2]:.6f}", *risks, f"{gap:.1e}",
        ])  # fmt: skip
        raw[name] = {"ours": found.tolist(), "riskcal": np.asarray(misses).tolist()}
    return Report(
        "risk-curves",
        ["release", "advantage", f"riskcal {version('riskcal')}", "exact", "misses at 10 %", "riskcal",
         "Bayes risk at prior 0.1", "riskcal", "largest difference"],
        rows,
        [
            Check("curves differ from riskcal's by at most 0.001", f"{apart:.1e}", apart <= 1e-3),
            Check("no advantage below the exact one", "none" if safe else "one", safe),
        ],
        raw,
    )  # fmt: skip


def _composed(one: Any) -> tuple[float, Any, float]:
    ten = one.self_compose(10)
    return (
        peer.get_advantage_from_pld(ten),
        peer.get_beta_from_pld(ten, RATES),
        float(np.asarray(peer.get_bayes_risk_from_pld(ten, 0.1)).item()),
    )


def _times(rounds: int) -> Report:
    model = HistogramModel.of(COUNTS, belief=binom(COUNTS, 0.3).pmf(range(COUNTS + 1)))
    outputs = np.arange(COUNTS + 1)
    asked: dict[str, Callable[[float], Any]] = {
        "P_Y": lambda epsilon: posterior_given_output(model, outputs, epsilon),
        "P_C": lambda epsilon: posterior_given_count(model, epsilon),
        "P_P": lambda epsilon: posterior_expected(model, epsilon),
    }

    def take(ask: Callable[[float], Any]) -> float:
        start = time.perf_counter()
        for epsilon in EPSILONS:
            ask(epsilon)
        return time.perf_counter() - start

    times = medians(interleaved({name: lambda ask=ask: take(ask) for name, ask in asked.items()}, rounds))
    rows = [[name, f"{spent:.3f} s", f"{REPORTED[name]:g} s"] for name, spent in times.items()]
    slowest = max(times.values())
    return Report(
        "risk-times",
        ["belief", f"six ε, {COUNTS} people", "the NAPLES report, on its machine"],
        rows,
        [Check("each below 1 s for all six ε together", f"{slowest:.3f} s at most", slowest < 1)],
        times,
    )
