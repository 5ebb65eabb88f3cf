"""Curves beside those of riskcal, which computes them from losses and from distributions of losses."""

from __future__ import annotations

import numpy as np
import pytest

from sordino.core import Loss, add_remove_row
from sordino.ledger import LaplacePart
from sordino.risk import TradeOff, compose_releases

peer = pytest.importorskip("riskcal.analysis", reason="the peer")
RATES = np.array([0.001, 0.01, 0.1, 0.3, 0.5, 0.9])


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.01), (5.0, 1e-6)])
def test_what_a_loss_allows_is_what_riskcal_says(epsilon, delta):
    curve = TradeOff.of_loss(Loss(epsilon=epsilon, delta=delta))
    assert curve.advantage == pytest.approx(peer.get_advantage_from_adp(epsilon, delta), abs=1e-12)
    assert curve.misses(RATES) == pytest.approx(peer.get_beta_from_adp(epsilon, delta, RATES), abs=1e-12)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_gaussian_noise_is_what_riskcal_says(mu):
    curve = TradeOff.of_gaussian(mu * mu / 2)
    assert curve.advantage == pytest.approx(peer.get_advantage_from_gdp(mu), abs=1e-12)
    assert curve.misses(RATES) == pytest.approx(peer.get_beta_from_gdp(mu, RATES), abs=1e-9)
    for prior in (0.1, 0.5):
        assert curve.bayes_risk(prior) == pytest.approx(peer.get_bayes_risk_from_gdp(mu, prior), abs=1e-4)


@pytest.mark.slow
def test_compositions_are_what_riskcal_says_of_their_distribution():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    curve = compose_releases([LaplacePart(add_remove_row(), scale=4.0)] * 5)
    five = pld.from_laplace_mechanism(4.0).self_compose(5)
    assert curve.advantage == pytest.approx(peer.get_advantage_from_pld(five), abs=1e-4)
    assert curve.misses(RATES) == pytest.approx(peer.get_beta_from_pld(five, RATES), abs=1e-3)
