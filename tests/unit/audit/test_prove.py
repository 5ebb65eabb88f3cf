"""prove: toy laws whose loss is known, every refusal, and mutants just past the claim."""

import math
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sordino.audit import LatticeLaw, LogLaw, Proof, prove
from sordino.core.errors import ParameterError, ProofError

BITS = (0, 1)


def other_bit(x):
    return [1 - x]


def randomised_response(epsilon):
    truth = 1 / (1 + math.exp(-epsilon))
    return lambda x: [truth, 1 - truth] if x == 0 else [1 - truth, truth]


def laplace_law(scale):
    return lambda x: ToyLaplace(x, scale)


class ToyLaplace:
    """Discrete Laplace on multiples of a step, written for these tests."""

    def __init__(self, centre, scale, step=Fraction(1), reach=20):
        self.centre, self.scale, self.step, self.reach = centre, scale, step, reach

    def window(self):
        return self.centre - self.reach, self.centre + self.reach

    def log_masses(self, first, last):
        k = np.arange(first, last + 1)
        return math.log(math.tanh(0.5 / self.scale)) - np.abs(k - self.centre) / self.scale

    def tail_mass(self, first, last):
        q = math.exp(-1 / self.scale)
        return (q ** (last + 1 - self.centre) + q ** (self.centre - first + 1)) / (1 + q)

    def tail_loss(self, other, first, last):
        return abs(self.centre - other.centre) / self.scale if self.scale == other.scale else math.inf


# ---- known answers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_randomised_response_loses_exactly_its_epsilon(epsilon):
    proof = prove(randomised_response(epsilon), BITS, other_bit, epsilon)
    assert proof.holds
    assert proof
    assert proof.worst_epsilon == pytest.approx(epsilon, abs=1e-12)
    assert proof.slack == pytest.approx(0, abs=1e-12)
    assert proof.pairs == 2
    assert proof.databases == 2


def test_a_law_just_past_the_claim_is_refused():
    assert prove(randomised_response(1 + 1e-10), BITS, other_bit, 1.0).holds
    assert not prove(randomised_response(1 + 1e-8), BITS, other_bit, 1.0).holds
    assert not prove(randomised_response(1 + 1e-10), BITS, other_bit, 1.0, tolerance=1e-12).holds


def test_a_mutant_just_past_the_slack_is_refused():
    claimed, spent = 1.0, 0.8
    slack = prove(randomised_response(spent), BITS, other_bit, claimed).slack
    assert prove(randomised_response(spent + slack * 0.999), BITS, other_bit, claimed).holds
    assert not prove(randomised_response(spent + slack * 1.001), BITS, other_bit, claimed).holds


def test_the_curve_is_the_closed_form_of_randomised_response():
    epsilon = 1.0
    truth = 1 / (1 + math.exp(-epsilon))
    grid = np.linspace(0, 2, 21)
    expected = np.maximum(truth - np.exp(grid) * (1 - truth), 0)
    curve = prove(randomised_response(epsilon), BITS, other_bit, epsilon).curve(grid)
    np.testing.assert_allclose(curve, expected, atol=1e-15)


def test_the_curve_of_discrete_laplace_matches_a_sum_over_outcomes():
    proof = prove(laplace_law(2.0), range(2), other_bit, 0.5)
    k = np.arange(-400, 401)
    p, q = (math.tanh(0.25) * np.exp(-np.abs(k - c) / 2.0) for c in BITS)
    for epsilon in (0.0, 0.1, 0.3):
        assert proof.curve(epsilon) == pytest.approx(np.maximum(p - math.exp(epsilon) * q, 0).sum(), rel=1e-3)
    assert proof.curve(0.5) <= 1e-15


def test_approximate_claims_need_the_epsilon_of_the_closed_form():
    truth = 1 / (1 + math.exp(-1.0))
    delta = 0.2
    needed = math.log((truth - delta) / (1 - truth))
    proof = prove(randomised_response(1.0), BITS, other_bit, needed, delta)
    assert proof.holds
    assert proof.worst_epsilon == pytest.approx(needed, abs=1e-8)
    assert proof.worst_delta == pytest.approx(delta, abs=1e-8)
    assert not prove(randomised_response(1.0), BITS, other_bit, needed - 1e-6, delta).holds
    assert not prove(randomised_response(1.0), BITS, other_bit, needed, delta * (1 - 1e-6)).holds


def test_the_smallest_epsilon_agrees_with_bisection_on_random_laws():
    random = np.random.default_rng(5)
    laws = random.dirichlet(np.full(6, 0.4), size=8)
    everyone = lambda x: [y for y in range(8) if y != x]  # noqa: E731
    for delta in (1e-3, 0.05, 0.3):
        proof = prove(lambda x: laws[x], range(8), everyone, 1.0, delta)
        low, high = 0.0, 60.0
        for _ in range(80):
            middle = (low + high) / 2
            excess = laws[:, None, :] - math.exp(middle) * laws[None, :, :]
            low, high = (middle, high) if np.maximum(excess, 0).sum(-1).max() > delta else (low, middle)
        assert proof.worst_epsilon == pytest.approx(high, abs=1e-6)
        assert proof.curve(proof.worst_epsilon) == pytest.approx(delta, rel=1e-6) or proof.worst_epsilon == 0


def test_the_witness_names_databases_outcome_and_masses():
    laws = {"a": {"red": 0.5, "blue": 0.5}, "b": {"red": 0.5, "blue": 0.4, "green": 0.1}}
    proof = prove(laws.__getitem__, "ab", lambda x: ["b" if x == "a" else "a"], 1.0)
    assert not proof.holds
    assert proof.worst_epsilon == math.inf
    assert (proof.witness.left, proof.witness.right, proof.witness.outcome) == ("b", "a", "green")
    assert (proof.witness.left_probability, proof.witness.right_probability) == pytest.approx((0.1, 0.0))
    assert proof.curve([0.0, 3.0]) == pytest.approx([0.1, 0.1])


def test_impossible_outcomes_cost_delta_and_no_more():
    laws = {0: [0.9, 0.1, 0.0], 1: [0.9, 0.0, 0.1]}
    assert prove(laws.get, BITS, other_bit, 0.0, 0.1).holds
    refused = prove(laws.get, BITS, other_bit, 5.0, 0.09)
    assert not refused.holds
    assert refused.worst_epsilon == math.inf
    assert refused.witness.outcome == (1,) if refused.witness.left == 0 else (2,)


def test_common_zeros_cost_nothing():
    assert prove({0: [1.0, 0.0], 1: [1.0, 0.0]}.get, BITS, other_bit, 0.0).worst_epsilon == 0


def test_log_laws_keep_probabilities_that_doubles_cannot_hold():
    tiny = {0: LogLaw([math.log1p(-0.0), -2000.0]), 1: LogLaw([0.0, -2003.0])}
    proof = prove(tiny.get, BITS, other_bit, 3.0)
    assert proof.holds
    assert proof.worst_epsilon == pytest.approx(3.0, abs=1e-9)
    assert not prove(tiny.get, BITS, other_bit, 2.9).holds
    assert "LogLaw" in repr(tiny[0])


def test_many_pairs_with_ten_outcomes_take_less_than_a_second():
    size = 317
    laws = np.random.default_rng(1).dirichlet(np.full(10, 5.0), size=size)
    everyone = [[y for y in range(size) if y != x] for x in range(size)]
    start = time.process_time()
    proof = prove(lambda x: laws[x], range(size), everyone.__getitem__, 1.0)
    assert proof.pairs == size * (size - 1) > 100_000
    assert time.process_time() - start < 1.0
    logs = np.log(laws)
    assert proof.worst_epsilon == pytest.approx((logs[:, None] - logs[None]).max(), abs=1e-12)


def test_laws_are_evaluated_once_per_database_and_progress_reaches_the_end():
    calls, seen = [], []

    def law(x):
        calls.append(x)
        return [0.5, 0.5]

    flips = lambda x: [(1 - x[0], x[1]), (x[0], 1 - x[1])]  # noqa: E731
    proof = prove(
        law, product(BITS, BITS), flips, 0.0, progress=lambda done, total: seen.append((done, total))
    )
    assert sorted(calls) == list(product(BITS, BITS))
    assert proof.pairs == 8
    assert seen[-1] == (12, 12)


def test_a_proof_reads_well():
    text = str(prove(randomised_response(1.0), BITS, other_bit, 0.5))
    assert text.startswith("REFUTED: ε = 0.5 claimed, worst ε = 1 ")
    assert "2 ordered pairs of 2 databases" in text
    assert str(prove(randomised_response(1.0), BITS, other_bit, 1.0, 1e-3)).startswith(
        "holds: ε = 1, δ = 0.001"
    )
    with pytest.raises(AttributeError):
        prove(randomised_response(1.0), BITS, other_bit, 1.0).holds = True
    assert isinstance(prove(randomised_response(1.0), BITS, other_bit, 1.0), Proof)


def test_long_witness_sets_are_abbreviated():
    left, right = np.full(20, 0.09), np.full(20, 0.01)
    left[10:], right[10:] = 0.01, 0.09
    text = str(prove({0: left, 1: right}.get, BITS, other_bit, 1.0, 0.1))
    assert "one of 10, such as 0, 1, 2" in text


# ---- lattice laws ---------------------------------------------------------------------------------------------


def test_the_toy_law_satisfies_the_protocol():
    assert isinstance(ToyLaplace(0, 1.0), LatticeLaw)
    assert not isinstance([0.5, 0.5], LatticeLaw)


@pytest.mark.parametrize("reach", [3, 40])
def test_discrete_laplace_loses_its_shift_over_its_scale(reach):
    law = lambda x: ToyLaplace(3 * x, 6.0, Fraction(1, 4), reach)  # noqa: E731
    proof = prove(law, BITS, other_bit, 0.5)
    assert proof.holds
    assert proof.worst_epsilon == pytest.approx(0.5, abs=1e-12)
    assert isinstance(proof.witness.outcome, Fraction)
    assert not prove(lambda x: ToyLaplace(3 * x, 5.999, reach=reach), BITS, other_bit, 0.5).holds


def test_the_tail_is_bounded_by_analysis_and_not_merged():
    law = lambda x: ToyLaplace(0, 1.0 + x)  # noqa: E731
    proof = prove(law, BITS, other_bit, 1.0)
    assert proof.worst_epsilon == math.inf
    assert not proof.holds
    assert "analytic bound" in proof.witness.outcome
    assert "analytic bound" in str(proof)


def test_delta_may_pay_for_the_tail():
    law = lambda x: ToyLaplace(0, 1.0 + 0.2 * x, reach=60)  # noqa: E731
    proof = prove(law, BITS, other_bit, 1.5, 1e-3)
    assert proof.holds
    k = np.arange(-3000, 3001)
    p, q = (math.tanh(0.5 / s) * np.exp(-np.abs(k) / s) for s in (1.0, 1.2))
    exact = max(np.maximum(a - math.exp(1.5) * b, 0).sum() for a, b in ((p, q), (q, p)))
    assert proof.worst_delta == pytest.approx(exact, rel=1e-9)
    assert proof.witness.outcome[0][0] <= proof.witness.outcome[0][1]
    narrow = prove(lambda x: ToyLaplace(0, 1.0 + 0.2 * x, reach=4), BITS, other_bit, 1.5, 1e-3)
    assert not narrow.holds  # the tail's mass alone is more than δ


def test_a_delta_below_the_loss_of_the_tail_uses_the_loss_if_that_is_cheaper():
    law = lambda x: ToyLaplace(x, 4.0, reach=2)  # noqa: E731
    proof = prove(law, BITS, other_bit, 0.25, 1e-6)
    assert proof.holds
    assert proof.worst_delta <= 1e-15


class Broken(ToyLaplace):
    def __init__(self, centre, **wrong):
        super().__init__(centre, 1.0)
        self.wrong = wrong

    def window(self):
        return self.wrong.get("window", super().window())

    def log_masses(self, first, last):
        masses = super().log_masses(first, last) + self.wrong.get("shift", 0.0)
        if "nan" in self.wrong:
            masses[0] = math.nan
        return masses[: self.wrong.get("length", len(masses))]

    def tail_mass(self, first, last):
        return self.wrong.get("tail", super().tail_mass(first, last))

    def tail_loss(self, other, first, last):
        return self.wrong.get("loss", super().tail_loss(other, first, last))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"window": (3, 2)}, "first <= last"),
        ({"window": (0, 1 << 30)}, "larger step"),
        ({"shift": 1e-6}, "has mass"),
        ({"shift": -1e-6}, "has mass"),
        ({"nan": True}, "NaN masses"),
        ({"length": 5}, "has shape"),
        ({"tail": -1.0}, "tail mass"),
        ({"tail": math.nan}, "tail mass"),
        ({"loss": math.nan}, "NaN"),
    ],
)
def test_broken_lattice_laws_are_refused(wrong, message):
    with pytest.raises(ProofError, match=message):
        prove(lambda x: Broken(x, **wrong), BITS, other_bit, 1.0)


def test_lattice_laws_of_two_steps_are_refused():
    with pytest.raises(ProofError, match="different steps"):
        prove(lambda x: ToyLaplace(0, 1.0, Fraction(1, 1 + x)), BITS, other_bit, 1.0)


# ---- refusals -------------------------------------------------------------------------------------------------


def fair(x):
    return [0.5, 0.5]


@pytest.mark.parametrize(
    ("universe", "neighbours", "message"),
    [
        ([], other_bit, "no neighbouring pairs"),
        ([0, 1], lambda x: [], "no neighbouring pairs"),
        ([0, 1], lambda x: [x], "no neighbouring pairs"),
        ([0, 1], lambda x: [1] if x == 0 else [], "not symmetric"),
        ([0, 1, 0], other_bit, "twice"),
        ([[0], [0]], other_bit, "twice"),
        ([0, 1], lambda x: [1 - x, 7], "not in the universe"),
        ([object, {"a": bytearray(b"x")}], lambda x: [], "hashable"),
    ],
)
def test_universes_that_prove_nothing_are_refused(universe, neighbours, message):
    with pytest.raises(ProofError, match=message):
        prove(fair, universe, neighbours, 1.0)


def test_partial_leaves_out_neighbours_outside_the_universe():
    assert prove(fair, [0, 1], lambda x: [1 - x, 7], 1.0, partial=True).pairs == 2


def test_databases_may_be_arrays_lists_sets_and_mappings():
    universe = [np.array([0, 1]), [1, 1], ([2], 3), {1}, {"a": [4]}]
    everyone = lambda x: universe  # noqa: E731
    assert prove(fair, universe, everyone, 0.0).pairs == 20


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        ({0: [0.5, 0.5], 1: [1.5, -0.5]}, "negative or NaN"),
        ({0: [0.5, 0.5], 1: [math.nan, 1.0]}, "negative or NaN"),
        ({0: [0.5, 0.5], 1: [0.5, 0.5 + 1e-6]}, "has mass 1.000001"),
        ({0: [0.5, 0.5], 1: [0.5, 0.25, 0.25]}, "same outcomes"),
        ({0: [], 1: []}, "same outcomes"),
        ({0: [[0.5, 0.5]], 1: [[0.5, 0.5]]}, "same outcomes"),
        ({0: [0.5, 0.5], 1: {"a": 1.0}}, "different kinds"),
        ({0: LogLaw([0.0]), 1: [1.0]}, "different kinds"),
        ({0: LogLaw([0.0]), 1: LogLaw([math.nan])}, "infinite or NaN"),
        ({0: LogLaw([0.0]), 1: LogLaw([math.inf])}, "infinite or NaN"),
        ({0: LogLaw([0.0]), 1: LogLaw([900.0])}, "has mass"),
        ({0: {"a": 1.0}, 1: {"a": 0.5}}, "has mass"),
        ({0: {"a": 1.0}, 1: {"a": "half"}}, "no array of numbers"),
        ({0: "ab", 1: "ab"}, "no array of numbers"),
    ],
)
def test_laws_that_are_none_are_refused(laws, message):
    with pytest.raises(ProofError, match=message):
        prove(laws.get, BITS, other_bit, 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"epsilon": "1"},
        {"delta": 1.0},
        {"delta": -0.1},
        {"tolerance": -1},
    ],
)
def test_parameters_outside_their_range_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        prove(fair, BITS, other_bit, **({"epsilon": 1.0} | wrong))


def test_the_curve_refuses_a_negative_epsilon():
    with pytest.raises(ParameterError):
        prove(fair, BITS, other_bit, 1.0).curve([-1.0])
