"""A released tree as text and as a picture."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sordino.core import ParameterError, UnsupportedError
from sordino.learn import DecisionTreeClassifier, SpendingWarning, Tree, as_schema, export_text, plot_tree

from .shop import customers
from .shop import forest as shop_forest
from .shop import tree as shop_tree

SCHEMA = as_schema(
    {"colour": ["red", "blue"], "age": {"bounds": [0, 100], "bins": 2, "missing": True}, "shop": ["a", "b"]}
)
INNER = np.nan


def tree(labels=False):
    """colour, then age under red: five leaves."""
    leaves = np.array([-1, -1, 1, 0, 1, 1])
    counts = np.array([[0, 0], [0, 0], [2, 8], [9, 1], [0, 5], [1, 1]])
    chances = np.array([[0.5, 0.5], [0.6, 0.4], [0.2, 0.8], [0.9, 0.1], [0.25, 0.75], [0.5, 0.5]])
    return Tree(
        schema=SCHEMA,
        classes=np.array(["no", "yes"]),
        attribute=np.array([0, 1, -1, -1, -1, -1], dtype=np.int32),
        first_child=np.array([1, 3, -1, -1, -1, -1], dtype=np.int32),
        level=np.array([0, 1, 1, 2, 2, 2], dtype=np.int32),
        size=np.array([INNER, 17, 10, INNER, INNER, INNER]),
        counts=counts,
        epsilon=np.ones(6),
        label=leaves if labels else np.full(6, -1),
        probabilities=chances,
    )


def test_text_has_one_line_per_node_and_leaves_say_what_was_released():
    assert export_text(tree()).splitlines() == [
        "colour = red  (about 17 rows)",
        "│  age in [0, 50)  → no  0.90, noisy counts [9, 1]",
        "│  age in [50, 100]  → yes  0.75, noisy counts [0, 5]",
        "│  age = missing  → no  0.50, noisy counts [1, 1]",
        "colour = blue  → yes  0.80, noisy counts [2, 8]",
    ]
    assert export_text(tree(labels=True)).splitlines()[1:3] == [
        "│  age in [0, 50)  → no",
        "│  age in [50, 100]  → yes",
    ]


def test_text_stops_at_the_depth_that_is_asked_for():
    assert export_text(tree(), max_depth=1).splitlines() == [
        "colour = red  (about 17 rows)",
        "│  … by age, about 17 rows",
        "colour = blue  → yes  0.80, noisy counts [2, 8]",
    ]
    assert export_text(tree(), max_depth=0) == "… by colour, more below"


def boxes(figure):
    return [text.get_text() for text in figure.axes[0].texts if text.get_bbox_patch() is not None]


def test_a_picture_has_a_box_per_node_and_a_label_per_branch():
    figure = plot_tree(tree())
    assert sorted(boxes(figure)) == ["age", "colour", "no  0.50", "no  0.90", "yes  0.75", "yes  0.80"]
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"red", "blue", "[0, 50)", "[50, 100]", "missing"} <= texts


def test_a_picture_stops_at_the_depth_that_is_asked_for():
    assert sorted(boxes(plot_tree(tree(), max_depth=1))) == ["colour", "no  0.60  …", "yes  0.80"]
    assert boxes(plot_tree(tree(), max_depth=0)) == ["no  0.50  …"]


@pytest.mark.parametrize("depth", [1, 3])
def test_no_two_boxes_of_a_picture_overlap(tmp_path, depth):
    figure = plot_tree(tree(), tmp_path / "tree.png", max_depth=depth)
    frames = [
        text.get_bbox_patch().get_window_extent() for text in figure.axes[0].texts if text.get_bbox_patch()
    ]
    for place, one in enumerate(frames):
        assert not any(one.overlaps(other) for other in frames[place + 1 :])


def test_a_picture_is_saved_as_png(tmp_path):
    path = tmp_path / "tree.png"
    plot_tree(tree(), path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert path.stat().st_size > 5000


def fitted():
    X, y = customers()
    return shop_tree(max_depth=2).fit(X, y), X, y


def test_estimators_pipelines_and_searches_are_shown_by_their_tree():
    model, X, y = fitted()
    pipeline = make_pipeline(FunctionTransformer(), model)
    with pytest.warns(SpendingWarning):
        search = GridSearchCV(pipeline, {"decisiontreeclassifier__max_depth": [1]}, cv=2).fit(X, y)
    expected = export_text(model.tree_)
    assert export_text(model) == export_text(pipeline) == expected
    assert export_text(search) == export_text(search.best_estimator_[-1].tree_)
    shown, other = (
        {text.get_text() for text in plot_tree(given).axes[0].texts} for given in (pipeline, model.tree_)
    )
    assert shown == other


def test_what_has_no_tree_is_refused():
    X, y = customers()
    with pytest.raises(
        ParameterError, match=r"a fitted DecisionTreeClassifier .*, got DecisionTreeClassifier"
    ):
        plot_tree(shop_tree())
    with pytest.raises(UnsupportedError, match="no one tree to show"):
        export_text(shop_forest().fit(X, y))
    with pytest.raises(ParameterError, match="got int"):
        export_text(3)


def test_dollar_signs_are_no_formulas():
    schema = as_schema({"price": ["$5", "$6"], "$a$": ["x", "y"]})
    model = DecisionTreeClassifier(9.0, schema=schema, classes=["$", "$$"], max_rows=9).fit(
        [["$5", "x"]], ["$"]
    )
    assert not any(text.get_parse_math() for text in plot_tree(model).axes[0].texts)
