"""The report's way to correlate in secret, emulated: a table of chains by positions, read and written at secret places.

Which chain an entry joins and how long that chain is are secrets, so every entry touches every cell: n³ products. The
equality tests are ours, batched; they are not what makes it slow.
"""

from __future__ import annotations

import numpy as np

from sordino.logs.field import Numbers, add_mod, constant, subtract_mod
from sordino.logs.machine import Machine
from sordino.logs.secret_program import _suffix_or, mark_nonzero


def run_prototype(codes: Numbers, machine: Machine) -> Numbers:
    """Chain numbers, secret until opened. A chain moves to the row of its latest entry, so rows are in order."""
    n, v = codes.shape
    cells = np.zeros((n, n, v), np.uint64)  # chain, position, value
    ends = np.zeros((n, n), np.uint64)  # one-hot: the position of the last entry of each chain
    label = constant(np.arange(1, n + 1))
    active = constant(np.ones(n))
    one = constant(1)
    cells[0, 0], ends[0, 0] = codes[0], one
    for j in range(1, n):
        # Read the last entry of every chain, at a secret position.
        read = machine.multiply(np.repeat(ends[:j, :j].reshape(-1), v), cells[:j, :j].reshape(-1)).reshape(
            j, j, v
        )
        last = np.zeros((j, v), np.uint64)
        for position in range(j):
            last = add_mod(last, read[:, position])
        difference = np.array(subtract_mod(last[:, 0], codes[j, 0]))
        for a, b in [(a, b) for a in range(v) for b in range(v)][1:]:
            difference = machine.multiply(difference, subtract_mod(last[:, a], codes[j, b]))
        matches = machine.multiply(subtract_mod(one, mark_nonzero(difference, machine)), active[:j])
        reached = _suffix_or(matches, machine)
        picked = subtract_mod(reached, np.append(reached[1:], constant([0])))
        active[:j] = subtract_mod(active[:j], picked)
        # Move the chain that was picked, and write the entry behind its end, at a secret position.
        moved = machine.combine(
            picked, np.concatenate([cells[:j, :j].reshape(j, -1), ends[:j, :j], label[:j, None]], axis=1)
        )
        ends[j, 1 : j + 1] = moved[j * v : j * v + j]
        ends[j, 0] = subtract_mod(one, reached[0])
        written = machine.multiply(np.repeat(ends[j, : j + 1], v), np.tile(codes[j], j + 1)).reshape(j + 1, v)
        cells[j, :j] = moved[: j * v].reshape(j, v)
        cells[j, : j + 1] = add_mod(cells[j, : j + 1], written)
        label[j] = add_mod(moved[-1:], machine.multiply(ends[j, :1], constant([j + 1])))[0]
    return label
