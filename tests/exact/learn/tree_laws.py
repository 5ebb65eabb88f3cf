"""The output law of a whole tree, by running `grow` through every outcome of its randomness.

`grow` asks a `Choices` for everything that is random. `Replayed` answers from a script and multiplies the probabilities
of its answers; `tree_law` runs `grow` once per script until all are explored, so that the law is that of the code that
runs. What a leaf releases decides nothing afterwards, so leaves are not scripted but kept as independent factors (a
test compares this with the full script).

Counts are released in cells: ranges of whole numbers that are told by one of them. That is post-processing, so the
coarser law is private if the finer one is; ranges that end at 0 keep the largest ratio of the noise.
"""

from __future__ import annotations

import inspect
import math
import sys
import types
from functools import cache
from itertools import combinations_with_replacement, pairwise

import numpy as np

from sordino import selection_law
from sordino.audit import LogLaw
from sordino.learn import grow as grow_module
from sordino.learn.contingency import MemoryRows
from sordino.learn.grow import grow
from sordino.mechanisms.selection import majority_law


class Cells:
    """The whole numbers in ranges; ``starts`` are the first numbers of all ranges but the lowest."""

    def __init__(self, *starts):
        self.starts = starts
        self.told = (starts[0] - 1, *starts)  # the number that stands for each range

    def log_law(self, count, rate):
        """ln P(count + discrete Laplace noise is in the range), for every range."""
        return _log_cells(self.starts, int(count), rate)


@cache
def _log_cells(starts, count, rate):
    edges = [-math.inf, *(start - count for start in starts), math.inf]
    return np.array([_log_mass(a, b - 1, float(rate)) for a, b in pairwise(edges)])


def _log_mass(low, high, rate):
    """ln P(low ≤ Z ≤ high) for P(Z = k) ∝ e^(−rate·|k|), without cancellation."""
    if high < 0:
        low, high = -high, -low
    whole = math.log1p(math.exp(-rate))
    if low > 0:
        return -rate * low - whole + math.log(-math.expm1(-rate * (high - low + 1)))
    return math.log1p(-(math.exp(-rate * (1 - low)) + math.exp(-rate * (high + 1))) / math.exp(whole))


def _nested(table):
    return tuple(map(tuple, table.tolist()))


@cache
def _attribute_law(splitter, tables, epsilon):
    question = splitter.question([np.array(table, dtype=np.int64) for table in tables], epsilon)
    return selection_law(log=True, **question)


@cache
def _label_law(counts, epsilon, mechanism):
    return majority_law(np.array(counts), epsilon, mechanism)


class Replayed:
    """Answers `grow` from a script; past its end with the first possible answer."""

    def __init__(self, drawn, cells, sizes, script):
        self.splitter, self.leaf_mechanism = drawn.splitter, drawn.leaf_mechanism
        self.cells, self.sizes = cells, sizes
        self.script, self.branches, self.step = script, [], 0
        self.log_probability = 0.0
        self.leaves = []

    def choose(self, log_law):
        if self.step == len(self.script):
            self.script.append(0)
        answer = self.script[self.step]
        self.branches.append(len(log_law))
        self.step += 1
        self.log_probability += float(log_law[answer])
        return answer

    def attribute(self, tables, epsilon):
        return self.choose(_attribute_law(self.splitter, tuple(_nested(table) for table in tables), epsilon))

    def counts(self, exact, epsilon):
        if exact.ndim == 1:
            return np.array([self.sizes.told[self.choose(self.sizes.log_law(n, epsilon))] for n in exact])
        return self.leaf_counts(exact, epsilon)

    def leaf_counts(self, exact, epsilon):
        self.leaves.extend(self.cells.log_law(n, epsilon) for n in exact.ravel())
        return np.zeros_like(exact)

    def labels(self, exact, epsilon):
        self.leaves.extend(_label_law(tuple(row), epsilon, self.leaf_mechanism) for row in exact.tolist())
        return np.zeros(len(exact), dtype=np.int64)


class FullyReplayed(Replayed):
    """Leaves by the script too."""

    def leaf_counts(self, exact, epsilon):
        answers = [self.cells.told[self.choose(self.cells.log_law(n, epsilon))] for n in exact.ravel()]
        return np.array(answers).reshape(exact.shape)

    def labels(self, exact, epsilon):
        laws = [_label_law(tuple(row), epsilon, self.leaf_mechanism) for row in exact.tolist()]
        return np.array([self.choose(law) for law in laws])


def runs(
    model, database, *, cells=None, sizes=None, grower=grow, choices=Replayed, counted=lambda rows: rows
):
    """(released tree, choices) for every script; the model's own plan, its own splitter and leaves.

    ``counted``: what stands between the rows and the tree.
    """
    plan, drawn = model._prepared()
    codes, labels = database
    script = []
    while True:
        source = counted(MemoryRows(codes, labels, plan.schema.sizes, len(plan.classes)))
        asked = choices(drawn, cells, sizes, script)
        yield grower(source, plan, asked), asked
        while script and script[-1] + 1 == asked.branches[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1


def released(tree):
    """Everything that a tree tells, as a key."""
    return tuple(
        array.tobytes() for array in (tree.attribute, tree.first_child, tree.size, tree.counts, tree.label)
    )


def tree_law(model, database, **options):
    """ln P of every outcome, in an order that does not depend on the data."""
    found = {}
    for tree, asked in runs(model, database, **options):
        joint = np.array([asked.log_probability])
        for law in asked.leaves:
            joint = np.add.outer(joint, law).ravel()
        key = released(tree)
        if key in found:
            raise AssertionError("two scripts released the same tree")
        found[key] = joint
    return LogLaw(np.concatenate([found[key] for key in sorted(found)]))


# -- databases ---------------------------------------------------------------------------------------------------


class Databases:
    """All multisets of at most ``rows`` rows with binary attributes and a class."""

    def __init__(self, attributes, classes, rows, fewest=0):
        self.attributes, self.classes, self.kinds = attributes, classes, classes << attributes
        self.fewest, self.most = fewest, rows
        self.all = [
            chosen
            for size in range(fewest, rows + 1)
            for chosen in combinations_with_replacement(range(self.kinds), size)
        ]

    def rows(self, database):
        """(codes, labels)."""
        kinds = np.array(database, dtype=np.int32)
        places = np.arange(self.attributes, dtype=np.int32)
        return (kinds[:, None] // self.classes >> places & 1).astype(np.int32), kinds % self.classes

    def added_or_removed(self, database):
        if len(database) < self.most:
            yield from (tuple(sorted((*database, kind))) for kind in range(self.kinds))
        if len(database) > self.fewest:
            yield from (database[:i] + database[i + 1 :] for i in range(len(database)))

    def replaced(self, database):
        for i in range(len(database)):
            rest = database[:i] + database[i + 1 :]
            yield from (tuple(sorted((*rest, kind))) for kind in range(self.kinds))


# -- mutants -----------------------------------------------------------------------------------------------------


def mutant_of_grow(old, new):
    """`grow` from its own source with one place changed."""
    source = inspect.getsource(grow_module)
    if source.count(old) != 1:
        raise AssertionError(
            f"{old!r} stands {source.count(old)} times in grow.py: the mutant needs an update"
        )
    module = types.ModuleType("mutant_of_grow")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(source.replace(old, new), module.__name__, "exec"), vars(module))
    finally:
        del sys.modules[module.__name__]
    return module.grow
