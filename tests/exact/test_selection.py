"""Every selection mechanism over all neighbouring pairs of many small universes, and mutants that must be refused."""

from __future__ import annotations

import numpy as np
import pytest

from sordino.audit import LogLaw, prove
from sordino.mechanisms.selection import selection_law
from sordino.mechanisms.selection.inverse_sensitivity import inverse_scores
from sordino.mechanisms.selection.question import pose_question
from sordino.testing import check_mechanism, prove_mechanism
from tests.exact.universes import large_cases, small_cases, winner_question
from tests.oracles import local_sensitivity

EPSILONS = (0.3, 1.7)

# (mechanism, options, which question, extra): the variants whose law is a closed form
FAST = [
    ("exponential", {}, "constant"),
    ("permute_and_flip", {}, "constant"),
    ("local_dampening", {"sampler": "exponential"}, "element"),
    ("local_dampening", {"sampler": "permute_and_flip"}, "element"),
    ("local_dampening", {"sampler": "permute_and_flip"}, "flat"),
    ("shifted_dampening", {"sampler": "exponential", "direction": "plus"}, "element"),
    ("shifted_dampening", {"sampler": "permute_and_flip", "direction": "plus"}, "element"),
    ("shifted_dampening", {"sampler": "permute_and_flip", "direction": "minus"}, "element"),
    ("inverse_sensitivity", {"sampler": "exponential"}, "element"),
    ("inverse_sensitivity", {"sampler": "permute_and_flip"}, "element"),
    ("inverse_sensitivity", {"sampler": "permute_and_flip"}, "flat"),
]
# the variants whose law is an integral
SLOW = [
    ("report_noisy_max", {"noise": "laplace"}, "constant", 0.0),
    ("smooth_noisy_max", {"noise": "polynomial"}, "flat", 0.0),
    ("smooth_noisy_max", {"noise": "student_t"}, "flat", 0.0),
    ("smooth_noisy_max", {"noise": "laplace"}, "flat", 1e-3),
    ("smooth_noisy_max", {"noise": "lln"}, "flat", 1e-3),
]
MONOTONE = [("exponential", {}), ("permute_and_flip", {}), ("report_noisy_max", {"noise": "laplace"})]


def _name(variant) -> str:
    return " ".join([variant[0], *variant[1].values(), *variant[2:3]])


@pytest.mark.parametrize("variant", FAST, ids=_name)
def test_closed_form_laws_are_private(variant):
    mechanism, options, which = variant
    worst = {}
    for case in (*small_cases(), *large_cases()):
        for epsilon in EPSILONS:
            proof = check_mechanism(
                mechanism,
                case.universe.databases,
                case.universe.neighbours,
                getattr(case, which),
                epsilon=epsilon,
                **options,
            )
            assert proof.pairs == case.pairs
            worst.setdefault(epsilon, []).append((proof.worst_epsilon, case))
    _refuse_a_mutant(mechanism, options, which, worst[1.7], 1.7, 0.0)


@pytest.mark.parametrize("variant", SLOW, ids=_name)
def test_integrated_laws_are_private(variant):
    mechanism, options, which, delta = variant
    worst = []
    cases = small_cases()
    if options["noise"] == "lln":  # its density is itself an integral, so a law takes half a second
        cases = tuple(case for case in cases if len(case.universe) < 20)[:2]
    for case in cases:
        proof = check_mechanism(
            mechanism,
            case.universe.databases,
            case.universe.neighbours,
            getattr(case, which),
            epsilon=1.0,
            delta=delta,
            **options,
        )
        worst.append((proof.worst_epsilon, case))
    _refuse_a_mutant(mechanism, options, which, worst, 1.0, delta)


def _refuse_a_mutant(mechanism, options, which, worst, epsilon, delta):
    """On the tightest universe, let the mechanism spend more and more past its slack: it must soon be refused."""
    tightest, case = max(worst, key=lambda entry: entry[0])
    args = (mechanism, case.universe.databases, case.universe.neighbours, getattr(case, which))
    just_past = epsilon * epsilon / tightest
    mutants = [
        prove_mechanism(*args, epsilon=epsilon, spent=just_past * factor, delta=delta, **options)
        for factor in (1.01, 1.1, 1.5)  # a law that is not linear in ε needs more than the first
    ]
    assert any(not mutant.holds for mutant in mutants), f"no mutant of {mechanism} is refused"


@pytest.mark.parametrize("variant", MONOTONE, ids=_name)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_monotone_scores_need_half_the_noise(variant, epsilon):
    mechanism, options = variant
    cases = [case for case in small_cases() if case.monotone]
    assert cases
    for case in cases:
        args = (mechanism, case.universe.databases, case.universe.neighbours, case.constant)
        proof = check_mechanism(*args, epsilon=epsilon, monotone=True, **options)
        assert proof.worst_epsilon > 0.4 * epsilon
    # not monotone: a replaced row raises one count and lowers another, and the full rate is refused
    swap = next(case for case in small_cases() if case.name == "label counts, replace")
    refused = prove_mechanism(
        mechanism,
        swap.universe.databases,
        swap.universe.neighbours,
        swap.constant,
        epsilon=epsilon,
        spent=epsilon,
        monotone=True,
        **options,
    )
    assert refused.worst_epsilon > 1.5 * epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_exact_inverse_sensitivity_is_private(epsilon):
    for case in small_cases():
        changes = local_sensitivity.changes_to_win(case.universe, case.utility)
        survives = local_sensitivity.changes_to_lose(case.universe, case.utility) - 1
        if np.isinf(changes).any() or np.isinf(survives).any():
            continue
        signed = np.where(changes == 0, -survives[:, None], changes)

        def law(x, case=case, changes=signed):
            row = changes[case.universe.position[x]].astype(int)
            options = {"mechanism": "inverse_sensitivity", "changes": row, "log": True}
            return LogLaw(selection_law(-row, profile=1.0, epsilon=epsilon, **options))

        assert prove(law, case.universe.databases, case.universe.neighbours, epsilon).holds


def test_profile_bound_on_changes_never_exceeds_the_exact_number():
    checked = 0
    for case in small_cases():
        exact = local_sensitivity.changes_to_win(case.universe, case.utility)
        survives = local_sensitivity.changes_to_lose(case.universe, case.utility) - 1
        for i, database in enumerate(case.universe.databases):
            scores, profile = case.element(database)
            bound = -inverse_scores(pose_question(scores, profile=profile, epsilon=1)).values
            assert (bound <= exact[i]).all()
            best = scores.max()
            if (
                scores == best
            ).sum() == 1:  # the only winner survives at least as many changes as it is credited with
                assert -bound[scores.argmax()] <= survives[i]
            checked += len(bound)
    assert checked > 2000


@pytest.mark.parametrize("noise", ["winner", "certified"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_single_winner_laws_are_private(noise, epsilon):
    tightest = 0.0
    for case in small_cases():
        table = local_sensitivity.changes_to_lose(case.universe, case.utility)
        winners = local_sensitivity.winners(case.utility)
        if np.isinf(table).any():
            continue

        def question_of(x, case=case, table=table, winners=winners):
            return winner_question(case, x, table, winners)

        args = ("smooth_noisy_max", case.universe.databases, case.universe.neighbours, question_of)
        proof = check_mechanism(*args, epsilon=epsilon, noise=noise)
        tightest = max(tightest, proof.worst_epsilon)
        if proof.worst_epsilon > 0.999 * epsilon:
            assert not prove_mechanism(*args, epsilon=epsilon, spent=1.01 * epsilon, noise=noise).holds
    assert tightest > 0.999 * epsilon


def test_the_proofs_cover_a_hundred_thousand_pairs():
    fast = sum(case.pairs for case in (*small_cases(), *large_cases())) * len(FAST) * len(EPSILONS)
    assert fast >= 100_000
