"""Releases in notebooks, data frames and charts: what was released, with its meaning, and nothing else."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

import sordino as sd
from sordino.core import Guarantee, Loss, ParameterError, Release, Secret, add_remove_row
from sordino.core.errors import MissingExtraError

from ..display.test_html import HOSTILE, Page

GUARANTEE = Guarantee(Loss(epsilon=1.0), add_remove_row(), "Laplace mechanism")
HIDDEN = Secret({"exact": 987654})


def release(value, **fields):
    return Release(value, GUARANTEE, "laplace noise", details=HIDDEN, **fields)


NUMBER = release(1234, error=3)
GROUPS = release(
    [
        {"city": HOSTILE, "year": 2020, "n": 12, "mean": 1.5},
        {"city": None, "year": 2021, "n": -1, "mean": None},
    ],
    error=3.0,
    errors={"n": 3.0, "mean": None},
)
ROW_BY_ROW = release(
    [{"k": "a", "n": 5, "n_error": 1.5}, {"k": "b", "n": 7, "n_error": 2.5}], error=2.5, errors={"n": 2.5}
)
LABELS = release(["ann", HOSTILE])
COUNTS = release(np.array([3, 5, 1]))


def whiskers(figure):
    """Middle and reach of every error bar."""
    lines = [
        bar.lines[2][0]
        for axes in figure.axes
        for bar in axes.containers
        if isinstance(bar, ErrorbarContainer)
    ]
    ends = [line.get_segments()[0][:, 0] for line in lines]
    return [(float(end.mean()), float(np.ptp(end) / 2)) for end in ends]


@pytest.mark.parametrize("shown", [NUMBER, GROUPS, ROW_BY_ROW, LABELS, COUNTS])
def test_pages_are_escaped_and_show_the_guarantee_and_no_secret(shown):
    page = Page(shown._repr_html_())
    assert "script" not in page.elements
    assert str(GUARANTEE) in page.text
    assert "987654" not in page.text


def test_hostile_names_and_values_are_shown_as_text():
    assert HOSTILE in Page(GROUPS._repr_html_()).text
    assert HOSTILE in Page(LABELS._repr_html_()).text
    assert HOSTILE in Page(release([{HOSTILE: 1, "n": 2}])._repr_html_()).text
    assert HOSTILE in Page(Release(1, GUARANTEE, HOSTILE)._repr_html_()).text


def test_a_secret_stays_redacted_wherever_it_is_put():
    page = Page(release(Secret(987654))._repr_html_())
    assert "<secret>" in page.text
    assert "987654" not in page.text


def test_errors_say_what_they_mean():
    assert "95 % of draws lie within ±3 of the exact answer" in str(NUMBER)
    assert "95 % of draws lie within ±3 of the exact answer" in NUMBER._repr_html_()
    page = GROUPS._repr_html_()
    assert "95 % of draws of n lie within ±3 of the exact value" in page
    assert "of mean" not in page  # no radius is known
    assert "95 % of draws of n lie within ±n_error of the exact value, row by row" in ROW_BY_ROW._repr_html_()
    assert "95 %" not in LABELS._repr_html_()
    alone = release([{"k": "a", "n": 5}], error=2)
    assert "within ±2 of the exact answer, each number by itself" in alone._repr_html_()


@pytest.mark.parametrize(
    "error",
    [
        {"error": 2},
        {"value": [{"k": "a", "n": 5}], "error": 2},
        {"value": [{"k": "a", "n": 5}], "error": 2, "errors": {"n": 2}},
        {"value": [{"k": "a", "n": 5, "n_error": 2}], "error": 2, "errors": {"n": 2}},
    ],
)
def test_an_error_that_leaves_out_what_a_limit_cuts_off_says_so(error):
    cut = ", apart from what a limit cuts off"
    fields = {"value": 5} | error
    told = release(
        **fields, notes=("COUNT(*): no customer counts for more than 1; the rest is not in the error",)
    )
    assert cut in told._repr_html_()
    assert cut in str(told)
    plain = release(**fields, notes=("no δ is spent: the noise is pure",))
    assert cut not in plain._repr_html_() + str(plain)


def test_what_was_seeded_says_so_everywhere():
    seeded = release([{"k": "a", "n": 5}], private=False)
    assert "NOT PRIVATE" in seeded._repr_html_()
    assert "NOT PRIVATE" in seeded.plot()._suptitle.get_text()
    assert GROUPS.plot()._suptitle is None


def test_frames_hold_what_was_released():
    expected = [
        {"city": HOSTILE, "year": 2020, "n": 12, "mean": 1.5},
        {"city": None, "year": 2021, "n": -1, "mean": None},
    ]
    assert GROUPS.to_polars().to_dicts() == expected
    assert GROUPS.to_arrow().to_pylist() == expected
    frame = GROUPS.to_pandas()
    assert list(frame.columns) == ["city", "year", "n", "mean"]
    assert frame["n"].tolist() == [12, -1]
    for kind in ("to_polars", "to_arrow", "to_pandas"):
        assert getattr(NUMBER, kind)().shape == (1, 2)
        assert getattr(release(7), kind)().shape == (1, 1)
        assert getattr(LABELS, kind)().shape == (2, 1)
        assert getattr(COUNTS, kind)().shape == (3, 1)
        assert getattr(release([]), kind)().shape[0] == 0


def test_columns_of_several_kinds_have_one_in_typed_frames():
    mixed = release([{"k": 1, "n": 1}, {"k": "other", "n": 2.5}, {"k": None, "n": None}])
    assert mixed.to_arrow().to_pydict() == {"k": ["1", "other", None], "n": [1.0, 2.5, None]}
    assert mixed.to_polars().to_dict(as_series=False) == {"k": ["1", "other", None], "n": [1.0, 2.5, None]}


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_a_package_that_is_missing_is_named(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=f"this needs {package}.* pip install {package}"):
        getattr(NUMBER, f"to_{package.removeprefix('py')}")()


def test_charts_need_matplotlib_only_when_drawn(monkeypatch):
    monkeypatch.delitem(sys.modules, "sordino.display.figure", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="this needs matplotlib"):
        NUMBER.plot()


def test_charts_have_bars_and_whiskers_of_what_was_released():
    figure = GROUPS.plot()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["n", "mean"]
    counts = figure.axes[0]
    assert [bar.get_width() for bar in counts.patches] == [12, -1]
    assert [label.get_text() for label in counts.get_yticklabels()] == [f"{HOSTILE}, 2020", "None, 2021"]
    assert whiskers(figure) == [(12, 3), (-1, 3)]
    assert [axes.get_title(loc="left") for axes in GROUPS.plot("mean").axes] == ["mean"]
    assert whiskers(ROW_BY_ROW.plot()) == [(5, 1.5), (7, 2.5)]
    assert whiskers(NUMBER.plot()) == [(1234, 3)]
    assert [bar.get_width() for bar in COUNTS.plot().axes[0].patches] == [3, 5, 1]
    assert whiskers(COUNTS.plot()) == []


def test_a_chart_is_a_picture_in_a_notebook_and_nothing_keeps_it_open():
    from matplotlib import pyplot

    assert NUMBER.plot()._repr_png_().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == []


def test_a_number_that_groups_is_a_key_and_no_bar():
    by_year = release([{"year": 2020, "n": 5}, {"year": 2021, "n": 7}], error=1)
    assert [bar.get_width() for bar in by_year.plot().axes[0].patches] == [5, 7]
    assert [label.get_text() for label in by_year.plot().axes[0].get_yticklabels()] == ["2020", "2021"]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match="only numbers can be plotted"):
        LABELS.plot()
    with pytest.raises(ParameterError, match="column must be one of n, mean, got 'm'"):
        GROUPS.plot("m")
    with pytest.raises(ParameterError, match="column is for tables"):
        NUMBER.plot("n")


def test_dollar_signs_are_no_formulas():
    figure = release([{"price": "$5 and $6", "n": 1}]).plot()
    assert figure.axes[0].get_yticklabels()[0].get_text() == r"\$5 and \$6"
    figure.savefig("/dev/null", format="png")


def test_a_comparison_says_that_it_follows_the_data():
    table = sd.compare([1.0, 2.0, 5.0], profile=1.0, epsilon=1.0)
    page = Page(table._repr_html_())
    assert "not private: to study, not to publish" in page.text
    assert all(entry.mechanism in page.text for entry in table)
    figure = table.plot()
    assert "not private" in figure._suptitle.get_text()
    known = [entry for entry in table if entry.expected_error is not None]
    assert [bar.get_width() for bar in figure.axes[0].patches] == [entry.expected_error for entry in known]
    assert [bar.get_width() for bar in figure.axes[1].patches] == [entry.error_95 for entry in known]


def test_a_proof_shows_its_verdict():
    def law(x):
        return {HOSTILE: 0.75, "b": 0.25} if x else {HOSTILE: 0.25, "b": 0.75}

    holds, refuted = (sd.audit.prove(law, [0, 1], lambda x: [1 - x], epsilon) for epsilon in (1.2, 1.0))
    page = Page(holds._repr_html_())
    assert "holds: ε = 1.2" in page.text
    assert "1.09861229" in page.text  # ln 3
    assert "script" not in page.elements
    assert "REFUTED: ε = 1 does not hold" in Page(refuted._repr_html_()).text


def test_a_ranking_of_noises_shows_radii_and_reasons():
    ranking = sd.advise(1.0, 1e-6, beta=0.05)
    page = Page(ranking._repr_html_())
    assert all(advice.noise in page.text and advice.reason in page.text for advice in ranking)
    radii = [advice.radius for advice in ranking if advice.radius is not None]
    assert [bar.get_width() for bar in ranking.plot().axes[0].patches] == radii
