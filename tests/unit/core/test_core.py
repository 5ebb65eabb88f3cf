"""The nouns of every guarantee."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import math
import pickle

import pytest

import sordino as sd
from sordino.core import parameters


def test_a_secret_shows_itself_to_nobody():
    secret = sd.Secret({"salary": 4711})
    shown = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret!r:>20}",
        json.dumps({"a": secret}),
        str(pickle.loads(pickle.dumps(secret))),
        str(copy.deepcopy(secret)),
        str(copy.copy([secret])),
        repr({"x": (secret,)}),
        repr(vars(secret) if hasattr(secret, "__dict__") else {}),
        logging.LogRecord("n", 10, "p", 1, "%s %r", (secret, secret), None).getMessage(),
    ]
    assert not any("4711" in text or "salary" in text for text in shown)
    assert b"4711" not in pickle.dumps(secret)
    assert secret.reveal() == {"salary": 4711}


def test_a_copied_secret_is_empty():
    for duplicate in (copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))):
        with pytest.raises(sd.SordinoError, match="holds nothing"):
            duplicate(sd.Secret(1)).reveal()


def test_a_release_as_a_plain_dict_carries_no_secret():
    release = sd.Release(
        3, sd.Guarantee(sd.Loss(epsilon=1.0), sd.replace_row(), "t"), "m", details=sd.Secret({"exact": 4711})
    )
    assert "4711" not in repr(dataclasses.asdict(release))
    assert "4711" not in json.dumps(dataclasses.asdict(release))
    assert "4711" not in repr(release)


def test_a_guarantee_reads_as_a_sentence():
    guarantee = sd.Guarantee(sd.Loss(epsilon=0.5, delta=1e-6), sd.add_remove_row(), "exponential mechanism")
    assert str(guarantee) == (
        "ε = 0.5, δ = 1e-06 for one row added or removed [exponential mechanism]; "
        "a person with several rows is not protected as one"
    )
    per_user = sd.Guarantee(sd.Loss(epsilon=1.0), sd.Distance("user", "add_remove"), "t")
    assert "not protected" not in str(per_user)
    weighted = sd.Guarantee(sd.Loss(epsilon=1.0), sd.Distance("row", "add_remove", (("orders", 2.0),)), "t")
    assert "orders 2" in str(weighted)
    assert "weight G costs G times" in str(weighted)
    assert "ρ = 0.1" in str(sd.Guarantee(sd.Loss(rho=0.1), sd.flip_edge(), "t"))


def test_group_privacy_of_each_kind_of_loss():
    pure = sd.Guarantee(sd.Loss(epsilon=0.5), sd.replace_row(), "t").for_changes(3)
    assert (pure.epsilon, pure.delta) == (1.5, 0)
    approximate = sd.Guarantee(sd.Loss(epsilon=math.log(2), delta=0.01), sd.replace_row(), "t").for_changes(2)
    assert approximate.epsilon == pytest.approx(2 * math.log(2))
    assert approximate.delta == pytest.approx(0.03)  # δ(e^{2ε} − 1)/(e^ε − 1): the Bernoulli chain attains it
    assert sd.Guarantee(sd.Loss(rho=0.1), sd.replace_row(), "t").for_changes(2).rho == pytest.approx(0.4)


def test_zcdp_converts_to_approximate_privacy():
    converted = sd.Guarantee(sd.Loss(rho=0.5), sd.replace_row(), "t").as_approximate(1e-6)
    assert converted.epsilon == pytest.approx(0.5 + 2 * math.sqrt(0.5 * math.log(1e6)))
    assert (converted.delta, converted.rho) == (1e-6, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "exactly one"),
        ({"epsilon": 1.0, "rho": 1.0}, "exactly one"),
        ({"epsilon": -1.0}, "must be >= 0"),
        ({"epsilon": float("nan")}, "must be >= 0"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta must be in"),
        ({"rho": 1.0, "delta": 0.1}, "zCDP has no delta"),
    ],
)
def test_a_guarantee_states_one_possible_loss(given, message):
    with pytest.raises(sd.ParameterError, match=message):
        sd.Guarantee(sd.Loss(**given), sd.replace_row(), "t")


def test_distances_are_checked():
    with pytest.raises(sd.ParameterError, match="change must be one of"):
        sd.Distance("row", "swap")
    with pytest.raises(sd.ParameterError, match="weight of t"):
        sd.Distance("row", "replace", (("t", 0.0),))


def test_every_error_belongs_to_one_tree():
    for name in ("ParameterError", "CalibrationError", "PrivateDataError", "UnsupportedError", "ProofError"):
        assert issubclass(getattr(sd, name), sd.SordinoError)
    assert issubclass(sd.CalibrationError, ValueError)
    assert issubclass(sd.MissingExtraError, ImportError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parameters.bounds((1, 1)), r"lo < hi, got \(1, 1\)"),
        (lambda: parameters.bounds(5), "pair"),
        (lambda: parameters.bounds((0, math.inf)), "finite"),
        (lambda: parameters.whole("k", 1.0, least=1), "whole number"),
        (lambda: parameters.exact("x", "0.1"), "must be a number"),
        (lambda: parameters.probability("p", 0), r"in \(0, 1\)"),
    ],
)
def test_parameters_say_what_is_accepted(call, message):
    with pytest.raises(sd.ParameterError, match=message):
        call()
