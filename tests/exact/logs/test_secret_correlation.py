"""Brute force = plain = secret, owner by owner, on thousands of random logs."""

from __future__ import annotations

from random import Random

import pytest

import sordino as sd
from tests.oracles.log_chains import give_owner, list_chains
from tests.unit.logs.random_logs import NAMES, as_table, check_against_rule, draw_log, read_rows


def draw_joint_log(random: Random):
    while True:
        log = draw_log(random)
        if len({who for _, who, _ in log}) > 1:
            return log


@pytest.mark.parametrize("match", ["any", "column"])
def test_emulated_runs_give_every_owner_what_the_rule_does(match):
    random = Random(f"emulated {match}")
    for _ in range(1500):
        log = draw_joint_log(random)
        values = NAMES[: len(log[0][2])]
        plain = sd.logs.correlate(as_table(log), values=values, match=match)
        secret = sd.logs.correlate_secret(as_table(log), values=values, match=match, backend="emulate")
        check_against_rule(plain, log, match)
        check_against_rule(secret, log, match)
        assert secret.numbers == plain.numbers


@pytest.mark.parametrize("match", ["any", "column"])
def test_hidden_times_change_no_chain(match):
    random = Random(f"hidden {match}")
    for _ in range(150):
        log = draw_joint_log(random)
        found = sd.logs.correlate_secret(
            as_table(log), values=NAMES[: len(log[0][2])], match=match, backend="emulate", hide_times=True
        )
        ordered, chains = list_chains(log, match)
        for owner in found.owners:
            shown, alone = give_owner(ordered, chains, owner)
            assert read_rows(found.for_owner(owner)) == shown
            assert read_rows(found.unmatched(owner)) == [row[1:] for row in alone]
