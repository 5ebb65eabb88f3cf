"""Norms: length and dual by definition, unit rates, ratios, and what is refused with its place."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sordino as sd
from sordino.sensitivity import norm_ratio
from sordino.sensitivity.norms.ratio import bound_ratio_by_weights
from tests.oracles.norms import random_tree, search_dual, tree_length, write_tree
from tests.oracles.test_oracles import agrees, golden

NAMES = ["a", "b", "c", "d"]


def random_norms(count: int, seed: int):
    random = np.random.default_rng(seed)
    for _ in range(count):
        names = NAMES[: random.integers(1, 5)]
        tree = random_tree(random, names)
        yield random, names, tree, sd.Norm.parse(write_tree(tree))


def test_the_length_is_that_of_the_definition_and_the_text_reads_back():
    for random, names, tree, norm in random_norms(200, 1):
        move = {name: random.normal(size=20) for name in names}
        assert np.allclose(norm(move), tree_length(tree, move), rtol=1e-12)
        assert sd.Norm.parse(str(norm)) == norm
        assert norm.columns == tuple(names)


def test_a_search_never_exceeds_the_dual_and_comes_close():
    close = 0
    for random, names, tree, norm in random_norms(200, 2):
        slopes = {name: float(random.normal()) for name in names}
        found, dual = search_dual(random, tree, slopes), float(norm.dual(slopes))
        assert found <= dual * (1 + 1e-12)
        close += found >= 0.95 * dual
    assert close >= 180


def test_a_dual_with_the_wrong_exponent_is_refused_by_the_same_search():
    """The control: ℓ_p in the place of ℓ_q falls short of what the search finds."""
    random = np.random.default_rng(3)
    tree, slopes = ("lp", 1.5, [("col", "a"), ("col", "b")]), {"a": 1.0, "b": 0.8}
    wrong = tree_length(("lp", 4.0, tree[2]), slopes)
    assert search_dual(random, tree, slopes) > wrong
    assert search_dual(random, tree, slopes) <= float(sd.Norm.parse(write_tree(tree)).dual(slopes))


def test_unit_rates_have_dual_one():
    for _, names, _, norm in random_norms(200, 4):
        rates = norm.unit_rates()
        assert set(rates) == set(names)
        assert math.isclose(norm.dual(rates), 1.0, rel_tol=1e-12)
    assert sd.Norm.parse("l1(2*is(flag), x)").unit_rates() == {"x": 1.0}


def test_ratios_bound_what_random_moves_find():
    near = []
    trees = list(random_norms(300, 5))
    for (random, names, tree, norm), (_, others, other, second) in zip(trees[::2], trees[1::2], strict=True):
        if not set(names) <= set(others):
            assert norm_ratio(norm, second) == math.inf
            continue
        # moves of columns that only the other sees make the ratio smaller
        move = {name: np.exp(3 * random.normal(size=3000)) * (name in names) for name in others}
        found = tree_length(tree, move) / tree_length(other, move)
        assert (found <= norm_ratio(norm, second) * (1 + 1e-12)).all()
        near.append(norm_ratio(norm, second) / found.max())
    assert np.median(near) < 1.2


def test_goldens():
    norm = sd.Norm.parse("l2(2*x, linf(y, 3*z))")
    assert agrees(float(norm.dual({"x": 1, "y": 2, "z": 3})), golden("values", "norm_dual"))
    assert agrees(float(norm({"x": 1, "y": 1, "z": 1})), golden("values", "norm_length"))
    rates = norm.unit_rates()
    assert agrees([rates["x"], rates["y"], rates["z"]], golden("values", "unit_rates"))
    sums, mixed = sd.Norm.parse("l1(x, 2*y, z)"), sd.Norm.parse("linf(l2(x, y), 3*z)")
    assert agrees(norm_ratio(sums, mixed), golden("values", "ratio_of_a_sum"))
    assert agrees(bound_ratio_by_weights(sums.root, mixed.root), golden("values", "ratio_by_weights"))
    weighted, plain = sd.Norm.parse("l1(x, 2*y, 3*z)"), sd.Norm.parse("l2(x, y, 2*z)")
    assert agrees(norm_ratio(weighted, plain), golden("values", "ratio_of_weights"))


@pytest.mark.parametrize("case", ["example_3_8_first", "example_3_8_second", "example_3_8_corrected"])
def test_the_dual_of_example_3_8(case):
    """√(x²+y²)/v in a·‖(x, y)‖₂ + b·|v|; the print has √2/(a|v|) where 1/(a|v|) is right."""
    entry = golden("values", case)
    x, y, v, a, b = (entry["inputs"][name] for name in "xyvab")
    size = math.hypot(x, y)
    slopes = {"x": x / size / v, "y": y / size / v, "v": -size / v**2}
    found = float(sd.Norm.parse(f"l1({a}*l2(x, y), {b}*v)").dual(slopes))
    assert agrees(found, entry)
    if case == "example_3_8_corrected":
        printed = max(math.sqrt(2) / (a * v), size / (b * v * v))
        assert agrees(printed, golden("values", "example_3_8_print"))
        assert printed > 1.4 * found


def test_norms_are_compared():
    small, large = sd.Norm.parse("l2(x, y)"), sd.Norm.parse("l1(x, y)")
    assert small <= large
    assert not large <= small
    assert large <= sd.Norm.parse("1.5*l2(x, y)")
    assert not large <= sd.Norm.parse("1.4*l2(x, y)")
    mixed = sd.Norm.parse("l1(0.3*l2(x, y), log(z))")
    assert mixed <= mixed
    assert norm_ratio(sd.Norm.parse("x"), sd.Norm.parse("log(x)")) == math.inf


def test_rows_have_a_distance():
    norm = sd.Norm.parse("l1(x, 2*log(v), 3*is(flag))")
    row, other = {"x": 1, "v": 1.0, "flag": "EE"}, {"x": 3, "v": math.e, "flag": "FI"}
    assert math.isclose(norm.distance(row, other), 2 + 2 + 3)
    assert norm.distance(row, row) == 0


def test_parts_are_found_and_exchanged():
    norm = sd.Norm.parse("l1(0.5*l2(x, y), v, w)")
    part, whole = norm.part_over(frozenset("xy"))
    assert str(part) == "0.5*l2(x, y)"
    assert whole == norm
    part, whole = norm.part_over(frozenset("vw"))
    assert str(whole) == "l1(l1(v, w), 0.5*l2(x, y))"
    assert str(whole.with_column(part, "u", sd.Norm.parse("2*x").weights["x"])) == "l1(2*u, 0.5*l2(x, y))"
    assert norm.part_over(frozenset("xv")) is None
    assert str(norm.renamed({"x": "x1", "y": "y1", "v": "v1", "w": "w1"})) == "l1(0.5*l2(x1, y1), v1, w1)"


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("l2(x, 2*x)", 9, "2.236067977*x once"),
        ("linf(x, 2*x)", 11, "write 2*x once"),
        ("l1(x, l2(x, y))", 10, "write each column once"),
        ("l0.5(x)", 1, "at least 1"),
        ("l2(is(x), y)", 1, "under l1 only"),
        ("l1(y, l2(l1(is(x), z)))", 7, "under l1 only"),
        ("x + y", 3, "added by l1"),
        ("0*x", 1, "must be > 0"),
        ("-1*x", 1, "a norm is"),
        ("1e40*x", 1, "between"),
        ("x*2", 2, "stands first"),
        ("l2(x", 5, "not closed"),
        ("l2()", 4, "a norm is"),
        ("", 1, "too early"),
        ("log(2*x)", 5, "one column"),
        ("is(x, y)", 5, "one column"),
        ("foo(x)", 1, "no foo"),
        ("l1(x) y", 7, "ended"),
    ],
)
def test_what_is_no_norm_is_refused_with_its_place(text, column, said):
    with pytest.raises(sd.ParameterError, match=said.replace("(", r"\(").replace("*", r"\*")) as caught:
        sd.Norm.parse(text)
    assert (caught.value.place.line, caught.value.place.column) == (1, column)


def test_deep_and_long_norms_are_refused():
    with pytest.raises(sd.ParameterError, match="deeper"):
        sd.Norm.parse("l1(" * 60 + "x" + ")" * 60)
    with pytest.raises(sd.ParameterError, match="characters"):
        sd.Norm.parse("l1(" + "x," * 10_000 + "y)")
    with pytest.raises(sd.ParameterError, match="text"):
        sd.Norm.parse(3)


def test_unknown_columns_are_named():
    with pytest.raises(sd.ParameterError, match="did you mean 'salary'"):
        sd.Norm.parse("l1(salary, hours)")({"salry": 1})
