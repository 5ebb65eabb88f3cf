"""Trees and forests under whatever Hypothesis finds: sources agree, probabilities are ones, codes come back."""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.learn import DecisionTreeClassifier, RandomForestClassifier, as_schema
from sordino.learn.contingency import MemoryRows
from sordino.learn.encoding import encode_rows
from sordino.learn.path_shares import divide_epsilon
from sordino.learn.stored import restore_forest, restore_tree, store_forest, store_tree
from sordino.testing import seeded

pytestmark = pytest.mark.slow

UNIQUE = {"min_size": 2, "max_size": 4, "unique": True}
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@st.composite
def coded_rows(draw):
    sizes = tuple(draw(SIZES))
    classes = draw(st.integers(2, 3))
    rows = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.stack([rng.integers(size, size=rows) for size in sizes], axis=1).astype(np.int32)
    return sizes, classes, codes, rng.integers(classes, size=rows).astype(np.int32)


def public(sizes, classes, rows):
    schema = {f"a{place}": list(range(size)) for place, size in enumerate(sizes)}
    return {"schema": schema, "classes": list(range(classes)), "max_rows": rows}


@settings(deadline=None)
@given(coded_rows())
def test_tables_hold_every_row_once_per_attribute(given_rows):
    sizes, classes, codes, labels = given_rows
    source = MemoryRows(codes, labels, sizes, classes)
    cells = source.tables(1)[0]
    start = 0
    for place, size in enumerate(sizes):
        table = cells[start : start + size * classes].reshape(size, classes)
        expected = [
            [((codes[:, place] == v) & (labels == c)).sum() for c in range(classes)] for v in range(size)
        ]
        assert table.tolist() == expected
        start += size * classes
    assert source.histograms(1)[0].tolist() == np.bincount(labels, minlength=classes).tolist()


@settings(deadline=None, max_examples=40)
@given(coded_rows(), st.sampled_from([0.01, 1.0, 50.0, 5000.0]), st.integers(1, 4), st.integers(0, 99))
def test_trees_give_every_row_a_leaf_and_a_distribution(given_rows, epsilon, depth, seed):
    sizes, classes, codes, labels = given_rows
    model = DecisionTreeClassifier(epsilon, max_depth=depth, **public(sizes, classes, len(codes)))
    with seeded(seed):
        model.fit(codes, labels)
    chances = model.predict_proba(codes)
    assert np.isfinite(chances).all()
    assert (chances >= 0).all()
    assert np.allclose(chances.sum(axis=1), 1)
    leaves = model.apply(codes)
    assert (model.tree_.attribute[leaves] < 0).all()


@settings(deadline=None, max_examples=40)
@given(
    coded_rows(),
    st.sampled_from([0.01, 1.0, 5000.0]),
    st.integers(1, 5),
    st.sampled_from(["auto", "soft", "hard"]),
    st.integers(0, 99),
)
def test_forests_give_every_row_a_distribution(given_rows, epsilon, trees, voting, seed):
    sizes, classes, codes, labels = given_rows
    model = RandomForestClassifier(
        epsilon, n_estimators=trees, max_depth=3, voting=voting, **public(sizes, classes, len(codes))
    )
    with seeded(seed):
        model.fit(codes, labels)
    chances = model.predict_proba(codes)
    assert np.isfinite(chances).all()
    assert np.allclose(chances.sum(axis=1), 1)
    assert model.forest_.counts.shape == (trees, 8, classes)
    if epsilon == 5000.0:
        assert model.forest_.counts.sum() == len(codes)


@given(
    st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)),
    st.integers(2, 30),
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_bins_cover_the_bounds_in_order(span, bins, parts):
    low, high = span[0], span[0] + span[1]
    domain = as_schema({"a": {"bounds": [low, high], "bins": bins}})
    values = np.sort(np.clip([low + part * (high - low) for part in (0, *parts, 1)], low, high))
    codes = encode_rows(values[:, None], domain).ravel()
    assert (np.diff(codes) >= 0).all()
    assert codes[0] == 0
    assert codes[-1] == bins - 1
    edges = domain.attributes[0].edges
    assert all(
        code == sum(edge <= value for edge in edges) for value, code in zip(values, codes, strict=True)
    )


@given(
    st.fractions(Fraction(1, 1000), 100),
    st.integers(1, 12),
    st.tuples(*[st.floats(1e-3, 1e3)] * 3),
)
def test_no_division_of_a_budget_exceeds_it(epsilon, depth, parts):
    shares = divide_epsilon(epsilon, depth, dict(zip(("selection", "count", "leaf"), parts, strict=True)))
    assert depth * shares.selection + (depth - 1) * shares.count + shares.leaf == epsilon
    assert min(shares.selection, shares.leaf) > 0


LABELS = st.one_of(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5), **UNIQUE),
    st.lists(st.integers(-(2**63), 2**63 - 1), **UNIQUE),
    st.just([True, False]),
    st.lists(st.dates(), **UNIQUE),
)


@settings(deadline=None, max_examples=60)
@given(LABELS, LABELS, st.sampled_from(["counts", "permute_and_flip"]), st.integers(0, 99))
def test_what_is_stored_as_json_comes_back(values, classes, leaves, seed):
    rng = np.random.default_rng(seed)
    schema = {"a": {"values": values, "missing": True}, "b": {"bounds": [-1, 0.1], "bins": 3, "clip": True}}
    public = {"schema": schema, "classes": classes, "max_rows": 99, "leaves": leaves, "max_depth": 3}
    rows = rng.random(40).tolist()
    frame = {"a": [[*values, None][i] for i in rng.integers(len(values) + 1, size=40)], "b": rows}
    labels = pa.table({"y": [classes[i] for i in rng.integers(len(classes), size=40)]})["y"]
    table = pa.table(frame)
    with seeded(seed):
        tree = DecisionTreeClassifier(20.0, **public).fit(table, labels)
        forest = RandomForestClassifier(20.0, n_estimators=3, **public).fit(table, labels)
    tree_again = restore_tree(json.loads(json.dumps(store_tree(tree.tree_), allow_nan=False)))
    forest_again = restore_forest(json.loads(json.dumps(store_forest(forest.forest_), allow_nan=False)))
    for one, other in (
        (tree.tree_, tree_again),
        (forest.forest_, forest_again),
        (forest.forest_.trees, forest_again.trees),
    ):
        for field in fields(one):
            before, after = getattr(one, field.name), getattr(other, field.name)
            if isinstance(before, np.ndarray):
                assert (before.dtype, before.shape) == (after.dtype, after.shape), field.name
                assert before.dtype.kind == "O" or before.tobytes() == after.tobytes(), field.name
                assert before.dtype.kind != "O" or before.tolist() == after.tolist(), field.name
            elif field.name != "trees":
                assert before == after, field.name
    expected = [str(kind) for kind in map(type, tree.classes_.tolist())]
    assert [str(kind) for kind in map(type, tree_again.classes.tolist())] == expected
