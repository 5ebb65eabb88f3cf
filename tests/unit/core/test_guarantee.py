"""Group privacy, replacement and zCDP: never less than the exact loss, at any size; and what was seeded says so."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.core.loss import round_up
from sordino.testing import seeded as seeded_draws

EPSILONS = st.one_of(
    st.floats(0, 1e4), st.floats(1e-320, 1e-3), st.sampled_from([0.0, 5e-324, 1e-300, 709.0, 710.0])
)
DELTAS = st.one_of(st.floats(0, 1, exclude_max=True), st.sampled_from([0.0, 5e-324, 1e-310, 1e-300, 1e-6]))


def exact(value: float) -> arb:
    fraction = Fraction(value)
    return arb(fmpq(fraction.numerator, fraction.denominator))


def group_delta(epsilon: float, delta: float, count: int) -> arb:
    """δ·Σ e^{iε}, i < k, term by term."""
    return exact(delta) * sum((exact(epsilon) * i).exp() for i in range(count))


@settings(max_examples=300, deadline=None)
@given(EPSILONS, DELTAS, st.integers(1, 6))
def test_a_group_never_states_less_than_it_loses(epsilon, delta, count):
    before = ctx.prec
    ctx.prec = 20_000  # e^ε to the last digit
    try:
        truth = group_delta(epsilon, delta, count)
        if truth > 1:
            with pytest.raises(sd.ParameterError, match="delta would be 1 or more"):
                sd.Guarantee(sd.Loss(epsilon=epsilon, delta=delta), sd.replace_row(), "t").for_changes(count)
            return
        try:
            group = sd.Guarantee(sd.Loss(epsilon=epsilon, delta=delta), sd.replace_row(), "t").for_changes(
                count
            )
        except sd.ParameterError:
            assert truth > 1 - 1e-9  # so near to 1 that it cannot be told apart
            return
        assert Fraction(group.epsilon) >= Fraction(epsilon) * count
        assert group.epsilon <= math.nextafter(epsilon * count, math.inf)
        assert exact(group.delta) >= truth
        assert exact(group.delta) <= truth * (1 + 1e-9) + 1e-323  # two of the smallest doubles
    finally:
        ctx.prec = before


@pytest.mark.parametrize("epsilon", [236.0, 237.0, 354.0, 355.0, 709.0, 710.0, 2000.0, 1e300])
def test_no_epsilon_is_too_large_for_a_group(epsilon):
    group = sd.Guarantee(sd.Loss(epsilon=epsilon), sd.flip_edge(), "t").for_changes(3)
    assert (group.epsilon, group.delta) == (3 * epsilon, 0.0)
    with pytest.raises(sd.ParameterError, match="delta would be 1 or more"):
        sd.Guarantee(sd.Loss(epsilon=epsilon, delta=1e-9), sd.flip_edge(), "t").for_changes(3)


def test_a_group_that_nothing_is_known_about_has_no_guarantee():
    """δ(1 + e) > 1: (2, δ') holds for no δ' < 1 in general, so none is stated."""
    with pytest.raises(sd.ParameterError, match="2 changes at once"):
        sd.Guarantee(sd.Loss(epsilon=1.0, delta=0.3), sd.replace_row(), "t").for_changes(2)


@pytest.mark.parametrize(
    ("loss", "count"),
    [
        ({"epsilon": 1e308}, 2),
        ({"epsilon": 1.0}, 10**400),
        ({"rho": 1e308}, 3),
        ({"epsilon": 0.0, "delta": 0.5}, 10**400),
    ],
)
def test_losses_beyond_all_floats_are_refused_in_words(loss, count):
    with pytest.raises(sd.ParameterError, match=r"must be below|1 or more"):
        sd.Guarantee(sd.Loss(**loss), sd.replace_row(), "t").for_changes(count)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_a_group_has_a_whole_number_of_changes(count):
    with pytest.raises(sd.ParameterError, match="count must be"):
        sd.Guarantee(sd.Loss(epsilon=1.0), sd.replace_row(), "t").for_changes(count)


def test_one_replaced_row_is_one_removed_and_one_added():
    replaced = sd.Guarantee(sd.Loss(epsilon=0.75), sd.add_remove_row(), "t").for_replacement()
    assert replaced.distance == sd.replace_row()
    assert replaced.epsilon == 1.5
    assert replaced.for_replacement() is replaced
    users = sd.Guarantee(sd.Loss(rho=0.1), sd.Distance("user", "add_remove"), "t").for_replacement()
    assert users.distance == sd.Distance("user", "replace")
    assert Fraction(users.rho) >= 4 * Fraction(0.1)
    with pytest.raises(sd.ParameterError, match="added or removed between existing nodes"):
        sd.Guarantee(sd.Loss(epsilon=1.0), sd.flip_edge(), "t").for_replacement()


@given(st.floats(0, 1e300), st.floats(5e-324, 1, exclude_max=True))
def test_zcdp_is_converted_upwards(rho, delta):
    before = ctx.prec
    ctx.prec = 256
    try:
        truth = exact(rho) + 2 * (exact(rho) * -exact(delta).log()).sqrt()
        stated = sd.Guarantee(sd.Loss(rho=rho), sd.replace_row(), "t").as_approximate(delta).epsilon
        assert not exact(stated) < truth
        assert not exact(stated) > truth * (1 + 1e-12) + 1e-300
    finally:
        ctx.prec = before


@given(st.fractions(min_value=0, max_value=10**6))
def test_rounding_up_is_to_the_next_float(amount):
    stated = round_up(amount)
    assert Fraction(stated) >= amount
    assert stated == 0 or Fraction(math.nextafter(stated, -math.inf)) < amount


def test_what_was_seeded_says_so_wherever_it_is_shown():
    honest = sd.Guarantee(sd.Loss(epsilon=1.0), sd.add_remove_row(), "t")
    seeded = sd.Guarantee(sd.Loss(epsilon=1.0, private=False), sd.add_remove_row(), "t")
    assert honest != seeded
    for text in (seeded.loss, str(seeded), seeded.for_changes(2).loss, seeded.for_replacement().loss):
        assert str(text).startswith("NOT PRIVATE: drawn from a seeded source (ε = ")
    assert "private=False" in repr(seeded)
    assert json.loads(json.dumps(seeded.to_dict()))["private"] is False
    assert "NOT PRIVATE" not in str(honest)
    assert "private" not in honest.to_dict()


def test_the_guarantee_of_a_seeded_release_says_so_by_itself():
    with seeded_draws(1):
        seeded = sd.select([1.0, 2.0], profile=1.0, epsilon=1.0)
    assert seeded.guarantee.private is False
    for text in (str(seeded), repr(seeded), str(seeded.guarantee), str(seeded.guarantee.loss)):
        assert text.count("NOT PRIVATE: drawn from a seeded source") == 1
    assert seeded.to_dict()["private"] is seeded.to_dict()["guarantee"]["private"] is False
    fresh = sd.select([1.0, 2.0], profile=1.0, epsilon=1.0)
    assert fresh.guarantee.private
    assert "NOT PRIVATE" not in str(fresh)
