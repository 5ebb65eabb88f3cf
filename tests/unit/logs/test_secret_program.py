"""The program on numbers: its results, what leaves for an owner, and that its operations tell nothing."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from sordino.logs import count_operations, secret_program
from sordino.logs.entries import make_entries
from sordino.logs.field import PRIME, constant
from sordino.logs.machine import Emulation, Machine
from sordino.logs.secret_program import mark_nonzero, run_program
from sordino.logs.shared_log import prepare_log
from tests.oracles.log_chains import Entry, list_chains

from .random_logs import NAMES, as_table, draw_log


def draw_shape(random: Random, n: int, v: int, k: int) -> list[Entry]:
    """A log of one shape: the owners of the places are public, everything else is random."""
    pool = [None, *(f"v{index}" for index in range(random.choice((1, 2, 6, 30))))]
    return [(place, f"o{place % k}", tuple(random.choice(pool) for _ in range(v))) for place in range(n)]


def run(log: list[Entry], match: str = "any", hide_times: bool = False):
    entries = make_entries(as_table(log), values=NAMES[: len(log[0][2])])
    shared = prepare_log(entries, by_column=match == "column", hide_times=hide_times, width=56)
    machine = Machine(Emulation())
    return run_program(shared, machine), machine.operations, entries


def list_traces(random: Random, match: str, hide_times: bool) -> set[tuple[tuple[str, int], ...]]:
    logs = [draw_shape(random, 9, 2, 3) for _ in range(40)]
    logs.append([(0, f"o{place % 3}", ("same", "same")) for place in range(9)])
    logs.append([(0, f"o{place % 3}", (None, None)) for place in range(9)])
    return {run(log, match, hide_times)[1].trace for log in logs}


@pytest.mark.parametrize("match", ["any", "column"])
@pytest.mark.parametrize("hide_times", [False, True])
def test_operations_are_the_same_for_all_logs_of_one_shape(match, hide_times):
    assert len(list_traces(Random("trace"), match, hide_times)) == 1


def test_a_program_that_stops_early_has_a_trace_that_tells(monkeypatch):
    """The mutant: no suffix ORs where nothing matches. It is right, faster, and tells who matches."""
    honest = secret_program._suffix_or

    def stop_early(bits, machine):
        return honest(bits, machine) if bits.any() else bits

    monkeypatch.setattr(secret_program, "_suffix_or", stop_early)
    assert len(list_traces(Random("trace"), "any", False)) > 1


def find_unmasked_rows(log: list[Entry], match: str) -> int:
    """Rows with anything in them that the rule does not give to their owner."""
    results, _, entries = run(log, match)
    ordered, chains = list_chains(log, match)
    wrong = 0
    for owner, rows in zip(entries.owners, results, strict=True):
        visible = {
            place
            for chain in chains
            if len(chain) > 1 and any(ordered[p - 1][1] == owner for p in chain)
            for place in chain
        }
        for place, row in enumerate(rows, start=1):
            wrong += bool(row.any()) != (place in visible)
    return wrong


@pytest.mark.slow
def test_what_an_owner_may_not_see_leaves_as_zeros():
    random = Random("zeros")
    for _ in range(200):
        log = draw_log(random, size=random.randint(1, 9))
        for match in ("any", "column"):
            assert find_unmasked_rows(log, match) == 0


def test_a_program_that_masks_the_bit_alone_is_refused(monkeypatch):
    honest = secret_program._hide_others

    def forget(label, counts, payload, machine):
        content = np.concatenate([label[:, None], payload], axis=1)
        return [np.concatenate([o[:, :1], content], axis=1) for o in honest(label, counts, payload, machine)]

    monkeypatch.setattr(secret_program, "_hide_others", forget)
    assert find_unmasked_rows([(1, "a", ("p",)), (2, "b", ("q",))], "any") > 0


def test_numbers_other_than_zero_are_marked():
    values = [0, 1, 2, 3, PRIME - 1, PRIME - 2, 2**60, 0]
    machine = Machine(Emulation())
    assert mark_nonzero(np.array(values, np.uint64), machine).tolist() == [int(x != 0) for x in values]
    assert machine.operations.rounds == 67


@pytest.mark.parametrize(
    ("n", "v", "k", "width"), [(2, 1, 2, 4), (7, 2, 2, 4), (20, 3, 4, 8), (128, 2, 2, 4)]
)
def test_products_are_counted_as_by_hand(n, v, k, width):
    pairs = n * (n - 1) // 2
    doubled = sum(
        size - distance
        for size in range(1, n)
        for distance in (2**power for power in range(20))
        if distance < size
    )
    by_hand = (
        pairs * (v * v - 1 + 67)  # one product of differences and one test per pair of entries
        + pairs  # does it match a last entry?
        + doubled  # suffix ORs
        + pairs * (1 + k)  # labels and counts
        + n * k  # counts of last entries
        + pairs * k  # and back
        + 67 * n * (1 + k)  # at least two? has one?
        + n * k * (1 + 1 + width)  # what leaves
    )
    assert count_operations(n, v, k, payload=width).products == by_hand


def test_products_grow_with_the_square():
    small, large = (count_operations(n, 2, 2).products for n in (200, 400))
    assert 3.9 < large / small < 4.1


def test_the_counts_of_a_run_are_those_said_before():
    results, operations, _ = run([(1, "a", ("p", "q")), (2, "b", ("q", "p")), (3, "a", (None, "p"))])
    width = results[0].shape[1] - 2
    assert operations == count_operations(3, 2, 2, payload=width)
    assert constant(1) == results[0][0, 0]
