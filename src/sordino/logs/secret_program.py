"""The program that parties run on shares: which entries belong to which chain, and what each owner may see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sordino.logs.field import Numbers, add_mod, constant, multiply_mod, subtract_mod, sum_mod
from sordino.logs.machine import CountingOnly, Machine
from sordino.logs.oblivious_sort import sort_rows
from sordino.logs.operations import Operations

BATCH = 2**15
# Exponents 2^k − 1 that lead to 2⁶⁰ − 1: each is the sum of the one before it and one that was there already.
_CHAIN = ((1, 1), (2, 1), (3, 3), (6, 6), (12, 3), (15, 15), (30, 30))


@dataclass(frozen=True, slots=True)
class SharedLog:
    """What a party holds of the entries, one row per entry in the order of the rule.

    ``codes`` of the values, ``owned`` with a 1 in the column of the entry's owner, and ``payload``, which is what an
    owner gets of an entry that it may see. ``times`` are bits, the highest first, of entries that are not yet sorted;
    without columns where times are public and entries are in order. Each number is a share, or a public constant.
    """

    codes: Numbers
    owned: Numbers
    payload: Numbers
    times: Numbers
    by_column: bool

    @property
    def shape(self) -> tuple[int, int, int, int, int, bool]:
        """All that operations may depend on: entries, columns, owners, payload, bits of a time, the kind of match."""
        n, v = self.codes.shape
        return n, v, self.owned.shape[1], self.payload.shape[1], self.times.shape[1], self.by_column


def run_program(log: SharedLog, machine: Machine) -> list[Numbers]:
    """For every owner one row per place: [may see it], and times that bit: the chain number and the payload.

    Guarantee: nothing is opened. Operations, their sizes and their order depend on `SharedLog.shape` alone. A row that
    an owner may not see is all zeros.
    Requires: codes equal where values match; times distinct after their public tie-break, bits that are 0 or 1.
    Source: the report's plain rule; its prototype indexes a table of chains by secrets, this program never does.
    """
    if log.times.shape[1]:
        log = _sort(log, machine)
    equal = find_equal(log.codes, log.by_column, machine)
    chosen, is_last, label, counts = _follow_chains(equal, log.owned, machine)
    counts = _spread_back(chosen, is_last, counts, machine)
    return _hide_others(label, counts, log.payload, machine)


def count_operations(
    entries: int, values: int, owners: int, *, payload: int = 4, time_bits: int = 0, by_column: bool = False
) -> Operations:
    """What a run takes, from public sizes alone."""
    sizes = (values, owners, payload, time_bits)
    codes, owned, carried, times = (np.zeros((entries, size), np.uint64) for size in sizes)
    machine = Machine(CountingOnly())
    run_program(SharedLog(codes, owned, carried, times, by_column), machine)
    return machine.operations


def mark_nonzero(values: Numbers, machine: Machine) -> Numbers:
    """1 where a number is not 0, else 0: x^(p−1) by 59 squarings, 7 products and one squaring more."""
    powers = {1: values}
    for left, right in _CHAIN:
        found = powers[left]
        for _ in range(right):
            found = machine.multiply(found, found)
        powers[left + right] = machine.multiply(found, powers[right])
    return machine.multiply(powers[60], powers[60])


def find_equal(codes: Numbers, by_column: bool, machine: Machine) -> Numbers:
    """[entries i and j match] at (j, i) for i < j, 0 elsewhere.

    The product of all differences of two entries' codes is 0 exactly if two codes are equal, since a field has no
    divisors of zero: one test per pair of entries, in batches of a public size.
    """
    n, v = codes.shape
    equal = np.zeros((n, n), np.uint64)
    later, earlier = np.tril_indices(n, -1)
    places = [(a, a) for a in range(v)] if by_column else [(a, b) for a in range(v) for b in range(v)]
    one = constant(1)
    for start in range(0, len(later), BATCH):
        j, i = later[start : start + BATCH], earlier[start : start + BATCH]
        factors = [subtract_mod(codes[j, a], codes[i, b]) for a, b in places]
        while len(factors) > 1:
            half = len(factors) // 2
            found = machine.multiply(np.concatenate(factors[:half]), np.concatenate(factors[half : 2 * half]))
            factors = [*np.split(found, half), *factors[2 * half :]]
        equal[j, i] = subtract_mod(one, mark_nonzero(factors[0], machine))
    return equal


def _follow_chains(
    equal: Numbers, owned: Numbers, machine: Machine
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """In order: the latest last entry that matches (one-hot rows), who is last, chain numbers, counts by owner so far.

    Counts of entries per owner in place of a bit "has one": they add up without a product.
    """
    n = len(equal)
    chosen = np.zeros((n, n), np.uint64)
    is_last = constant(np.ones(n))
    state = np.concatenate([constant(np.arange(1, n + 1))[:, None], owned], axis=1)  # label, counts
    own_label = state[:, 0].copy()
    for j in range(1, n):
        reached = _suffix_or(machine.multiply(equal[j, :j], is_last[:j]), machine)
        picked = subtract_mod(reached, np.append(reached[1:], constant([0])))
        chosen[j, :j] = picked
        is_last[:j] = subtract_mod(is_last[:j], picked)
        found = machine.combine(picked, state[:j])
        opened = multiply_mod(
            subtract_mod(constant(1), reached[:1]), own_label[j : j + 1]
        )  # by a public number
        state[j] = add_mod(found, np.concatenate([opened, owned[j]]))
    return chosen, is_last, state[:, 0], state[:, 1:]


def _suffix_or(bits: Numbers, machine: Machine) -> Numbers:
    """The OR of each bit with all after it, by doubling."""
    distance = 1
    while distance < len(bits):
        here, there = bits[:-distance], bits[distance:]
        joined = subtract_mod(add_mod(here, there), machine.multiply(here, there))
        bits = np.concatenate([joined, bits[-distance:]])
        distance *= 2
    return bits


def _spread_back(chosen: Numbers, is_last: Numbers, counts: Numbers, machine: Machine) -> Numbers:
    """Counts of whole chains at all their entries: a last entry knows them, others have them from the entry after."""
    n, owners = counts.shape
    whole = machine.multiply(np.repeat(is_last, owners), counts.reshape(-1)).reshape(n, owners)
    for i in range(n - 2, -1, -1):
        whole[i] = add_mod(whole[i], machine.combine(chosen[i + 1 :, i], whole[i + 1 :]))
    return whole


def _hide_others(label: Numbers, counts: Numbers, payload: Numbers, machine: Machine) -> list[Numbers]:
    """What each owner gets: zeros but for entries of chains of at least two, one of which is theirs."""
    n, owners = counts.shape
    length = sum_mod(counts.T)
    tested = np.concatenate([subtract_mod(length, constant(1)), counts.T.reshape(-1)])
    bits = mark_nonzero(tested, machine).reshape(owners + 1, n)
    visible = machine.multiply(np.tile(bits[0], owners), bits[1:].reshape(-1)).reshape(owners, n)
    content = np.concatenate([label[:, None], payload], axis=1)
    width = content.shape[1]
    masked = machine.multiply(
        np.repeat(visible.reshape(-1), width), np.tile(content.reshape(-1), owners)
    ).reshape(owners, n, width)
    return [np.concatenate([visible[o][:, None], masked[o]], axis=1) for o in range(owners)]


def _sort(log: SharedLog, machine: Machine) -> SharedLog:
    sizes = np.cumsum([log.codes.shape[1], log.owned.shape[1]])
    rows = np.concatenate([log.codes, log.owned, log.payload], axis=1)
    codes, owned, payload = np.split(sort_rows(log.times, rows, machine), sizes, axis=1)
    return SharedLog(codes, owned, payload, log.times[:, :0], log.by_column)
