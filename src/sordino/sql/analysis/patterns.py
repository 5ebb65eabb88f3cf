"""Patterns: what the rows of a private table meet, by the values that tie them to the other tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sordino.sql.analysis.closure import NormalForm, normal_form
from sordino.sql.analysis.components import Cluster, clusters, independent
from sordino.sql.analysis.counting import Counting, counting, holds_measure
from sordino.sql.analysis.formula import FALSE
from sordino.sql.analysis.growth import Numbers, added, grown, multiplied, pareto, whole_numbers
from sordino.sql.analysis.reader import Reader
from sordino.sql.analysis.steps import Steps
from sordino.sql.question import JoinQuestion


def pattern_bounds(
    question: JoinQuestion, reader: Reader, steps: Steps, *, corner: bool = False
) -> dict[str, Numbers]:
    """Bounds on what one row of each private table can change, k changes away, for all k on the lattice.

    A row that is added changes the answer by the sum, over the non-empty sets X of positions of its table, of the
    combinations in which it sits exactly at X. For one X let n_j be the rows of table j that can meet it and cnt the
    combinations of them that do. After further changes worth k it is at most
    **cnt + max {Π(n_j + κ_t(j)) : ΣG_tκ_t ≤ k} − Πn_j**, with one κ per table, whose copies all get the new row.
    Maximised over the values of the key, and over one candidate for all values that nothing meets: cnt = 0 and every
    n_j at its largest over the keys of its own table.

    **Guarantee**: B_k ≥ the change by one row of the table in every database within k, and B_{k+G}(x) ≥ B_k(y) for x, y
    one row of weight G apart.
    **Requires**: nothing of the data; keys that are declared unique are not trusted, since a neighbour may break them.
    **Source**: NAPLES report §3.3.7.3 with its two repairs (unobtained patterns, one budget per table), and the jump
    of a row in place of the slope. Components that share no private table grow apart and are multiplied.
    ``corner``: the largest cnt with the largest n_j, which needs fewer joins and is never smaller.
    **Numerics**: exact whole numbers.
    """
    result = {}
    for table in steps.tables:
        copies = [j for j, o in enumerate(question.occurrences) if o.table == table]
        parts = [
            exposed(normal_form(question, at), question, reader, steps, corner=corner)
            for at in non_empty_subsets(copies)
        ]
        result[table] = added(parts, steps.last)
    return result


def non_empty_subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    """Small ones first."""
    return [chosen for size in range(1, len(items) + 1) for chosen in combinations(items, size)]


def exposed(
    form: NormalForm, question: JoinQuestion, reader: Reader, steps: Steps, *, corner: bool
) -> Numbers:
    """The most that a row sitting exactly at ``form.at`` meets, for all k."""
    reach = question.measure.reach
    nothing = np.zeros(steps.last + 1, dtype=np.int64)
    if form.impossible or form.restricted(()) == FALSE:
        return nothing
    if any(form.restricted((j,)) == FALSE for j in form.others):
        return nothing
    total = whole_numbers([[1]] * (steps.last + 1), 1)[:, 0]
    summed = False
    for group in independent(form, clusters(question, form)):
        mine = any(holds_measure(form, component) for cluster in group for component in cluster.components)
        summed |= mine
        total = multiplied(
            total, _group(form, group, reader, steps, factor=reach if mine else 1, corner=corner)
        )
    if not summed:
        total = multiplied(total, whole_numbers([[reach]] * (steps.last + 1), 1)[:, 0])
    return total


def _group(
    form: NormalForm, group: list[Cluster], reader: Reader, steps: Steps, *, factor: int, corner: bool
) -> Numbers:
    """Clusters with a private table in common: the first by its vectors, the others by their corners."""
    positions = [j for cluster in group for j in cluster.positions]
    vectors: Numbers = np.ones((1, 1), dtype=np.int64)
    highest: list[int] = []
    for number, cluster in enumerate(group):
        asked = counting(form, cluster, corner=corner or number > 0)
        seen, unseen = _vectors(asked, cluster, reader)
        highest += unseen
        vectors = _combined(vectors, seen)
    tables, costs = steps.budgets(form, positions)
    default = whole_numbers([highest], len(positions))
    best = grown(np.zeros(1, dtype=np.int64), default, tables, costs, factor=factor, steps=steps.last)
    if len(vectors):
        kept = pareto(vectors)
        seen_best = grown(kept[:, 0], kept[:, 1:], tables, costs, factor=factor, steps=steps.last)
        best = np.maximum(best, seen_best)
    return best


def _vectors(asked: Counting, cluster: Cluster, reader: Reader) -> tuple[Numbers, list[int]]:
    """(cnt, n_1, …) of every value of the key that is met, and the largest n_j."""
    rows = reader.rows(asked.statement)
    width = len(asked.counted)
    unseen = next(list(row[1 + width :]) for row in rows if row[0] == 0)
    seen = [row[1:] for row in rows if row[0] == 1]
    if not asked.counted and len(asked.positions) == 1:
        seen = [tuple(unseen)]
    alone = [
        width + asked.positions.index(component[0])
        for number, component in enumerate(cluster.components)
        if number not in asked.counted
    ]
    table = whole_numbers(seen, width + len(asked.positions))
    factors = table[:, [*range(width), *alone]].astype(object)
    counts = factors.prod(axis=1) if len(factors) else factors.sum(axis=1)
    vectors = np.concatenate([counts[:, None], table[:, width:].astype(object)], axis=1)
    return whole_numbers(vectors.tolist(), 1 + len(asked.positions)), unseen


def _combined(one: Numbers, two: Numbers) -> Numbers:
    """All pairs: counts multiplied, sizes side by side."""
    rows = [
        [int(a[0]) * int(b[0]), *map(int, a[1:]), *map(int, b[1:])]
        for a in one.tolist()
        for b in two.tolist()
    ]
    return whole_numbers(rows, one.shape[1] + two.shape[1] - 1)
