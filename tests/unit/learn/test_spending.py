"""What a fit costs: the guarantee, the sum over fits, the adjacency, the division along a path."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.text import Text

from sordino.core import add_remove_row, replace_row
from sordino.learn import grow
from sordino.learn.path_shares import DEFAULT_SHARES, divide_epsilon
from sordino.mechanisms.noise.counts import count_deviation
from sordino.testing import seeded

from .shop import MODELS, customers, forest, tree

X, Y = customers(60)


@pytest.mark.parametrize("model", MODELS)
def test_fitting_twice_spends_twice(model):
    fitted = model(epsilon=0.75)
    fitted.fit(X, Y)
    assert fitted.guarantee_.epsilon == fitted.spent_.epsilon == 0.75
    fitted.fit(X, Y)
    assert fitted.guarantee_.epsilon == 0.75
    assert fitted.spent_.epsilon == 1.5
    fitted.set_params(epsilon=0.25).fit(X, Y)
    assert (fitted.guarantee_.epsilon, fitted.spent_.epsilon) == (0.25, 1.75)
    assert "sequential composition of all fits" in fitted.spent_.theorem


@pytest.mark.parametrize("model", MODELS)
def test_predicting_and_showing_cost_nothing(model):
    fitted = model(epsilon=0.75).fit(X, Y)
    before = fitted.spent_
    fitted.predict(X)
    fitted.score(X, Y)
    assert fitted.spent_ == before


@pytest.mark.parametrize("model", MODELS)
def test_a_fit_that_stops_at_the_data_is_not_forgotten(model):
    """Once counts were asked for the budget counts as spent; before that nothing is charged."""
    fitted = model(epsilon=0.75).fit(X, Y)
    with pytest.raises(ValueError, match="epsilon"):
        fitted.set_params(epsilon=0).fit(X, Y)
    assert fitted.spent_.epsilon == 0.75


@pytest.mark.parametrize("model", MODELS)
def test_the_guarantee_names_its_adjacency(model):
    one = model().fit(X, Y)
    assert one.guarantee_.distance == one.spent_.distance == add_remove_row()
    other = model(adjacency="replace").fit(X, Y)
    assert other.guarantee_.distance == other.spent_.distance == replace_row()
    assert "one replaced row is 2 changes" in other.guarantee_.theorem
    assert other.guarantee_.epsilon == one.guarantee_.epsilon == 20.0


def test_replacement_halves_what_a_tree_can_buy():
    one, _ = tree(epsilon=3)._prepared()
    other, _ = tree(epsilon=3, adjacency="replace")._prepared()
    assert one.shares.total == 3
    assert other.shares.total == Fraction(3, 2)
    assert other.shares.selection * 2 == one.shares.selection
    assert (other.shares.count * 2, other.shares.leaf * 2) == (one.shares.count, one.shares.leaf)


def test_replacement_halves_what_a_forest_can_buy():
    with seeded(1):
        full = forest(epsilon=3, adjacency="replace").fit(X, Y)
    with seeded(1):
        half = forest(epsilon=1.5).fit(X, Y)
    assert (full.forest_.counts == half.forest_.counts).all()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("adjacencies", "distance", "spent"),
    [
        (["add_remove", "replace"], replace_row(), 3),
        (["replace", "add_remove"], replace_row(), 3),
        (["add_remove", "add_remove", "replace"], replace_row(), 5),
        (["replace", "add_remove", "replace", "add_remove"], replace_row(), 6),
        (["add_remove", "add_remove"], add_remove_row(), 2),
        (["replace", "replace"], replace_row(), 2),
    ],
)
def test_fits_of_several_adjacencies_are_added_up_for_one_of_them(model, adjacencies, distance, spent):
    """One replaced row is one removed and one added, so it costs twice what a fit for added or removed rows states."""
    fitted = model(epsilon=1)
    for adjacency in adjacencies:
        fitted.set_params(adjacency=adjacency).fit(X, Y)
        assert fitted.guarantee_.distance.change == adjacency
    assert (fitted.spent_.distance, fitted.spent_.epsilon) == (distance, spent)
    assert str(distance) in str(fitted.spent_)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_stated_is_never_less_than_what_is_spent(model):
    fitted = model(epsilon=Fraction(1, 3))
    for fits in range(1, 4):
        fitted.fit(X, Y)
        assert Fraction(fitted.guarantee_.epsilon) >= Fraction(1, 3)
        assert Fraction(fits, 3) <= Fraction(fitted.spent_.epsilon) <= Fraction(fits, 3) + Fraction(1, 2**50)


def shown(fitted):
    """All that a fitted model shows of itself, by name."""
    texts = {"guarantee_": str(fitted.guarantee_), "loss": str(fitted.guarantee_.loss)}
    texts["guarantee JSON"] = json.dumps(fitted.guarantee_.to_dict())
    if not hasattr(fitted, "tree_"):
        return texts | {"forest_": repr(fitted.forest_)}
    texts |= {
        "tree_": repr(fitted.tree_),
        "text": fitted.export_text(),
        "no depth": fitted.export_text(max_depth=0),
    }
    texts["tree JSON"] = json.dumps(fitted.tree_.to_dict())
    texts["plot"] = " ".join(text.get_text() for text in fitted.plot().findobj(Text))
    return texts


def says_that_it_is_not_private(text):
    return "NOT PRIVATE: drawn from a seeded source" in text or '"private": false' in text


@pytest.mark.parametrize("model", MODELS)
def test_a_seeded_fit_says_that_it_is_not_private(model):
    honest = model().fit(X, Y)
    assert honest.private_ is True
    assert not [name for name, text in shown(honest).items() if "NOT PRIVATE" in text or "false" in text]
    with seeded(1):
        fitted = model().fit(X, Y)
    assert fitted.private_ is False
    for copy in (fitted, pickle.loads(pickle.dumps(fitted))):
        assert [name for name, text in shown(copy).items() if not says_that_it_is_not_private(text)] == []
        assert says_that_it_is_not_private(str(copy.spent_))


@pytest.mark.parametrize("model", MODELS)
def test_one_seeded_fit_spoils_the_sum_for_good(model):
    fitted = model(epsilon=1).fit(X, Y)
    assert fitted.spent_.private
    with seeded(1):
        fitted.fit(X, Y)
    fitted.fit(X, Y)
    fitted.set_params(adjacency="replace").fit(X, Y)
    assert (fitted.private_, fitted.guarantee_.private) == (True, True)
    assert "NOT PRIVATE" not in "".join(shown(fitted).values())
    assert fitted.spent_.private is False
    for text in (str(fitted.spent_), str(fitted.spent_.loss), json.dumps(fitted.spent_.to_dict())):
        assert says_that_it_is_not_private(text)


def test_a_part_of_a_seeded_tree_says_so_too():
    with seeded(1):
        released = tree().fit(X, Y).tree_
    assert [released.to_dict(node)["private"] for node in range(released.nodes)] == [False] * released.nodes
    assert tree().fit(X, Y).tree_.to_dict()["private"] is True


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("shares", [None, {"selection": 1, "count": 1, "leaf": 1}, DEFAULT_SHARES])
def test_a_longest_path_spends_exactly_all(depth, shares):
    parts = divide_epsilon(0.3, depth, shares)
    assert depth * parts.selection + (depth - 1) * parts.count + parts.leaf == Fraction(0.3) == parts.total
    assert min(parts.selection, parts.leaf) > 0
    assert (parts.count > 0) == (depth > 1)


def test_shares_are_relative_and_a_single_level_gives_its_count_to_the_leaf():
    small, large = ({"selection": s, "count": s, "leaf": s} for s in (0.1, 7))
    assert divide_epsilon(1, 3, small) == divide_epsilon(1, 3, large)
    parts = divide_epsilon(1, 1, {"selection": 6, "count": 1, "leaf": 3})
    assert (parts.selection, parts.count, parts.leaf) == (Fraction(3, 5), 0, Fraction(2, 5))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_no_path_spends_more_than_all_and_every_leaf_uses_what_is_left(depth, seed):
    """Written down again from the released tree: the leaf's ε is the total less what its path has paid."""
    model = tree(max_depth=depth, epsilon=8)
    plan, _ = model._prepared()
    with seeded(seed):
        released = model.fit(X, Y).tree_
    paid = np.zeros(released.nodes, dtype=object)
    left = {0: 3}
    for node in range(released.nodes):
        spent = paid[node] + (plan.shares.count if not np.isnan(released.size[node]) else 0)
        if released.attribute[node] < 0:
            assert float(plan.shares.total - spent) == released.epsilon[node]
            assert float(plan.shares.leaf) <= released.epsilon[node]
            continue
        spent += plan.shares.selection if left[node] > 1 else 0
        for child in released.children(node):
            paid[child], left[child] = spent, left[node] - 1
    assert released.depth <= depth


def test_the_root_is_not_counted_and_small_nodes_are_not_split():
    model = tree(max_depth=3, epsilon=8)
    plan, _ = model._prepared()
    with seeded(3):
        released = model.fit(X, Y).tree_
    assert np.isnan(released.size[0])
    counted = np.flatnonzero(~np.isnan(released.size))
    assert len(counted)
    for node in counted:
        sizes = [size for place, size in enumerate(plan.schema.sizes) if place != released.attribute[0]]
        if released.level[node] == 1:
            least = grow.smallest_splittable(sizes, plan)
            assert (released.attribute[node] >= 0) == (released.size[node] >= least)
            assert least >= 2 * count_deviation(plan.shares.count)
